"""What was acquired counts against the limits: in advice, and where cases leave the tree."""

from dataclasses import replace

import pytest
from helpers.problems import noisy_bayes, rare_findings
from helpers.rich_worlds import Referee, rich_problem

from voilattice import Constraint, advise, apply_policy, build_policy, load_problem, simulate
from voilattice.errors import InputError, UnknownNameError
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.policy.policy import Acquisition
from voilattice.policy.relevance import without_idle_limits
from voilattice.policy.solvers import policy_from_rule

NAMES = ("greedy", "greedy-la", "batch", "optimal")


def staked(n=4, **limits):
    problem = noisy_bayes(n)
    stakes = 50 * problem.misclassification
    return replace(problem, misclassification=stakes, limits=PathLimits(**limits))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(12))
def test_advice_along_a_path_is_what_the_built_policy_does(name, seed):
    problem = rich_problem(seed, n_features=3)
    policy = build_policy(problem, name)
    for path in policy.paths():
        known, together = {}, []
        values = dict(path.evidence)
        node = policy.root
        while isinstance(node, Acquisition):
            advice = advise(problem, name, known, together=together)
            assert advice.features == set(node.features), (known, together)
            known |= {f: values[f] for f in node.features}
            together.append(node.features)
            states = tuple(values[f] for f in node.features)
            node = policy.nodes[next(b.child for b in node.branches if b.states == states)]
        advice = advise(problem, name, known, together=together)
        assert not advice.features
        assert advice.spent == pytest.approx(path.feature_cost, abs=1e-9)


def test_what_was_acquired_counts_against_the_limits_and_what_is_given_does_not():
    problem = staked(features=1)
    assert advise(problem, "optimal").features
    assert not advise(problem, "optimal", {"X00": "T"}).features
    assert advise(problem, "optimal", given={"X00": "T"}).features
    assert build_policy(problem, "optimal", {"X00": "T"}).n_acquisitions > 0


def test_features_acquired_together_are_one_round():
    problem = staked(rounds=2)
    known = {"X00": "T", "X01": "F"}
    assert not advise(problem, "optimal", known).features
    assert advise(problem, "optimal", known, together=[["X00", "X01"]]).features
    dearer = replace(problem, costs=replace(problem.costs, round_cost=2.0))
    assert advise(dearer, "optimal", known).spent == 2 * (1 + 2)
    assert advise(dearer, "optimal", known, together=[["X01", "X00"]]).spent == 2 + 2


@pytest.mark.parametrize(
    ("together", "error", "complaint"),
    [
        ([["X02"]], InputError, "together: 'X02' was not acquired: it is not evidence"),
        ([["X00"], ["X00", "X01"]], InputError, "together: 'X00' is named twice"),
        ([["X9"]], UnknownNameError, "together: no feature 'X9'"),
    ],
)
def test_a_wrong_round_is_an_error(together, error, complaint):
    with pytest.raises(error) as caught:
        advise(staked(), "greedy", {"X00": "T", "X01": "F"}, together=together)
    assert str(caught.value).startswith(complaint)


def are_rounds(referee, case, lost, bought, cost, known, left):
    """Whether purchases are at most `left` rounds, each of them feasible, at this price in all.

    What is lost may have been asked for in the same round as others.
    """
    if not bought:
        return abs(cost) < 1e-6
    if left == 0:
        return False
    for n in range(1, len(bought) + 1):
        first, rest = bought[:n], bought[n:]
        asked = [s for s in (first, (*first, lost)) if referee.is_feasible(s, known)]
        if asked and are_rounds(
            referee, case, lost, rest, cost - referee.price(first, known),
            {**known, **{f: case[f] for f in first}}, left - 1,
        ):  # fmt: skip
            return True
    return False


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(10))
def test_cases_that_leave_the_tree_keep_to_the_limits(name, seed):
    """A missing cell makes the policy plan again; what was paid before still counts."""
    problem = rich_problem(seed)
    referee = Referee(problem)
    policy = build_policy(problem, name)
    names = [f for f in problem.features if f not in problem.evidence]
    rows = []
    for case, p in referee.cells:
        if p > 0 and problem.evidence.items() <= case.items():
            rows += [(lost, {f: None if f == lost else case[f] for f in names}) for lost in names]
    cases = {f: [row[f] for _, row in rows] for f in names}
    applied = apply_policy(policy, cases, strict=False)
    limits = problem.limits
    most = len(names) if limits.rounds is None else limits.rounds
    followed = zip(rows, applied.bought, applied.feature_cost, strict=True)
    for (lost, case), bought, cost in followed:
        assert limits.features is None or len(bought) <= limits.features
        assert limits.spend is None or cost <= limits.spend + 1e-6
        known = dict(problem.evidence)
        assert lost not in bought
        assert are_rounds(referee, case, lost, bought, cost, known, most), (case, bought, cost)


