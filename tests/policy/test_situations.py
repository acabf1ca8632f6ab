"""Situations: what a rule sees, and what follows."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from helpers.problems import naive_bayes, noisy_bayes, rare_findings
from helpers.solving import POLICIES
from helpers.strategies import possible_evidence, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import build_policy, emc, load_problem
from voilattice.errors import TooLargeError
from voilattice.feature_sets import mask_of
from voilattice.policy import situations
from voilattice.policy.policy import Acquisition
from voilattice.policy.situations import PolicyBuilder
from voilattice.policy.solvers import Limits, RuleSolver
from voilattice.valuation import pairs


@pytest.mark.parametrize("q", [1e-80, 1e-106, 1e-107, 1e-108, 1e-150, 1e-300])
def test_a_situation_too_rare_for_the_first_table_has_one_of_its_own(q):
    problem = rare_findings(q, chain=False)
    known = {"X0": "a", "X1": "a", "X2": "a"}
    builder = PolicyBuilder(problem)
    situation = builder.at(known)
    assert situation.posterior.sum() == pytest.approx(1.0, abs=1e-12)
    assert situation.emc == pytest.approx(emc(problem, known), rel=1e-9)
    (seen,) = (s for _, s in builder._outcomes(builder.at({}), 0b111) if s.known == known)
    assert seen.emc == pytest.approx(emc(problem, known), rel=1e-9)


@pytest.mark.parametrize("q", [1e-3, 1e-100, 1e-200, 1e-300])
@pytest.mark.parametrize("name", ["markov-blanket", "optimal"])
def test_a_policy_has_a_branch_for_all_that_is_possible(q, name):
    policy = build_policy(rare_findings(q, chain=False), name)
    while hasattr(policy.root, "features"):
        features = policy.root.features
        assert len(policy.root.branches) == 2 ** len(features)
        found = policy.follow(dict.fromkeys(features, "a"))
        break
    else:
        found = policy.root
    assert found in policy.nodes


@contextmanager
def join_tree_only():
    """Let no situation have a table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(situations, "LAZY_CELLS", 0)
        patch.setattr(situations, "STEP_CELLS", 0)
        yield patch


@settings(max_examples=60)
@given(problems(max_features=5, max_hidden=2), st.integers(0, 2**32 - 1))
def test_a_situation_without_a_table_says_the_same(problem, seed):
    evidence = possible_evidence(problem, seed)
    seen = situations.situation_at(problem, evidence)
    with join_tree_only():
        bare = situations.situation_at(problem, evidence)
    assert bare.table is None
    assert bare.axes == seen.axes
    assert bare.posterior == pytest.approx(seen.posterior, abs=1e-9)
    assert bare.emc == pytest.approx(seen.emc, abs=1e-9)
    assert bare.decision == seen.decision
    for k in seen.axes:
        one, other = bare.value(1 << k), seen.value(1 << k)
        assert one.features == other.features
        assert one.evi == pytest.approx(other.evi, abs=1e-9)
        assert bare.joint(1 << k) == pytest.approx(seen.joint(1 << k), abs=1e-9)
    both = mask_of(seen.axes[:2])
    assert bare.joint(both) == pytest.approx(seen.joint(both), abs=1e-9)
    assert bare.best() == seen.best()


@pytest.mark.parametrize("name", POLICIES[:-1])
@settings(max_examples=25)
@given(problem=problems(max_features=4, max_hidden=1))
def test_a_policy_without_tables_is_the_same_policy(name, problem):
    usual = build_policy(problem, name)
    with join_tree_only():
        bare = build_policy(problem, name)
    assert len(bare.nodes) == len(usual.nodes)
    for one, other in zip(bare.nodes, usual.nodes, strict=True):
        assert type(one) is type(other)
        if isinstance(one, Acquisition):
            assert (one.features, one.price) == (other.features, pytest.approx(other.price))
            assert [b.states for b in one.branches] == [b.states for b in other.branches]
    assert bare.expected_total_cost == pytest.approx(usual.expected_total_cost, abs=1e-9)
    assert bare.certificate == usual.certificate


