"""Decisions that are not the classes: rows of any number and name, against enumeration."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.brute_force import best_of_all_subsets
from helpers.solving import POLICIES, all_loops, optimum
from helpers.strategies import full_joint, problems, subsets, with_decisions
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voilattice import advise, apply_policy, best_set, build_policy, emc, evi
from voilattice.cases.tables import draw_cases
from voilattice.policy.policy import Leaf

ENGINES = ("python", "compiled")
seeds = st.integers(0, 2**32 - 1)


def enumerated_emc(problem, features):
    """The expected EMC after these features, state by state and decision by decision."""
    network, joint = problem.network, full_joint(problem.network)
    for feature, state in problem.evidence.items():
        node = network.index(feature)
        is_other = np.arange(network.n_states[node]) != network.state_index(node, state)
        joint[(slice(None),) * node + (is_other,)] = 0.0
    nodes = [network.index(name) for name in features]
    target, total = network.index(problem.target), 0.0
    for outcome in itertools.product(*(range(network.n_states[node]) for node in nodes)):
        where = [slice(None)] * len(network)
        for node, state in zip(nodes, outcome, strict=True):
            where[node] = slice(state, state + 1)
        part = joint[tuple(where)]
        belief = part.sum(axis=tuple(k for k in range(len(network)) if k != target))
        total += min(
            sum(c * p for c, p in zip(row, belief, strict=True))
            for row in problem.misclassification.tolist()
        )
    return total / joint.sum()


@examples(60)
@given(problems(max_features=4, max_hidden=1), seeds)
def test_emc_and_evi_are_those_of_enumeration(problem, seed):
    problem = with_decisions(problem, seed)
    now = enumerated_emc(problem, ())
    assert emc(problem) == pytest.approx(now, rel=1e-9, abs=1e-9)
    for chosen in subsets([f for f in problem.features if f not in problem.evidence]):
        want = now - enumerated_emc(problem, sorted(chosen))
        assert evi(problem, chosen) == pytest.approx(want, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
@examples(60)
@given(problem=problems(max_features=5), seed=seeds)
def test_the_best_set_is_the_best_of_all_subsets(engine, problem, seed):
    problem = with_decisions(problem, seed)
    want = best_of_all_subsets(problem, {})
    with all_loops(engine):
        found = best_set(problem)
    assert found.features == want.features
    assert found.benefit == pytest.approx(want.benefit, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
@examples(60)
@given(problem=problems(max_features=4), seed=seeds)
def test_the_optimum_is_that_of_all_partial_assignments(engine, problem, seed):
    problem = with_decisions(problem, seed)
    with all_loops(engine):
        found = optimum(problem)
    want = optimal_cost(problem)
    assert found.exact
    assert found.expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-9)


@examples(40)
@given(problem=problems(max_features=4), seed=seeds)
def test_both_engines_build_the_same_policies(problem, seed):
    problem = with_decisions(problem, seed)
    for name in POLICIES:
        built = []
        for engine in ENGINES:
            with all_loops(engine):
                built.append(build_policy(problem, name).expected_total_cost)
        assert built[0] == pytest.approx(built[1], rel=1e-9, abs=1e-9)


@given(problems(max_features=4), seeds)
def test_a_leaf_makes_the_decision_of_least_cost(problem, seed):
    problem = with_decisions(problem, seed)
    for path in build_policy(problem, "batch").paths():
        risk = problem.misclassification @ path.leaf.posterior
        assert path.leaf.emc == pytest.approx(risk.min(), abs=1e-9)
        assert path.leaf.decision in problem.decisions
        assert risk[problem.decisions.index(path.leaf.decision)] == pytest.approx(
            risk.min(), rel=1e-9, abs=1e-8
        )


@given(problems(max_features=4), st.floats(0, 60))
def test_a_decision_of_constant_cost_caps_emc(problem, constant):
    assume("a referral" not in problem.decisions)
    row = np.full((1, len(problem.classes)), constant)
    capped = replace(
        problem,
        decisions=(*problem.decisions, "a referral"),
        misclassification=np.vstack([problem.misclassification, row]),
    )
    assert emc(capped) == pytest.approx(min(emc(problem), constant), abs=1e-9)
    best = optimum(capped).expected_total_cost
    assert best <= min(optimum(problem).expected_total_cost, constant) + 1e-9
    advice = advise(capped, "none")
    assert advice.decision_costs["a referral"] == pytest.approx(constant, abs=1e-9)


@given(problems(max_features=4), seeds)
def test_a_decision_that_is_never_better_changes_nothing(problem, seed):
    rng = np.random.default_rng(seed)
    worse = problem.misclassification[rng.integers(len(problem.decisions))] + rng.integers(0, 9)
    more = replace(
        problem,
        decisions=(*problem.decisions, "in vain"),
        misclassification=np.vstack([problem.misclassification, worse]),
    )
    assert emc(more) == pytest.approx(emc(problem), abs=1e-9)
    assert best_set(more).benefit == pytest.approx(best_set(problem).benefit, abs=1e-9)
    assert optimum(more).lower_bound == pytest.approx(optimum(problem).lower_bound, abs=1e-9)


@given(problems(max_features=4), seeds)
def test_with_one_decision_nothing_is_worth_knowing(problem, seed):
    row = with_decisions(problem, seed).misclassification[:1]
    problem = replace(problem, decisions=("go",), misclassification=row)
    left = [f for f in problem.features if f not in problem.evidence]
    assert evi(problem, left) == pytest.approx(0.0, abs=1e-9)
    for name in ("none", "greedy", "greedy-la", "batch", "optimal"):
        policy = build_policy(problem, name)
        assert isinstance(policy.root, Leaf)
        assert policy.root.decision == "go"


@given(problems(max_features=4), seeds)
def test_the_order_of_the_decisions_changes_no_cost(problem, seed):
    order = np.random.default_rng(seed).permutation(len(problem.decisions))
    names = tuple(problem.decisions[k] for k in order)
    other = replace(problem, decisions=names, misclassification=problem.misclassification[order])
    assert emc(other) == pytest.approx(emc(problem), abs=1e-9)
    assert optimum(other).lower_bound == pytest.approx(optimum(problem).lower_bound, abs=1e-9)
    if set(problem.decisions) == set(problem.classes):
        assert other == problem


@settings(max_examples=20)
@given(problems(max_features=3), seeds)
def test_cases_pay_for_the_decisions_that_are_made(problem, seed):
    problem = with_decisions(replace(problem, evidence={}), seed)
    table = draw_cases(problem.network, 50, np.random.default_rng(seed))
    applied = apply_policy(build_policy(problem, "greedy"), table)
    for decision, truth, paid in zip(
        applied.decision, applied.truth, applied.misclassification_cost, strict=True
    ):
        i, j = problem.decisions.index(decision), problem.classes.index(truth)
        assert paid == problem.misclassification[i, j]
