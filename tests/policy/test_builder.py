"""The policy of a rule, built situation by situation."""

from dataclasses import replace

import pytest
from helpers.problems import naive_bayes, noisy_bayes, rare_findings
from helpers.solving import POLICIES, RULES, join_tree_only
from helpers.strategies import problems
from hypothesis import given, settings

from voilattice import build_policy, emc, load_problem
from voilattice.policy import builder as policy_builder
from voilattice.policy.policy import Acquisition
from voilattice.policy.solvers import Limits, RuleSolver


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
    if name != "greedy-la":
        assert whole.expected_total_cost - tol <= cut.expected_total_cost
    if name in {"greedy", "batch"}:  # the others take steps that pay only together with later ones
        assert cut.expected_total_cost <= emc(problem) + tol
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


def test_a_policy_that_acquires_nothing_is_exact_without_time():
    policy = build_policy(load_problem("heart"), "none", time_limit=0)
    assert (policy.exact, policy.status, policy.root.is_open) == (True, "ok", False)


def test_a_set_with_too_many_outcomes_is_acquired_in_parts(monkeypatch):
    problem = load_problem("heart")
    whole = build_policy(problem, "markov-blanket")
    monkeypatch.setattr(policy_builder, "MAX_OUTCOMES", 16)
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


def test_what_cut_the_tree_is_said_even_if_best_sets_ran_out_of_time():
    builder = policy_builder.PolicyBuilder(load_problem("asia"), max_states=3)
    builder.shortfalls.add("time")
    cut = builder.build("greedy-la", RULES["greedy-la"])
    assert cut.status == "memory"
    assert "worked out within the limit of states" in cut.certificate.note
