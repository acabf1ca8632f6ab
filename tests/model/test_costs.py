import itertools
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from helpers.problems import opener
from helpers.strategies import possible_evidence, problems, with_discounts
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts
from voilattice.errors import InputError, UnknownNameError
from voilattice.feature_sets import to_words
from voilattice.model.costs import (
    MAX_AMOUNT,
    ConditionalCost,
    CostCheck,
    CostModel,
    Discount,
    Group,
    check_amount,
    check_monotone,
    check_monotone_at,
    cost_matrix,
    price_set,
    scaled_costs,
    set_costs,
    stakes_scale,
    superset_costs,
)

STATES = {"A": ["T", "F"], "B": ["T", "F"], "C": ["T", "F"]}


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


def subsets(features):
    return [
        frozenset(s)
        for size in range(len(features) + 1)
        for s in itertools.combinations(features, size)
    ]


def possible_knowledge(problem):
    """The problem's own evidence with any values of any other features, possible or not."""
    others = [f for f in problem.features if f not in problem.evidence]
    for values in itertools.product(*((None, *problem.states(f)) for f in others)):
        known = {f: v for f, v in zip(others, values, strict=True) if v is not None}
        yield {**problem.evidence, **known}


def is_monotone(costs, features, known):
    """Whether no set costs more than the set with one more feature."""
    return all(
        costs.cost(s, known) <= costs.cost(s | {more}, known) + 1e-9
        for s in subsets([f for f in features if f not in known])
        for more in features
        if more not in known and more not in s
    )


@settings(max_examples=60)
@given(problems(max_features=4), st.integers(0, 2**32 - 1), st.booleans())
def test_subsets_never_cost_more_unless_the_check_says_so(problem, seed, has_openers):
    problem = with_discounts(problem, seed) if has_openers else problem
    now = check_monotone_at(problem.costs, problem.features, problem.evidence)
    assert now.proved
    assert now.monotone == is_monotone(problem.costs, problem.features, problem.evidence)
    later = [is_monotone(problem.costs, problem.features, k) for k in possible_knowledge(problem)]
    assert problem.cost_check.monotone == all(later)


@settings(max_examples=60)
@given(problems(max_features=4), st.integers(0, 2**32 - 1))
def test_a_set_costs_what_its_cheapest_superset_costs(problem, seed):
    problem = with_discounts(problem, seed)
    known = possible_evidence(problem, seed) | dict(problem.evidence)
    sets = subsets([f for f in problem.features if f not in known])
    least = superset_costs(problem.costs, known)
    for s in sets:
        cheapest = min(problem.costs.cost(t, known) for t in sets if s <= t)
        assert least.cost(s, known) == pytest.approx(cheapest, abs=1e-9)


@settings(max_examples=60)
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


def test_a_feature_may_cost_less_than_it_saves():
    check = opener().cost_check
    assert (check.monotone, check.proved) == (False, True)
    assert str(check) == "not monotone: {X} costs 30 and {A, X} only 5"
    assert check_monotone_at(opener().costs, ("X", "A"), {"A": "T"}).monotone


def test_a_price_that_falls_later_may_make_a_feature_cost_less_than_it_saves():
    discount = Discount("d", {"A": 1, "B": 5})
    cheaper = ConditionalCost("A", {"C": "T"}, 2)
    costs = FeatureCosts({"A": 6, "B": 6, "C": 1}, (), (cheaper,), (discount,))
    assert check_monotone_at(costs, tuple(STATES), {}).monotone
    found = check_monotone(costs, STATES, {})
    assert str(found) == "not monotone: {B} costs 6 and {A, B} only 3 at {'C': 'T'}"
    assert check_monotone(costs, STATES, {"C": "F"}).monotone
    # Where a mate must be known, the discount is open already.
    costs = FeatureCosts(costs.prices, (), (ConditionalCost("A", {"B": "T"}, 2),), (discount,))
    assert check_monotone(costs, STATES, {}).monotone


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


class Discounted:
    """Two features cost less together than one alone: not monotone."""

    def cost(self, features, evidence):
        return [0.0, 10.0, 4.0, 12.0][len(features)]


class Additive:
    def __init__(self, price=1.0):
        self.price = price

    def cost(self, features, evidence):
        return self.price * len(features)


def test_costs_of_a_problem_file_are_monotone_by_construction():
    check = check_monotone(FeatureCosts({"A": 1, "B": 1, "C": 1}), STATES, {})
    assert check.monotone
    assert str(check) == "monotone by construction"