def test_a_join_tree_that_does_not_fit_is_replaced_by_eliminations(monkeypatch):
    def too_large(*_):
        raise TooLargeError("the cliques are too large")

    asia = load_problem("asia")
    usual = pairs.PairInference(asia.network, asia.target, asia.features)
    monkeypatch.setattr(pairs, "JoinTree", too_large)
    bare = pairs.PairInference(asia.network, asia.target, asia.features)
    for known in ({}, {"smoke": "yes"}, {"smoke": "no", "xray": "yes"}):
        assert bare.at(known).belief == pytest.approx(usual.at(known).belief)
        assert bare.at(known).pairs == pytest.approx(usual.at(known).pairs)


@pytest.mark.parametrize("name", ["greedy", "greedy-la", "batch", "optimal"])
@pytest.mark.parametrize("max_states", [1, 2, 3, 5, 8, 13])
@settings(max_examples=15)
@given(problem=problems(max_features=5))
def test_a_cut_policy_is_a_policy_with_an_exact_cost(name, max_states, problem):
    whole = build_policy(problem, name)
    cut = build_policy(problem, name, max_states=max_states)
    assert len(cut.nodes) <= max_states
    tol = 1e-9 * max(1.0, emc(problem))
    optimum = build_policy(problem, "optimal").expected_total_cost
    assert cut.expected_total_cost >= optimum - tol
    assert cut.least_cost <= whole.expected_total_cost + tol
    if name != "greedy-la":  # it takes steps that pay only together with later ones
        assert whole.expected_total_cost - tol <= cut.expected_total_cost <= emc(problem) + tol
    if len(whole.nodes) <= max_states:
        assert cut == whole
    else:
        assert (cut.exact, cut.status) == (False, "memory")
        assert cut.open_share > 0
        assert "not all of the policy was worked out" in cut.verdict.lower()
    for path in cut.paths():
        found = dict(path.evidence)
        assert path.leaf.emc == pytest.approx(emc(problem, found), abs=1e-9)


def test_the_most_probable_states_are_worked_out_first():
    heart = load_problem("heart")
    shares = [
        build_policy(heart, "greedy", max_states=n).open_share for n in (1, 5, 20, 80, 320, 5000)
    ]
    assert shares[0] == 1
    assert shares == sorted(shares, reverse=True)
    assert shares[3] < 0.3


def test_without_time_the_policy_decides():
    heart = load_problem("heart")
    policy = build_policy(heart, "greedy", time_limit=0)
    (leaf,), none = policy.nodes, build_policy(heart, "none").root
    assert (leaf.is_open, leaf.decision) == (True, none.decision)
    assert leaf.posterior == pytest.approx(none.posterior)
    assert leaf.emc == pytest.approx(none.emc)
    assert (policy.exact, policy.status) == (False, "time")
    assert policy.verdict.endswith("100.0% of the cases reach a state where it only decides.")


def test_a_set_with_too_many_outcomes_is_acquired_in_parts(monkeypatch):
    problem = load_problem("heart")
    whole = build_policy(problem, "markov-blanket")
    monkeypatch.setattr(situations, "MAX_OUTCOMES", 16)
    parts = build_policy(problem, "markov-blanket")
    assert len(parts.root.branches) <= 16
    assert parts.expected_total_cost == pytest.approx(whole.expected_total_cost)
    assert (parts.exact, parts.status) == (False, "memory")
    assert "acquired in parts" in parts.verdict


def test_a_rule_may_acquire_what_cannot_matter():
    problem = naive_bayes(2)  # no feature says anything
    useless = RuleSolver("all", lambda s: s.builder.relevance.graph.all if not s.known else 0)
    policy = useless.build(problem, Limits())
    assert policy.root.features == problem.features
    assert policy.n_paths == 4


def test_thirty_features_need_no_table():
    problem = replace(noisy_bayes(30), misclassification=[[0, 60], [60, 0]])
    policy = build_policy(problem, "greedy", max_states=200)
    assert len(policy.nodes) <= 200
    assert policy.expected_total_cost < emc(problem)
