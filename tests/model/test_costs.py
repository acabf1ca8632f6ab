import itertools
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from helpers.strategies import (
    OwnCosts,
    possible_evidence,
    possible_knowledge,
    problems,
    subsets,
    with_discounts,
)
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import FeatureCosts, load_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.feature_sets import to_words
from voilattice.model.costs import (
    MAX_AMOUNT,
    ConditionalCost,
    CostModel,
    Discount,
    Group,
    check_amount,
    price_set,
    pricing_of,
)
from voilattice.model.monotonicity import CostCheck


@pytest.fixture
def figure1():
    return load_problem("figure1")


def brute_force_cost(problem, chosen, known):
    """C(S | e), read word by word from the description of the problem file."""
    total = 0.0
    for discount in problem.costs.discounts:
        inside = [feature for feature in discount.features if feature in chosen]
        is_open = any(feature in known for feature in discount.features)
        total -= max(
            (
                sum(discount.off[f] for k, f in enumerate(order) if k > 0 or is_open)
                for order in itertools.permutations(inside)
            ),
            default=0.0,
        )
    for feature in chosen:
        price = problem.costs.prices[feature]
        for entry in problem.costs.conditional:
            if entry.feature == feature and set(entry.when) <= set(known.items()):
                price = entry.cost
                break
        total += price
    for group in problem.costs.groups:
        touched_by_set = len(set(group.features) & set(chosen)) > 0
        touched_by_evidence = len(set(group.features) & set(known)) > 0
        if touched_by_set and not touched_by_evidence:
            total += group.overhead
    return total


@given(problems(max_features=6), st.data())
def test_cost_is_what_the_problem_file_says(problem, data):
    known = dict(problem.evidence)
    chosen = set()
    for feature in problem.features:
        if feature not in known:
            role = data.draw(st.sampled_from("ke."))
            if role == "k":
                chosen.add(feature)
            elif role == "e":
                known[feature] = data.draw(st.sampled_from(problem.states(feature)))
    expected = brute_force_cost(problem, chosen, known)
    assert problem.costs.cost(frozenset(chosen), known) == pytest.approx(expected, abs=1e-9)


@examples(60)
@given(problems(max_features=4), st.integers(0, 2**32 - 1))
def test_a_set_costs_what_its_cheapest_superset_costs(problem, seed):
    problem = with_discounts(problem, seed)
    known = possible_evidence(problem, seed) | dict(problem.evidence)
    sets = subsets([f for f in problem.features if f not in known])
    least = problem.pricing.superset_costs(known)
    for s in sets:
        cheapest = min(problem.costs.cost(t, known) for t in sets if s <= t)
        assert least.cost(s, known) == pytest.approx(cheapest, abs=1e-9)


@examples(60)
@given(problems(max_features=4), st.integers(0, 2**32 - 1))
def test_the_least_own_price_is_over_all_that_can_become_known(problem, seed):
    costs = with_discounts(problem, seed).costs
    for feature in problem.features:
        if feature not in problem.evidence:
            every = [
                costs.own_price(feature, known)
                for known in possible_knowledge(problem)
                if feature not in known
            ]
            assert costs.least_own_price(feature, problem.evidence) == min(every)


VISIT = FeatureCosts(
    {"A": 5, "B": 6, "C": 4, "D": 0.5},
    (),
    (
        ConditionalCost("B", {"A": "T", "D": "T"}, 9),
        ConditionalCost("B", {"A": "T"}, 4),
        ConditionalCost("D", {"C": "T"}, 0.25),
    ),
    (Discount("visit", {"A": 1, "B": 3, "C": 2}),),
)


def test_the_least_own_price_is_that_of_the_best_that_can_still_become_known():
    least = [VISIT.least_own_price(name, {}) for name in "ABCD"]
    assert least == [5 - 1, 4 - 3, 4 - 2, 0.25]
    assert VISIT.least_own_price("B", {"A": "F"}) == 6 - 3
    assert VISIT.least_own_price("B", {"D": "T"}) == 6 - 3  # then the first entry wins
    assert VISIT.least_own_price("B", {"A": "T", "D": "T"}) == 9 - 3