def test_a_users_costs_are_checked_and_what_was_checked_is_said():
    check = check_monotone(Additive(), STATES, {})
    assert check.monotone
    assert str(check) == (
        "monotone on all 12 pairs of sets at the initial evidence and 12 at random evidence"
    )
    many = {f"X{k}": ["T", "F"] for k in range(20)}
    assert "10000 of 10485760 pairs of sets" in str(check_monotone(Additive(), many, {}))


def test_costs_that_are_not_monotone_are_found_and_named():
    check = check_monotone(Discounted(), STATES, {})
    assert not check.monotone
    assert "not monotone: {B} costs 10 and {A, B} only 4" in str(check)


def test_costs_that_depend_on_evidence_in_a_wrong_way_are_found():
    class Surprise(Additive):
        def cost(self, features, evidence):
            return 10.0 - len(features) if evidence.get("A") == "T" else float(len(features))

    check = check_monotone(Surprise(), STATES, {})
    assert not check.monotone
    assert "'A': 'T'" in str(check)


def test_a_users_negative_price_is_an_error():
    with pytest.raises(InputError, match=r"the cost of \{A\}: must be >= 0, got -1"):
        check_monotone(Additive(-1.0), {"A": ["T"]}, {})


def test_the_empty_set_must_cost_nothing():
    class Entrance(Additive):
        def cost(self, features, evidence):
            return 3.0 + len(features)

    with pytest.raises(InputError, match="the cost of the empty set must be 0"):
        check_monotone(Entrance(), STATES, {})


@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0, 1e4))
def test_scaled_costs_have_the_expected_prior_cost(m, seed, expected):
    prior = np.random.default_rng(seed).dirichlet(np.ones(m)) * 0.9 + 0.1 / m
    for kind in ("symmetric", "asymmetric"):
        risk = scaled_costs(kind, expected, prior) @ prior
        assert risk.min() == pytest.approx(expected, abs=1e-9 * max(1, expected))
        if kind == "asymmetric":  # every constant decision costs the same
            np.testing.assert_allclose(risk, expected, atol=1e-9 * max(1, expected))


@pytest.mark.parametrize(
    ("kind", "expected", "prior", "message"),
    [
        ("symetric", 1, [0.5, 0.5], "kind: must be symmetric or asymmetric, got 'symetric'"),
        ("symmetric", -1, [0.5, 0.5], "expected: must be >= 0, got -1"),
        ("symmetric", math.inf, [0.5, 0.5], "expected: must be finite, got inf"),
        ("symmetric", "5", [0.5, 0.5], "expected: must be a number >= 0, got '5'"),
        ("symmetric", 1, [1.0, 0.0], "every class to have a prior probability between 0 and 1"),
        ("asymmetric", 1, [0.5, 0.5, 0.0], "every class to have a prior probability between"),
        ("asymmetric", 1e100, [1e-9, 1 - 1e-9], "expected: makes a misclassification cost of 1e"),
        ("symmetric", 1, [1.0], "every class to have a prior probability between"),
    ],
)
def test_scaled_costs_that_make_no_sense_are_refused(kind, expected, prior, message):
    with pytest.raises(InputError, match=message):
        scaled_costs(kind, expected, prior)


def test_a_matrix_is_read_predicted_first():
    rows = {"F": {"T": 7, "F": 0}, "T": {"F": 5, "T": 0}}
    assert cost_matrix(rows, ["T", "F"]).tolist() == [[0, 5], [7, 0]]


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1.0, 1e9])
def test_stakes_of_another_shape_are_refused_however_small(size):
    unit = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert stakes_scale(size * unit, unit) == pytest.approx(size)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(size * np.array([[0.0, 2.0], [2.0, 0.0]]), unit)
    with pytest.raises(InputError, match="not a multiple of those of the sweep"):
        stakes_scale(size * np.array([[0.0, 1.0], [2.0, 1e-5]]), unit)


def test_no_stakes_are_once_no_stakes():
    assert stakes_scale(np.zeros((2, 2)), np.zeros((2, 2))) == 1.0


def test_a_set_that_costs_a_little_more_than_a_superset_is_found():
    class Odd:
        def cost(self, features, evidence):
            return [0.0, 2.0, 1.5][len(features)]

    check = check_monotone_at(Odd(), ("A", "B"), {})
    assert not check.monotone
    assert "costs 2 and" in check.checked
    assert check_monotone_at(Odd(), ("A", "B"), {"A": "a"}).monotone


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
    assert set_costs(costs, names, rows, evidence) == pytest.approx(want, abs=1e-12)


