"""What a case costs does not depend on the cases beside it, however odd its cells are."""

import numpy as np
import pytest
from helpers.rich_worlds import PARTS, rich_problem

from voilattice import Constraint, FeatureCosts, Network, Problem
from voilattice.cases.application import apply_policy
from voilattice.cases.completion import complete_policy
from voilattice.policy.solvers import build_policy, policy_names


def outcomes(applied):
    """What was done with each case, to the last bit."""
    columns = (
        applied.bought, applied.decision, applied.feature_cost, applied.posterior.tolist(),
        applied.lacking, applied.impossible, applied.unfinished,
    )  # fmt: skip
    return list(zip(*(list(column) for column in columns), strict=True))


def take(cases, rows):
    return {name: [column[row] for row in rows] for name, column in cases.items()}


def assert_alone_as_in_company(policy, problem, cases, rng, **options):
    n = len(next(iter(cases.values())))
    follow = {"problem": problem, "strict": False, "time_limit": None, **options}
    together = outcomes(apply_policy(policy, cases, **follow))
    order = rng.permutation(n)[: 2 * n // 3].tolist()
    shuffled = outcomes(apply_policy(policy, take(cases, order), **follow))
    assert shuffled == [together[row] for row in order]
    for row in range(n):
        assert outcomes(apply_policy(policy, take(cases, [row]), **follow)) == [together[row]]


def test_an_impossible_row_is_billed_alike_beside_another():
    copy = Network.from_tables(
        {"Y": ["0", "1"], "A": ["0", "1"], "B": ["0", "1"], "C": ["0", "1"]},
        {"B": ["A"], "C": ["Y"]},
        {"Y": [0.5, 0.5], "A": [0.5, 0.5], "B": np.eye(2), "C": [[0.9, 0.1], [0.1, 0.9]]},
    )
    problem = Problem.create(
        copy, "Y", FeatureCosts({"A": 1.0, "B": 2.0, "C": 1.0}), [[0, 50], [50, 0]],
        constraints=(Constraint("B", ("A",)), Constraint("C", ("B",))),
    )  # fmt: skip
    cases = {"A": ["1", "0"], "B": ["0", "0"], "C": ["0", "0"]}
    for name in policy_names():
        rng = np.random.default_rng(0)
        assert_alone_as_in_company(name, problem, cases, rng)
        assert_alone_as_in_company(build_policy(problem, name), problem, cases, rng)


@pytest.mark.parametrize("seed", [*range(14), 378])
def test_every_row_is_billed_alike_in_any_company(seed):
    rng = np.random.default_rng(seed)
    problem = rich_problem(seed, PARTS, n_features=int(rng.integers(3, 6)))
    cases = {
        name: rng.choice([*problem.states(name), None], 12).tolist()
        for name in problem.features
        if name not in problem.evidence
    }
    for name in rng.choice(policy_names(), 2, replace=False).tolist():
        cut = build_policy(problem, name, max_states=int(rng.integers(1, 9)))
        whole = complete_policy(cut, time_limit=0)
        for policy in (name, cut, whole):
            assert_alone_as_in_company(policy, problem, cases, rng)
        assert_alone_as_in_company(name, problem, cases, rng, time_limit=0)