def test_the_highest_own_price_is_over_all_evidence():
    assert [VISIT.most_own_price(name) for name in "ABCD"] == [5 - 1, 9 - 3, 4 - 2, 0.5]


def test_a_round_is_paid_for_by_any_set_but_the_empty_one():
    costs = FeatureCosts({"A": 1, "B": 2}, round_cost=4.0)
    assert costs.cost(frozenset(), {}) == 0.0
    assert costs.cost(frozenset("A"), {}) == 1 + 4
    assert costs.cost(frozenset("AB"), {}) == 1 + 2 + 4
    assert costs.cost(frozenset("B"), {"A": "T"}) == 2 + 4
    assert costs.shared_cost(frozenset("AB"), {}) == 4.0


@pytest.mark.parametrize(
    ("order", "features", "known", "surcharge", "firsts"),
    [
        # A takes the least off: it comes first unless B must come before it.
        ({}, "AB", "", 1, "A"),
        ({}, "ABD", "", 1, "AD"),
        ({"A": "B"}, "AB", "", 3, "B"),
        ({"A": "B"}, "A", "", 1, "A"),
        ({"A": "B"}, "ABC", "", 2, "C"),
        ({"A": "B", "C": "A"}, "ABC", "", 3, "B"),
        ({"A": "D"}, "ABCD", "", 1, "D"),
        ({"A": "B"}, "AB", "C", 0, "B"),  # C has opened the discount
        ({"A": "B"}, "CD", "", 2, "CD"),
    ],
)
def test_a_set_is_priced_in_the_cheapest_order_that_its_constraints_allow(
    order, features, known, surcharge, firsts
):
    costs = VISIT.in_order({feature: frozenset(first) for feature, first in order.items()})
    chosen, evidence = frozenset(features), dict.fromkeys(known, "F")
    own = sum(costs.own_price(name, evidence) for name in features)
    assert costs.cost(chosen, evidence) == own + surcharge
    assert costs.shared_cost(chosen, evidence) == surcharge
    assert costs.firsts(chosen, evidence) == set(firsts)


def test_all_that_can_come_first_in_a_cheapest_order_are_its_firsts():
    prices, off = dict.fromkeys("ABCD", 5), {"A": 1, "B": 3, "C": 3, "D": 4}
    costs = FeatureCosts(prices, discounts=(Discount("d", off),))
    assert costs.firsts(frozenset("BCD"), {}) == set("BC")
    ordered = costs.in_order({"A": frozenset("B")})
    assert ordered.firsts(frozenset("ABCD"), {}) == set("BC")


def test_a_set_costs_no_more_than_with_an_opener():
    # A costs 1 and takes 8 off B, so that both cost 2; C has nothing to do with them.
    costs = FeatureCosts(
        {"A": 1, "B": 9, "C": 3}, discounts=(Discount("d", {"A": 1, "B": 8}),), round_cost=2.0
    )
    least = costs.superset_costs({})
    assert [least.cost(frozenset(s), {}) for s in ("B", "AB", "C", "BC")] == [4, 4, 5, 7]
    assert ALL.superset_costs({}) is ALL  # without discounts, no superset costs less


def test_the_first_feature_of_a_discount_pays_its_price_and_later_ones_less():
    discount = Discount("a", {"thal": 101.9, "thalach": 100.9})
    costs = FeatureCosts({"thal": 102.9, "thalach": 102.9, "age": 1}, discounts=(discount,))
    assert costs.cost(frozenset({"thal"}), {}) == 102.9
    assert costs.cost(frozenset({"thal"}), {"age": "old"}) == 102.9
    assert costs.cost(frozenset({"thal"}), {"thalach": "high"}) == pytest.approx(1.0)
    # Together: thalach first, because its discount is the smaller one.
    assert costs.cost(frozenset({"thal", "thalach", "age"}), {}) == pytest.approx(104.9)
    assert costs.price("thal", {}) == 102.9
    assert costs.own_price("thal", {}) == pytest.approx(1.0)