def test_the_costs_of_many_sets_may_be_a_users_own():
    class Squared:
        def cost(self, features, evidence):
            return float(len(features) ** 2 + ("B" in features))

    rows = to_words(range(8), 1)
    assert set_costs(Squared(), ["A", "B", "C"], rows, {}).tolist() == [0, 1, 2, 5, 1, 4, 5, 10]


class Recorded:
    """One for each feature; what was asked is written down."""

    def __init__(self):
        self.asked = []

    def cost(self, features, evidence):
        self.asked.append((frozenset(features), dict(evidence)))
        return float(len(features))


def test_anything_that_prices_a_set_is_a_cost_model():
    assert isinstance(Recorded(), CostModel)
    assert isinstance(ALL, CostModel)
    assert not isinstance(object(), CostModel)


def test_further_evidence_leaves_something_to_acquire_and_adds_to_what_is_known():
    costs = Recorded()
    states = {f"X{k}": ["T", "F"] for k in range(6)}
    check = check_monotone(costs, states, {"X5": "T"})
    assert check == CostCheck(
        True,
        True,
        "monotone on all 80 pairs of sets at the initial evidence and 80 at random evidence",
    )
    now = [features for features, known in costs.asked if known == {"X5": "T"}]
    assert len(now) == 1 + 32  # the empty set, and every set
    later = [(features, known) for features, known in costs.asked if known != {"X5": "T"}]
    pairs = list(zip(later[::2], later[1::2], strict=True))
    assert len(pairs) == 80
    for (less, known), (more, also_known) in pairs:
        assert known == also_known
        assert known["X5"] == "T"
        assert not more & set(known)
        assert len(more - less) == 1
        assert less < more
    assert {len(known) for _, known in later} == {2, 3, 4, 5}
    assert {len(less) for (less, _), _ in pairs} == {0, 1, 2, 3}


def test_one_feature_has_no_further_evidence():
    costs = Recorded()
    check = check_monotone(costs, {"A": ["T", "F"]}, {})
    assert str(check).endswith(
        "all 1 pairs of sets at the initial evidence and 0 at random evidence"
    )
    assert all(known == {} for _, known in costs.asked)
    two = check_monotone(Recorded(), {"A": ["T"], "B": ["T"]}, {})
    assert str(two).endswith("all 4 pairs of sets at the initial evidence and 4 at random evidence")


def test_with_nothing_to_acquire_there_are_no_pairs():
    check = check_monotone(Recorded(), {"A": ["T"]}, {"A": "T"})
    assert check.monotone
    assert str(check).endswith(
        "all 0 pairs of sets at the initial evidence and 0 at random evidence"
    )


def test_the_sets_of_ten_features_are_all_priced_and_those_of_eleven_are_not():
    ten, eleven = ([f"X{k}" for k in range(n)] for n in (10, 11))
    assert check_monotone_at(Additive(), ten, {}) == CostCheck(
        True, True, "monotone on all 5120 pairs of sets at the initial evidence"
    )
    costs = Recorded()
    assert check_monotone_at(costs, eleven, {}, max_pairs=7) == CostCheck(
        True, False, "monotone on 7 of 11264 pairs of sets at the initial evidence"
    )
    assert len(costs.asked) == 1 + 2 * 7
    # What is known does not count.
    assert check_monotone_at(Additive(), eleven, {"X0": "T"}).proved


def test_of_the_pairs_of_many_features_at_random_evidence_so_many_are_compared():
    many = {f"X{k}": ["T", "F"] for k in range(20)}
    assert str(check_monotone(Additive(), many, {})) == (
        "monotone on 10000 of 10485760 pairs of sets at the initial evidence "
        "and 10000 at random evidence"
    )


def test_a_pair_that_random_choice_finds_refutes():
    class Falling:
        def cost(self, features, evidence):
            return 100.0 - len(features) if features else 0.0

    many = [f"X{k}" for k in range(12)]
    check = check_monotone_at(Falling(), many, {})
    assert not check.monotone
    assert check.proved
    assert check.checked.startswith("not monotone: {")


def test_a_choice_of_pairs_is_the_same_for_the_same_seed():
    many = [f"X{k}" for k in range(12)]

    def asked(**options):
        costs = Recorded()
        check_monotone_at(costs, many, {}, max_pairs=20, **options)
        return costs.asked

    assert asked(seed=1) == asked(seed=1) != asked(seed=2)


