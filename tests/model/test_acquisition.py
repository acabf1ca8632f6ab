"""When features can be acquired: constraints, feasible sets, and what is left of limits."""

import itertools
from dataclasses import replace

import pytest
from helpers.problems import naive_bayes
from helpers.rich_worlds import Referee, rich_problem
from helpers.ward import ward

from voilattice import (
    ConditionalCost,
    Constraint,
    Discount,
    FeatureCosts,
    Group,
    Problem,
    VoilatticeError,
    load_problem,
)
from voilattice.errors import InputError, UnknownNameError
from voilattice.feature_sets import bits, to_words
from voilattice.model.acquisition import INFEASIBLE, PathLimits
from voilattice.model.costs import MAX_AMOUNT


def constrained(*constraints, n=4):
    return replace(naive_bayes(n), constraints=constraints)


@pytest.mark.parametrize("seed", range(40))
def test_feasible_sets_are_those_that_the_file_allows(seed):
    problem = rich_problem(seed, ("constraints",))
    referee, rules = Referee(problem), problem.feasibility
    for more in ({}, *({f: s} for f in problem.features for s in problem.states(f))):
        known = {**more, **problem.evidence}
        free = [f for f in problem.features if f not in known]
        sets = [s for n in range(len(free) + 1) for s in itertools.combinations(free, n)]
        feasible = {problem.feature_mask(s) for s in sets if referee.is_feasible(s, known)}
        masks = {problem.feature_mask(s) for s in sets}
        assert {s for s in masks if rules.is_feasible(s, known)} == feasible
        are_feasible = rules.are_feasible(to_words(sorted(masks), 1), known)
        assert are_feasible.tolist() == [s in feasible for s in sorted(masks)]
        largest = rules.largest(known)
        assert largest in feasible
        assert all(s & ~largest == 0 for s in feasible)
        assert rules.alone(known) == sum(s for s in feasible if s.bit_count() == 1)
        e = problem.feature_mask(known)
        for s in masks:
            assert bool(rules.obstacles(s, known)) == (s not in feasible)
            if s & ~largest == 0:
                smallest = min((t for t in feasible if s & ~t == 0), key=int.bit_count)
                assert rules.closure(s, e) == smallest


def test_obstacles_name_what_is_in_the_way_and_what_would_help():
    problem = constrained(
        Constraint("X00", after=["X01", "X02"]),
        Constraint("X03", only_if={"X01": "T"}, not_if={"X02": "F"}),
    )

    def obstacles(features, **known):
        return problem.feasibility.obstacles(problem.feature_mask(features), known)

    assert obstacles(["X00"], X01="T") == ["X00 comes after X02: acquire X02 before or with it."]
    assert obstacles(["X00", "X02"], X01="F") == []
    assert obstacles(["X03"]) == ["X03 can be acquired only if X01 = T: acquire X01 first."]
    assert obstacles(["X03"], X01="F") == ["X03 can be acquired only if X01 = T, and it is F."]
    assert obstacles(["X03"], X01="T", X02="F") == ["X03 is not acquired if X02 = F."]
    assert obstacles(["X03"], X01="T", X02="T") == []


def test_the_price_that_nobody_pays_is_above_every_amount():
    assert INFEASIBLE > 1e40 * MAX_AMOUNT
    assert INFEASIBLE * 1e-150 > 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "needs at least one of after, only_if and not_if"),
        ({"after": "xray"}, "after: must be a list of features, got 'xray'"),
        ({"after": ["A"]}, "after: 'A' cannot be known before it is acquired"),
        ({"only_if": {"A": "T"}}, "only_if: 'A' cannot be known before"),
        ({"not_if": {"A": "T"}}, "not_if: 'A' cannot be known before"),
        ({"after": ["B", "C", "B"]}, "after: 'B' appears twice"),
        ({"after": None}, "after: must be a list of features, got None"),
        ({"after": [1]}, "after: must be a list of features, got 1 in it"),
        ({"only_if": ["BT"]}, "only_if: must be a table of features and states, got 'BT' in it"),
        ({"only_if": "BT"}, "only_if: must be a table of features and states, got 'BT'"),
        ({"only_if": {"B": None}}, "only_if: must be a table .*None. in it"),
        ({"not_if": {1: "T"}}, "not_if: must be a table .*1, 'T'. in it"),
        ({"not_if": 3}, "not_if: must be a table of features and states, got 3"),
        ({"feature": 3, "after": ["B"]}, "feature: must be a feature, got 3"),
    ],
)
def test_a_constraint_that_says_nothing_or_names_itself_is_refused(arguments, complaint):
    with pytest.raises(InputError, match=complaint.replace("'", "['\"]?")):
        Constraint(**{"feature": "A", **arguments})