def test_a_discount_can_be_compared_hashed_pickled_and_not_changed():
    discount = Discount("d", {"A": 1, "B": 2.5})
    assert pickle.loads(pickle.dumps(discount)) == discount
    assert hash(discount) == hash(Discount("d", {"B": 2.5, "A": 1.0}))
    assert discount != Discount("d", {"A": 1, "B": 2})
    with pytest.raises(TypeError):
        discount.off["A"] = 2
    costs = FeatureCosts({"A": 1, "B": 3}, discounts=(discount,))
    assert pickle.loads(pickle.dumps(costs)) == costs
    assert hash(pickle.loads(pickle.dumps(costs))) == hash(costs)
    assert costs != FeatureCosts({"A": 1, "B": 3})
    assert repr(costs) == "<FeatureCosts: 2 prices, 0 groups, 1 discount, 0 conditional prices>"


def test_a_discount_without_some_features_is_that_of_the_others():
    discount = Discount("d", {"A": 1, "B": 2})
    costs = FeatureCosts({"A": 1, "B": 3, "C": 1}, discounts=(discount,))
    assert costs.without({"A"}).discounts == (Discount("d", {"B": 2}),)
    assert costs.without({"A", "B"}).discounts == ()
    assert costs.without({"C"}).discounts == (discount,)


def test_what_a_feature_shares_is_said_in_words():
    costs = FeatureCosts(
        {"A": 1, "B": 3, "C": 1}, (Group("g", 2, ("A",)),), (), (Discount("d", {"B": 2.5}),)
    )
    assert [costs.describe_sharing(name) for name in "ABC"] == ["g", "d: 2.50 off", ""]


def test_the_first_conditional_price_that_applies_wins():
    costs = FeatureCosts(
        {"A": 1, "B": 2, "C": 9},
        conditional=(
            ConditionalCost("C", (("A", "T"), ("B", "T")), 3),
            ConditionalCost("C", (("A", "T"),), 4),
            ConditionalCost("C", (("B", "T"),), 5),
        ),
    )
    price = [costs.price("C", e) for e in ({}, {"A": "T", "B": "T"}, {"A": "T"}, {"A": "F"})]
    assert price == [9, 3, 4, 9]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeatureCosts({"A": -3}), "costs.A: must be >= 0, got -3"),
        (lambda: FeatureCosts({"A": math.nan}), "costs.A: must be finite, got nan"),
        (lambda: FeatureCosts({"A": "3"}), "costs.A: must be a number >= 0, got '3'"),
        (lambda: FeatureCosts({"A": True}), "costs.A: must be a number >= 0, got True"),
        (lambda: FeatureCosts({"A": 10**400}), r"costs.A: must be at most 1e\+100, got 1000"),
        (lambda: FeatureCosts({"A": 1e101}), r"costs.A: must be at most 1e\+100, got 1e\+101"),
        (lambda: FeatureCosts({"A": 1 + 2j}), "costs.A: must be a number >= 0"),
        (lambda: Group("", 1, ("A",)), "name: must not be empty"),
        (lambda: Group("a\n", 1, ("A",)), "name: must be printable text in one line"),
        (lambda: Discount("a\x1b", {"A": 1}), "name: must be printable text in one line"),
        (lambda: Group("g", -1, ("A",)), "overhead: must be >= 0, got -1"),
        (lambda: Group("g", 1, ()), "features: at least one is needed"),
        (
            lambda: FeatureCosts({"A": 1}, (Group("g", 1, ("A",)), Group("h", 1, ("A",)))),
            r"groups\[1\].features: 'A' is in group 'g' already",
        ),
        (
            lambda: FeatureCosts({"A": 1, "B": 1}, (Group("g", 1, ("A",)), Group("g", 1, ("B",)))),
            r"groups\[1\].name: two groups are called 'g'",
        ),
        (lambda: Discount("", {"A": 1}), "name: must not be empty"),
        (lambda: Discount("d", {}), "off: at least one feature is needed, found none"),
        (lambda: Discount("d", {"A": -1}), "off.A: must be >= 0, got -1"),
        (
            lambda: FeatureCosts({"A": 1}, discounts=(Discount("d", {"A": 1.5}),)),
            r"discounts\[0\].off.A: must be at most the price 1, got 1.5",
        ),
        (
            lambda: FeatureCosts(
                {"A": 1}, (Group("g", 1, ("A",)),), (), (Discount("d", {"A": 1}),)
            ),
            r"discounts\[0\].off: 'A' is in group 'g' already; a feature belongs to one group or",
        ),
        (
            lambda: FeatureCosts(
                {"A": 1}, discounts=(Discount("d", {"A": 1}), Discount("e", {"A": 1}))
            ),
            r"discounts\[1\].off: 'A' is in discount 'd' already",
        ),
        (
            lambda: FeatureCosts(
                {"A": 1, "B": 1}, discounts=(Discount("d", {"A": 1}), Discount("d", {"B": 1}))
            ),
            r"discounts\[1\].name: two discounts are called 'd'",
        ),
        (
            lambda: FeatureCosts(
                {"A": 5}, (), (ConditionalCost("A", {"B": "T"}, 1),), (Discount("d", {"A": 2}),)
            ),
            r"conditional_costs\[0\].cost: must be at least 2, what its discount takes off 'A'; ",
        ),
        (lambda: ConditionalCost("A", (), 1), "when: at least one known feature is needed"),
        (lambda: ConditionalCost("A", (("A", "T"),), 1), "when: 'A' cannot be known before it is"),
        (lambda: ConditionalCost("A", (("B", "T"),), math.inf), "cost: must be finite, got inf"),
    ],
)
def test_bad_costs_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