def test_what_is_found_at_further_evidence_is_told_with_it():
    class Later:
        def cost(self, features, evidence):
            return float(len(features)) if not evidence else 9.0 - len(features)

    check = check_monotone(Later(), {"A": ["T"], "B": ["T"]}, {})
    assert (check.monotone, check.proved) == (False, True)
    assert check.checked in {
        "not monotone: {} costs 9 and {A} only 8 at {'B': 'T'}",
        "not monotone: {} costs 9 and {B} only 8 at {'A': 'T'}",
    }


def test_prices_that_differ_by_rounding_are_monotone():
    class Rounded:
        def __init__(self, factor, size):
            self.factor, self.size = factor, size

        def cost(self, features, evidence):
            return [0.0, self.size, self.size * (1 - self.factor)][len(features)]

    for size in (1.0, 1e6):
        assert check_monotone_at(Rounded(0.5e-9, size), ("A", "B"), {}).monotone
        assert not check_monotone_at(Rounded(2e-9, size), ("A", "B"), {}).monotone
        many = tuple(f"X{k}" for k in range(11))

        class Many(Rounded):
            def cost(self, features, evidence):
                return self.size * (1 - self.factor * len(features)) if features else 0.0

        assert check_monotone_at(Many(0.5e-9, size), many, {}, max_pairs=50).monotone
        assert not check_monotone_at(Many(2e-9, size), many, {}, max_pairs=50).monotone


def test_the_empty_set_may_cost_a_rounding_error():
    class Nearly:
        def cost(self, features, evidence):
            return 1e-9 + len(features)

    assert check_monotone_at(Nearly(), ("A",), {}).monotone


def test_a_matrix_must_name_every_class_and_no_other():
    good = {"T": {"T": 0, "F": 1}, "F": {"T": 1, "F": 0}}
    for rows, message in [
        ({**good, "U": {}}, "U: this is not a class; the predicted classes are 'T', 'F'"),
        ({"T": good["T"]}, "the predicted class 'F' is missing"),
        ({**good, "F": {"T": 1, "F": 0, "U": 1}}, "F.U: this is not a class; the actual"),
        ({**good, "F": {"T": 1}}, "F: the actual class 'F' is missing"),
        ({**good, "F": 3}, "F: must be a table"),
        ({**good, "F": {"T": -1, "F": 0}}, "F.T: must be >= 0, got -1"),
    ]:
        with pytest.raises((InputError, UnknownNameError), match=message):
            cost_matrix(rows, ["T", "F"])


def test_scaled_costs_are_those_of_the_paper():
    assert scaled_costs("symmetric", 10, [0.2, 0.3, 0.5]) == pytest.approx(
        np.array([[0, 20, 20], [20, 0, 20], [20, 20, 0]])
    )
    assert scaled_costs("asymmetric", 10, [0.2, 0.3, 0.5]) == pytest.approx(
        np.array([[0, 50 / 3, 10], [25, 0, 10], [25, 50 / 3, 0]])
    )


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


def test_the_scale_of_stakes_is_that_of_their_largest():
    unit = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert stakes_scale(0 * unit, unit) == 0.0
    assert stakes_scale(unit * (1 + 1e-12), unit) == pytest.approx(1.0)
    with pytest.raises(InputError):
        stakes_scale(unit, np.zeros((2, 2)))
    with pytest.raises(InputError):
        stakes_scale(np.array([[0.0, 1.0 + 1e-8], [2.0, 0.0]]), unit)


def test_every_feature_is_looked_at_for_a_price_that_falls():
    class Falls:
        """Only adding B to A makes a set cheaper."""

        def cost(self, features, evidence):
            amounts = {"": 0.0, "A": 5.0, "B": 1.0, "AB": 4.0}
            return amounts["".join(sorted(features))]

    check = check_monotone_at(Falls(), ("A", "B"), {})
    assert check == CostCheck(False, True, "not monotone: {A} costs 5 and {A, B} only 4")


def test_small_prices_differ_by_rounding_up_to_the_tolerance():
    class Small:
        def cost(self, features, evidence):
            return [0.0, 0.1 + 5e-10, 0.1][len(features)]

    assert check_monotone_at(Small(), ("A", "B"), {}).monotone


def test_a_class_that_is_certain_up_to_rounding_has_no_scaled_costs():
    for kind in ("symmetric", "asymmetric"):
        with pytest.raises(InputError, match="between 0 and 1, got 1, 1e-20"):
            scaled_costs(kind, 1, [1.0, 1e-20])


def test_costs_of_a_problem_file_need_no_proof_by_pricing():
    check = check_monotone_at(FeatureCosts({"A": 1, "B": 1}), ("A", "B"), {})
    assert (check.monotone, check.proved) == (True, True)