@pytest.mark.parametrize(
    ("circle", "complaint"),
    [
        ([("X00", ["X01"]), ("X01", ["X00"])], "X0. needs X0. needs X0."),
        ([("X00", ["X01"]), ("X01", ["X02"]), ("X02", ["X00"])], "needs X0. needs X0. needs X0."),
    ],
)
def test_a_circle_is_an_error_that_shows_the_circle(circle, complaint):
    with pytest.raises(InputError, match=f"^constraints: go round in a circle.*{complaint}$"):
        constrained(*(Constraint(f, after=after) for f, after in circle))


def test_only_if_can_close_a_circle_too():
    with pytest.raises(InputError, match="circle"):
        constrained(Constraint("X00", after=["X01"]), Constraint("X01", only_if={"X00": "T"}))


def test_not_if_makes_no_circle():
    problem = constrained(
        Constraint("X00", after=["X01"], not_if={"X02": "T"}),
        Constraint("X01", not_if={"X00": "T"}),
    )
    assert problem.feasibility.largest({}) == 0b1111


@pytest.mark.parametrize(
    ("constraint", "place", "error"),
    [
        (Constraint("X9", after=["X00"]), "constraints[0].feature", UnknownNameError),
        (Constraint("Y", after=["X00"]), "constraints[0].feature", InputError),
        (Constraint("X00", after=["X9"]), "constraints[0].after", UnknownNameError),
        (Constraint("X00", only_if={"X9": "T"}), "constraints[0].only_if.X9", UnknownNameError),
        (Constraint("X00", only_if={"X01": "Q"}), "constraints[0].only_if.X01", UnknownNameError),
        (Constraint("X00", not_if={"X01": "Q"}), "constraints[0].not_if.X01", UnknownNameError),
        (Constraint("X00", not_if={"Y": "T"}), "constraints[0].not_if.Y", InputError),
    ],
)
def test_a_constraint_on_something_unknown_is_an_error_with_its_place(constraint, place, error):
    with pytest.raises(error) as caught:
        constrained(constraint)
    assert str(caught.value).startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"spend": -1}, "limits.spend: must be a number >= 0, got -1"),
        ({"spend": float("inf")}, "limits.spend: must be a number >= 0"),
        ({"spend": "much"}, "limits.spend: must be a number >= 0, got 'much'"),
        ({"spend": True}, "limits.spend: must be a number >= 0"),
        ({"features": -2}, "limits.features: must be a whole number >= 0, got -2"),
        ({"rounds": -1}, "limits.rounds: must be a whole number >= 0, got -1"),
        ({"features": 1.5}, "limits.features: must be a whole number >= 0, got 1.5"),
        ({"rounds": True}, "limits.rounds: must be a whole number >= 0"),
        ({"visits": 2}, "limits.visits: unknown key"),
        (5, "limits: must be a table with spend, features or rounds, got 5"),
    ],
)
def test_wrong_limits_are_errors_with_their_place(limits, complaint):
    problem = naive_bayes(2)
    with pytest.raises(VoilatticeError) as caught:
        Problem.create(
            problem.network, "Y", problem.costs, problem.misclassification, limits=limits
        )
    assert str(caught.value).startswith(complaint)


def test_limits_shrink_along_a_path_and_say_when_they_no_longer_bind():
    limits = PathLimits(spend=10.0, features=3, rounds=2)
    left = limits.after(0.1, 1).after(0.2, 1)
    assert left == PathLimits(spend=9.7, features=1, rounds=0)
    assert not left.allows(0.0, 1)  # there is no round left
    assert left.allows(0.0, 0)
    assert PathLimits(spend=0.3).allows(0.1 + 0.2, 1)  # sums may differ in their last bits
    assert not PathLimits(spend=0.3).allows(0.3001, 1)
    assert limits.that_bind(2, 10.0) == PathLimits()
    assert limits.that_bind(3, 10.1) == PathLimits(spend=10.0, rounds=2)


