"""Situations: what a rule sees, and what follows."""

import pytest
from helpers.problems import rare_findings

from voilattice import build_policy, emc
from voilattice.policy.situations import PolicyBuilder


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