BLOOD = Group("blood", 2.0, ("A", "B"))
SCAN = Group("scan", 3.0, ("C",))
CHEAPER = ConditionalCost("C", (("A", "T"),), 4)
ALL = FeatureCosts({"A": 1, "B": 2, "C": 9, "D": 5}, (BLOOD, SCAN), (CHEAPER,))


@pytest.mark.parametrize("made", [BLOOD, CHEAPER, ALL, CostCheck(True, True, "all")])
def test_what_was_checked_cannot_be_changed(made):
    with pytest.raises(FrozenInstanceError):
        setattr(made, made.__slots__[0], 1)
    assert not hasattr(made, "__dict__")


def test_costs_survive_a_trip_through_pickle():
    again = pickle.loads(pickle.dumps(ALL))
    assert again == ALL
    assert hash(again) == hash(ALL)
    assert repr(ALL) == "<FeatureCosts: 4 prices, 2 groups, 1 conditional price>"


def test_a_condition_may_be_given_as_a_mapping():
    assert ConditionalCost("C", {"A": "T"}, 4) == CHEAPER


def test_costs_without_some_features_forget_all_that_names_them():
    assert ALL.without({"D"}) == FeatureCosts({"A": 1, "B": 2, "C": 9}, (BLOOD, SCAN), (CHEAPER,))
    assert ALL.without({"A"}) == FeatureCosts(
        {"B": 2, "C": 9, "D": 5}, (Group("blood", 2.0, ("B",)), SCAN)
    )
    assert ALL.without({"C"}) == FeatureCosts({"A": 1, "B": 2, "D": 5}, (BLOOD,))
    assert ALL.without({"A", "B"}) == FeatureCosts({"C": 9, "D": 5}, (SCAN,))
    assert ALL.without(()) == ALL


def test_an_overhead_is_paid_until_a_member_is_known():
    assert ALL.unopened({}) == [BLOOD, SCAN]
    assert ALL.unopened({"B": "T", "D": "T"}) == [SCAN]
    assert ALL.unopened({"A", "C"}) == []