def test_each_limit_allows_and_binds_alone():
    assert PathLimits(rounds=1).allows(99.0, 9)
    assert not PathLimits(rounds=0).allows(0.0, 1)
    for limits in (PathLimits(spend=5.0), PathLimits(features=2), PathLimits(rounds=2)):
        assert limits.that_bind(3, 9.0) == limits
        assert limits.that_bind(2, 5.0) == PathLimits()


def test_the_firsts_of_a_set_need_no_other_member():
    rules = constrained(
        Constraint("X00", after=["X01", "X02"]), Constraint("X03", after=["X00"])
    ).feasibility
    assert rules.firsts(0b1111, 0) == 0b0110
    assert rules.firsts(0b1001, 0) == 0b0001
    assert rules.firsts(0b1001, 0b0110) == 0b0001  # what is known comes before
    assert rules.firsts(0b1011, 0b0100) == 0b0010
    assert rules.firsts(0b1000, 0b0001) == 0b1000


def test_what_can_be_acquired_only_after_a_hidden_feature_is_hidden_too():
    problem = constrained(
        Constraint("X00", after=["X01"]),
        Constraint("X02", only_if={"X00": "T"}),
        Constraint("X03", not_if={"X01": "T", "X02": "F"}),
    )
    assert problem.without(["X01"]).features == ("X03",)
    assert problem.without(["X01"]).constraints == ()
    assert problem.without(["X01"], known=["X00"]).features == ("X00", "X02", "X03")
    assert problem.without(["X02"]).constraints[-1] == Constraint("X03", not_if={"X01": "T"})


def test_evidence_is_never_refused():
    problem = constrained(Constraint("X00", after=["X01"]), Constraint("X02", only_if={"X01": "T"}))
    known = problem.with_evidence({"X00": "T", "X02": "F"})
    assert known.evidence == {"X00": "T", "X02": "F"}


def test_a_round_has_a_price_once_for_each_set():
    costs = FeatureCosts({"A": 1.0, "B": 2.0}, round_cost=5.0)
    assert costs.cost(frozenset(), {}) == 0.0
    assert costs.cost(frozenset({"A"}), {}) == 6.0
    assert costs.cost(frozenset({"A", "B"}), {}) == 8.0
    with pytest.raises(InputError, match=r"^rounds\.cost: must be >= 0, got -1"):
        FeatureCosts({"A": 1.0}, round_cost=-1)


def test_problems_without_rules_are_as_they_were():
    asia = load_problem("asia")
    assert not asia.limits
    assert asia.constraints == ()
    assert asia.feasibility.largest({}) == (1 << len(asia.features)) - 1


def test_the_rules_of_a_problem_in_words():
    problem = ward()
    assert problem.describe_rules() == [
        "biopsy can be acquired after X-ray, only if consent = given, not if age = old.",
        "Limits of each path: 120.00 CAD to spend, 4 features and 3 rounds.",
        "Each round costs 5.00 CAD more, however many features it brings.",
    ]
    for rule in problem.describe_rules():
        assert rule in str(problem)
        assert rule in problem._repr_html_()
    assert load_problem("asia").describe_rules() == []
    assert "rules" not in str(load_problem("asia"))


def test_shared_costs_and_conditional_prices_in_words():
    problem = ward()
    group = Group("scaffold", 70, ("xray", "blood"))
    discount = Discount("same form", {"consent": 1, "biopsy": 10})
    cheaper = ConditionalCost("biopsy", {"xray": "shadow"}, 40)
    costs = replace(problem.costs, groups=(group,), discounts=(discount,), conditional=(cheaper,))
    assert costs.sentences(problem) == [
        "scaffold costs 70.00 CAD, paid once: with the first of X-ray and blood.",
        "Discount same form: the first of biopsy and consent has its full price. "
        "After it, biopsy costs 10.00 CAD less and consent costs 1.00 CAD less.",
        "biopsy costs 40.00 CAD once X-ray = shadow is known.",
    ]
    alike = replace(costs, groups=(), discounts=(Discount("form", {"xray": 2, "blood": 2}),))
    assert alike.sentences(problem)[0].endswith("After it, each other one costs 2.00 CAD less.")
    assert problem.pricing.sentences(problem) == []


