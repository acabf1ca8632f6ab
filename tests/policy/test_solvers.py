"""Solvers: policies by name, and from a rule of one's own."""

import pickle

import pytest
from helpers.problems import noisy_bayes, structured
from helpers.solving import POLICIES

from voilattice import emc, load_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.optimal.solver import OptimalSolver
from voilattice.policy.policy import Acquisition, Branch, Leaf, Policy
from voilattice.policy.solvers import Limits, build_policy, policy_from_rule


def test_figure_2():
    problem = load_problem("figure1")
    policy = policy_from_rule(
        problem, lambda e: {"X1"} if not e else {"X2"} if e == {"X1": "T"} else set()
    )
    assert policy.expected_total_cost == pytest.approx(23.2, abs=1e-9)
    assert policy.expected_feature_cost == pytest.approx(11, abs=1e-9)
    assert policy.expected_misclassification_cost == pytest.approx(12.2, abs=1e-9)
    assert (policy.n_acquisitions, policy.n_paths, policy.depth) == (2, 3, 2)


def test_a_policy_begins_at_the_evidence_given():
    policy = build_policy(load_problem("asia"), "greedy", {"smoke": "yes"})
    assert policy.root.features == ("xray",)
    assert all("smoke" not in dict(path.evidence) for path in policy.paths())


def test_a_tied_decision_is_the_first_class():
    problem = structured({"X": ["Y"]})  # both classes are as likely, and cost the same
    assert build_policy(problem, "none").root.decision == "T"


def test_nothing_is_decided_on_thirty_features_without_a_table_over_them():
    policy = build_policy(noisy_bayes(30), "none")
    assert policy.n_paths == 1
    with pytest.raises(InputError, match="name: 'greedy' is the name of a registered policy"):
        policy_from_rule(load_problem("asia"), lambda e: set(), name="greedy")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "optimal")) for name in POLICIES],
)
def test_every_policy_takes_a_hundred_features(name):
    problem = noisy_bayes(100)
    policy = build_policy(problem, name, max_states=100, time_limit=2)
    assert policy.expected_total_cost <= emc(problem) + 1e-9
    assert policy.exact or policy.certificate.note


def test_mistakes_are_named():
    asia = load_problem("asia")
    with pytest.raises(UnknownNameError, match=r"no policy 'gredy' \(nearest: 'greedy'\)"):
        build_policy(asia, "gredy")
    leaf = Leaf("yes", (1.0, 0.0), 0.0)
    with pytest.raises(InputError, match="a policy needs at least one node"):
        Policy(asia, "mine", ())
    with pytest.raises(InputError, match="node 1: it leads to node 1, which must come before it"):
        Policy(asia, "mine", (leaf, Acquisition(("xray",), 8.0, (Branch(("yes",), 1.0, 1),))))


def test_a_solver_that_keeps_optima_can_be_sent_to_another_process():
    solver = OptimalSolver()
    problem = load_problem("figure1")
    step = solver.next_step(problem, None, Limits())
    sent = pickle.loads(pickle.dumps(solver))
    assert sent.next_step(problem, None, Limits()) == step