@pytest.mark.parametrize("evidence", [{}, {"A": "T"}, {"A": "F", "D": "T"}, {"C": "T"}])
@pytest.mark.parametrize("prefix", [0, 62])
@pytest.mark.parametrize("has_discount", [False, True])
def test_the_costs_of_many_sets_are_those_of_each(evidence, prefix, has_discount):
    # With many features before them, the sets stand in the second word of a row.
    before = [f"X{k:02d}" for k in range(prefix)]
    groups, discounts = ALL.groups, ()
    if has_discount:
        groups, discounts = (BLOOD,), (Discount("scan", {"C": 4.0, "D": 1.5}),)
    prices = {**dict.fromkeys(before, 0.5), **ALL.prices}
    costs = FeatureCosts(prices, groups, ALL.conditional, discounts)
    names = [*before, "A", "B", "C", "D"]
    masks = [s << prefix | (1 if prefix else 0) for s in range(16)]
    rows = to_words(masks, 2 if prefix else 1)
    want = []
    for mask in masks:
        chosen = {f for k, f in enumerate(names) if mask >> k & 1}
        want.append(costs.cost(frozenset(chosen - set(evidence)), evidence))
        # What is known is paid for.
    assert costs.set_costs(names, rows, evidence) == pytest.approx(want, abs=1e-12)


def test_the_costs_of_many_sets_may_be_a_users_own():
    class Squared:
        def cost(self, features, evidence):
            return float(len(features) ** 2 + ("B" in features))

    rows = to_words(range(8), 1)
    assert pricing_of(Squared()).set_costs(["A", "B", "C"], rows, {}).tolist() == [
        0,
        1,
        2,
        5,
        1,
        4,
        5,
        10,
    ]


def test_anything_that_prices_a_set_is_a_cost_model():
    assert isinstance(OwnCosts(0), CostModel)
    assert isinstance(ALL, CostModel)
    assert not isinstance(object(), CostModel)


def test_a_price_is_returned_as_it_is_up_to_the_largest_amount():
    class Fixed:
        def __init__(self, amount):
            self.amount = amount

        def cost(self, features, evidence):
            return self.amount

    one = frozenset({"A"})
    for amount in (0.0, 2.5, MAX_AMOUNT, 3, np.float32(1.5)):
        price = price_set(Fixed(amount), one, {})
        assert price == amount
        assert type(price) is float
    for amount, message in [
        (-1e-300, r"the cost of \{A\}: must be >= 0"),
        (2e100, r"the cost of \{A\}: must be at most 1e\+100"),
        (math.nan, r"the cost of \{A\}: must be finite"),
        (True, r"the cost of \{A\}: must be a number"),
        ("1", r"the cost of \{A\}: must be a number"),
    ]:
        with pytest.raises(InputError, match=message):
            price_set(Fixed(amount), one, {})


def test_amounts_are_from_zero_to_the_largest():
    assert check_amount(0) == 0.0
    assert check_amount(MAX_AMOUNT) == 1e100
    for amount, message in [
        (-(10**400), "must be >= 0"),
        (10**400, "must be at most"),
        (-math.inf, "must be finite"),
        (math.nextafter(MAX_AMOUNT, math.inf), "must be at most"),
        (-5e-324, "must be >= 0"),
    ]:
        with pytest.raises(InputError, match=message):
            check_amount(amount)


def test_what_is_spent_at_most_is_over_all_orders_and_all_evidence():
    costs = replace(VISIT, groups=(Group("desk", 10, ["D"]),), round_cost=2.0)
    assert costs.most_spent("ABCD") == (4 + 6 + 2 + 0.5) + 4 * 2.0 + 3 + 10
    assert costs.most_spent("D") == 0.5 + 2.0 + 10


def test_what_a_discount_takes_off_is_asked_for_by_feature():
    assert [VISIT.off(name) for name in "ABCD"] == [1.0, 3.0, 2.0, 0.0]
    assert (VISIT.is_sum, VISIT.counts_order, VISIT.without_rounds().counts_order) == (True,) * 3