@pytest.mark.parametrize(
    ("limits", "cost", "n_features", "said"),
    [
        ({"spend": 10}, 10, 3, []),
        ({"spend": 10}, 11, 3, ["The price is 11.00, and the limits leave 10.00 to spend."]),
        ({"features": 1}, 0, 2, ["The limits leave 1 feature."]),
        ({"features": 0}, 0, 1, ["The limits leave no feature."]),
        ({"rounds": 0, "features": 2}, 0, 1, ["The limits leave no round."]),
        (
            {"spend": 0, "features": 1, "rounds": 0},
            1,
            2,
            [
                "The limits leave no round.",
                "The limits leave 1 feature.",
                "The price is 1.00, and the limits leave 0.00 to spend.",
            ],
        ),
        ({"spend": 0, "rounds": 0}, 1, 0, []),
    ],
)
def test_limits_say_what_they_do_not_allow(limits, cost, n_features, said):
    assert PathLimits(**limits).obstacles(cost, n_features) == said


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, ""),
        ({"rounds": 1}, "1 round"),
        ({"spend": 2.5, "rounds": 2}, "2.50 CAD to spend and 2 rounds"),
    ],
)
def test_limits_in_words(limits, said):
    assert PathLimits(**limits).describe("CAD") == said


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        (
            [Constraint("X02", only_if={"X00": "T"}), Constraint("X02", only_if={"X00": "F"})],
            ["X02 can never be acquired: it needs X00 = F and X00 = T."],
        ),
        (
            [Constraint("X02", only_if={"X00": "T"}, not_if={"X00": "T"})],
            ["X02 can never be acquired: it needs X00 = T, and is not acquired if X00 = T."],
        ),
        (  # what X01 waits for is known when X02 can be acquired
            [
                Constraint("X01", only_if={"X00": "T"}),
                Constraint("X02", after=["X01"], only_if={"X00": "F"}),
            ],
            ["X02 can never be acquired: it needs X00 = F and X00 = T."],
        ),
        (
            [
                Constraint("X02", only_if={"X00": "T"}, not_if={"X00": "T"}),
                Constraint("X03", after=["X02"]),
            ],
            [
                "X02 can never be acquired: it needs X00 = T, and is not acquired if X00 = T.",
                "X03 can never be acquired: it needs X02, which cannot be acquired.",
            ],
        ),
        # These two can be acquired: before X00, and together with X00.
        ([Constraint("X02", not_if={"X00": "T"}), Constraint("X02", not_if={"X00": "F"})], []),
        (
            [
                Constraint("X02", after=["X00"], not_if={"X00": "T"}),
                Constraint("X02", not_if={"X00": "F"}),
            ],
            [],
        ),
        # X01 comes before X00 is known, X02 after.
        (
            [
                Constraint("X01", not_if={"X00": "T"}),
                Constraint("X02", after=["X01"], only_if={"X00": "T"}),
            ],
            [],
        ),
    ],
)
def test_features_that_no_values_can_open_are_named(constraints, said):
    problem = constrained(*constraints)
    rules = problem.feasibility
    assert list(rules.dead_ends({}).values()) == said
    assert problem.describe_rules()[len(constraints) :] == said
    for k, sentence in rules.dead_ends({}).items():
        assert rules.obstacles(1 << k, {}) == [sentence]


def test_what_needs_a_feature_that_the_evidence_closed_is_a_dead_end():
    rules = constrained(
        Constraint("X02", only_if={"X00": "T"}), Constraint("X03", after=["X02"])
    ).feasibility
    assert rules.dead_ends({}) == {}
    closed = ["X03 can never be acquired: it needs X02, which cannot be acquired."]
    assert rules.obstacles(0b1000, {"X00": "F"}) == closed
    assert rules.obstacles(0b1000, {"X00": "F", "X02": "T"}) == []  # evidence is never refused


@pytest.mark.parametrize("seed", range(60))
def test_a_dead_end_is_never_acquired(seed):
    problem = rich_problem(seed)
    rules = problem.feasibility
    features, states = problem.features, [(None, *problem.states(f)) for f in problem.features]
    for values in itertools.islice(itertools.product(*states), 400):
        known = {f: v for f, v in zip(features, values, strict=True) if v is not None}
        dead, reached, seen = rules.dead_ends(known), [known], []
        while dead and reached:  # everything that can still become known by acquiring
            here = reached.pop()
            assert not set(dead) & set(bits(rules.largest(here)))
            for k in bits(rules.alone(here)):
                for state in problem.states(features[k]):
                    after = {**here, features[k]: state}
                    if after not in seen:
                        seen.append(after)
                        reached.append(after)
