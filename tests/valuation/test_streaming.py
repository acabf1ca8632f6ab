"""The expected EMC of large sets, part by part."""

import pytest
from helpers.problems import noisy_bayes
from helpers.strategies import possible_evidence, problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import load_problem, value
from voilattice.budgets import Deadline
from voilattice.valuation import streaming
from voilattice.valuation.streaming import bracket_expected_emc


@examples(60)
@given(problems(max_features=6, max_hidden=2), st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_the_parts_add_up_to_the_whole(problem, seed, cells):
    evidence = possible_evidence(problem, seed, share=0.3)
    known = problem.merge_evidence(evidence)
    chosen = [name for name in problem.features if name not in known]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "PART_CELLS", cells)
        found = bracket_expected_emc(problem, chosen, evidence)
    assert found.exact
    assert found.lower == pytest.approx(found.upper, abs=1e-9)
    assert found.upper == pytest.approx(value(problem, chosen, evidence).expected_emc, abs=1e-9)


@examples(60)
@given(problems(min_features=2, max_features=6, max_hidden=2), st.integers(1, 8))
def test_the_bounds_enclose_the_value_whenever_it_stops(problem, parts):
    chosen = [name for name in problem.features if name not in problem.evidence]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "PART_CELLS", 1)
        patch.setattr(streaming, "MAX_PARTS", parts)
        found = bracket_expected_emc(problem, chosen)
    exact = value(problem, chosen).expected_emc
    assert found.lower - 1e-9 <= exact <= found.upper + 1e-9
    assert found.upper <= value(problem, ()).emc + 1e-9


def test_without_time_there_are_bounds():
    problem = noisy_bayes(30)
    found = bracket_expected_emc(problem, problem.features, deadline=Deadline(0.0))
    assert not found.exact
    assert 0 <= found.lower < found.upper <= value(problem, ()).emc + 1e-9


def test_parts_that_are_known_for_sure_are_not_split():
    asia = load_problem("asia")
    assert bracket_expected_emc(asia, ()).upper == pytest.approx(value(asia, ()).emc)
