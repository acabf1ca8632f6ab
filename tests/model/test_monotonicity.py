"""Whether larger sets cost more."""

import pytest
from helpers.problems import opener
from helpers.strategies import possible_knowledge, problems, subsets, with_discounts
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import ConditionalCost, Discount, FeatureCosts
from voilattice.errors import InputError
from voilattice.model.monotonicity import CostCheck, check_monotone, check_monotone_at

STATES = {"A": ["T", "F"], "B": ["T", "F"], "C": ["T", "F"]}


def is_monotone(costs, features, known):
    """Whether no set costs more than the set with one more feature."""
    return all(
        costs.cost(s, known) <= costs.cost(s | {more}, known) + 1e-9
        for s in subsets([f for f in features if f not in known])
        for more in features
        if more not in known and more not in s
    )


@examples(60)
@given(problems(max_features=4), st.integers(0, 2**32 - 1), st.booleans())
def test_subsets_never_cost_more_unless_the_check_says_so(problem, seed, has_openers):
    problem = with_discounts(problem, seed) if has_openers else problem
    now = check_monotone_at(problem.costs, problem.features, problem.evidence)
    assert now.proved
    assert now.monotone == is_monotone(problem.costs, problem.features, problem.evidence)
    later = [is_monotone(problem.costs, problem.features, k) for k in possible_knowledge(problem)]
    assert problem.cost_check.monotone == all(later)


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


def test_a_set_that_costs_a_little_more_than_a_superset_is_found():
    class Odd:
        def cost(self, features, evidence):
            return [0.0, 2.0, 1.5][len(features)]

    check = check_monotone_at(Odd(), ("A", "B"), {})
    assert not check.monotone
    assert "costs 2 and" in check.checked
    assert check_monotone_at(Odd(), ("A", "B"), {"A": "a"}).monotone


class Recorded:
    """One for each feature; what was asked is written down."""

    def __init__(self):
        self.asked = []

    def cost(self, features, evidence):
        self.asked.append((frozenset(features), dict(evidence)))
        return float(len(features))


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


def test_costs_of_a_problem_file_need_no_proof_by_pricing():
    check = check_monotone_at(FeatureCosts({"A": 1, "B": 1}), ("A", "B"), {})
    assert (check.monotone, check.proved) == (True, True)