def test_a_policy_that_is_applied_by_name_costs_what_the_built_one_does():
    problem = staked(rounds=2, features=3)
    for name in NAMES:
        built = build_policy(problem, name)
        assert simulate(name, 400, problem=problem) == simulate(built, 400)


def test_a_rule_of_ones_own_must_keep_to_constraints_and_limits():
    problem = replace(staked(), constraints=(Constraint("X00", after=["X01"]),))
    with pytest.raises(InputError, match="acquires what it cannot: X00 comes after X01"):
        policy_from_rule(problem, lambda known: set() if known else {"X00"})
    limited = staked(features=1)
    with pytest.raises(InputError, match=r"exceeds the limits with \['X00', 'X01'\]"):
        policy_from_rule(limited, lambda known: set() if known else {"X00", "X01"})


def test_what_cannot_be_had_locks_what_comes_after_it():
    problem = replace(staked(), constraints=(Constraint("X00", after=["X01"]),))
    without = advise(problem, "optimal", unavailable=["X01"])
    assert {f for v in without.candidates for f in v.features} == {"X02", "X03"}
    # Evidence is never refused, even if it could not have been acquired.
    known = advise(problem, "optimal", {"X00": "T"}, unavailable=["X01"])
    assert known.posterior


def test_what_is_locked_is_said_with_what_it_needs():
    needs = (Constraint("X00", after=["X01", "X02"]), Constraint("X03", after=["X00"]))
    problem = replace(staked(), constraints=needs)
    reasons = advise(problem, "optimal", unavailable=["X01", "X02"]).reasons
    assert "X00 needs X01 and X02, which cannot be had." in reasons
    assert "X03 needs X00, which cannot be had." in reasons
    one = advise(problem, "optimal", unavailable=["X02"]).reasons
    assert "X00 needs X02, which cannot be had." in one


def test_candidates_are_what_can_be_acquired():
    problem = staked(features=2)
    later = Constraint("X00", after=("X01",))
    problem = replace(problem, constraints=(later, Constraint("X02", not_if={"X03": "T"})))
    offered = {name for c in advise(problem, "greedy").candidates for name in c.features}
    assert offered == {"X01", "X02", "X03"}
    offered = {
        name for c in advise(problem, "greedy", {"X03": "T"}).candidates for name in c.features
    }
    assert offered == {"X01"}
    assert not advise(problem, "greedy", {"X01": "T", "X03": "T"}).candidates


def test_a_tree_answers_only_while_as_much_is_left_as_on_the_tree():
    problem = load_problem("heart-visits")  # at most three visits
    policy = build_policy(problem, "optimal")
    known = {"age": 46, "sex": "male", "cp": "atypical"}
    assert set(policy.root.features) == set(known)
    on_tree = advise(problem, policy, known, together=[list(known)])
    assert on_tree.features == set(policy.follow(known).features)
    assert not any("planned again" in reason for reason in on_tree.reasons)
    # One by one, all visits are used up.
    one_by_one = advise(problem, policy, known)
    assert not one_by_one.features
    assert any("planned again" in reason for reason in one_by_one.reasons)


def test_a_limit_that_cannot_bind_any_more_does_not_take_the_tree_away():
    problem = staked(rounds=9)
    policy = build_policy(problem, "optimal")
    known = dict.fromkeys(policy.root.features, "T")
    assert not any("planned again" in reason for reason in advise(problem, policy, known).reasons)


def test_limits_that_cannot_bind_cost_nothing():
    heart = load_problem("heart")
    proved = build_policy(heart, "optimal")
    for limits in ({"spend": 1e6}, {"features": 30}, {"rounds": 13}):
        free = replace(heart, limits=PathLimits(**limits))
        policy = build_policy(free, "optimal")
        assert (policy.exact, policy.problem) == (True, free)
        assert policy.expected_total_cost == pytest.approx(proved.expected_total_cost, abs=1e-9)
        assert policy.nodes == proved.nodes
    assert without_idle_limits(heart) is heart


@pytest.mark.parametrize("limits", [{"rounds": 9}, {"spend": 1e9}, {"features": 9}])
def test_limits_that_cannot_bind_do_not_matter_where_findings_are_rare(limits):
    limited = replace(rare_findings(1e-70, chain=False), limits=PathLimits(**limits))
    problem = without_idle_limits(limited)
    assert not problem.limits
    solution = solve_exactly(find_states(problem), problem)
    known = {f"X{k}": "a" for k in range(4)}  # too rare for the tables
    assert solution.choose(known, limited.limits) == solution.choose(known)
    assert solution.cost_to_go(known, limited.limits) == solution.cost_to_go(known)
