"""The bound "once or repeatedly" is a lower bound at every evidence, whatever is repeated."""

import pytest
from helpers.strategies import possible_evidence, problems
from helpers.table_dp import optimal_cost
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice.policy.optimal.repeats import Shape, repeat_bound


@pytest.mark.parametrize("shape", [(0, 0), (1, 0), (2, 1), (0, 1), (0, 2), (6, 0)])
@settings(max_examples=300)
@given(problem=problems(max_features=5, max_hidden=3), seed=st.integers(0, 2**32 - 1))
def test_it_is_never_above_the_optimum(shape, problem, seed):
    bound = repeat_bound(problem, engine="python", shape=Shape(*shape), max_hub_states=64)
    if bound is None:
        return
    for share in (0.0, 0.3, 0.6):
        known = possible_evidence(problem, seed, share)
        want = optimal_cost(problem.with_evidence(known), largest=len(problem.features))
        assert bound.lower(known) <= want * (1 + 1e-9) + 1e-9