def test_each_price_is_a_row_of_a_bill():
    costs = replace(VISIT, groups=(Group("desk", 10, ["D"]),), round_cost=2.0)
    plain = [("feature", name, costs.prices[name]) for name in "ABCD"]
    others = [
        ("group", "desk", 10.0), ("discount", "visit", None), ("condition", "B", None),
        ("condition", "D", None), ("round", "", 2.0),
    ]  # fmt: skip
    assert costs.listed() == [*plain, *others]


def test_a_feature_without_a_price_has_no_cost():
    with pytest.raises(KeyError):
        FeatureCosts({}).cost(frozenset({"a"}), {})


def test_every_kind_of_price_survives_a_pickle():
    costs = FeatureCosts(
        dict.fromkeys("ABCD", 5.0), (Group("g", 1, ["A", "B"]),),
        (ConditionalCost("A", {"C": "T"}, 2),), (Discount("d", {"C": 1, "D": 2}),), 3.0,
        {"C": frozenset("D")},
    )  # fmt: skip
    assert all(costs.kinds)
    again = pickle.loads(pickle.dumps(costs))
    assert (again, hash(again), again.order) == (costs, hash(costs), costs.order)


@examples(60)
@given(problems(max_features=5), st.integers(0, 2**32 - 1))
def test_the_items_of_a_set_add_up_and_tables_are_read_as_they_are_written(problem, seed):
    problem = with_discounts(problem, seed)
    costs = replace(problem.costs, round_cost=seed % 4)
    known = possible_evidence(problem, seed) | dict(problem.evidence)
    for chosen in subsets([f for f in problem.features if f not in known]):
        total = math.fsum(item.amount for item in costs.items(sorted(chosen), known))
        assert total == pytest.approx(costs.cost(chosen, known), abs=1e-9)
    assert FeatureCosts.read(costs.tables()) == costs


def test_of_a_users_own_costs_nothing_is_known_but_what_a_set_costs():
    own = OwnCosts(0)
    pricing = pricing_of(own)
    assert pricing.given is own
    assert pricing.without({"A"}) is own
    assert pricing.in_order({"A": frozenset("B")}) is pricing
    assert pricing.price("A", {}) == pricing.own_price("A", {}) == own.cost(frozenset("A"), {})
    assert (pricing.off("A"), pricing.least_own_price("A", {})) == (0.0, 0.0)
    assert pricing.most_spent({"A"}) == math.inf
    assert (pricing.name, pricing.round_cost, pricing.conditions) == ("OwnCosts", 0.0, ())
    assert pricing.shared_cost(frozenset("A"), {}) == 0.0
    assert (pricing.is_sum, pricing.counts_order, pricing.superset_costs({})) == (
        False,
        False,
        None,
    )
    with pytest.raises(InputError, match="costs: must be prices that can be changed, got OwnCosts"):
        pricing.without_rounds()
    with pytest.raises(InputError, match="costs of type OwnCosts cannot be written"):
        pricing.tables()


def test_without_rounds_all_else_is_the_same():
    costs = FeatureCosts({"A": 1, "B": 2}, round_cost=4.0)
    assert costs.without_rounds() == FeatureCosts({"A": 1, "B": 2})


def test_a_discount_is_frozen_and_names_features_that_exist(figure1):
    discount = Discount("d", {"X1": 1.0, "Xx": 1.0})
    with pytest.raises(FrozenInstanceError):
        discount.name = "other"
    costs = FeatureCosts({**figure1.costs.prices, "Xx": 2.0}, discounts=(discount,))
    with pytest.raises(UnknownNameError, match=r"discounts\[0\].off: no feature 'Xx'"):
        costs.kinds[2].check_names(figure1)


def test_a_row_of_a_bill_says_what_it_is_for(figure1):
    own = pricing_of(OwnCosts(0))
    assert own.row_name(figure1, "feature", "X1") == "X1"
    assert own.row_name(figure1, "rest", "") == "all of them"
    ordered = "discounts in the order that the constraints allow"
    assert (VISIT.row_name(figure1, "rest", ""), VISIT.name) == (ordered, "FeatureCosts")
