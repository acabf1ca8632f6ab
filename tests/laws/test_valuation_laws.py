"""Laws of EMC and EVI over random problems."""

from dataclasses import replace

import pytest
from helpers.strategies import problems
from hypothesis import given
from hypothesis import strategies as st

from voilattice import emc, evi


def free_features(problem):
    return [f for f in problem.features if f not in problem.evidence]


@given(problems(), st.data())
def test_a_superset_never_has_lower_evi(problem, data):
    larger = {f for f in free_features(problem) if data.draw(st.booleans())}
    smaller = {f for f in larger if data.draw(st.booleans())}
    assert evi(problem, smaller) <= evi(problem, larger) + 1e-9


@given(problems())
def test_evi_lies_between_0_and_emc(problem):
    worth = evi(problem, free_features(problem))
    assert 0 <= worth <= emc(problem) + 1e-9


@given(problems(), st.floats(0.01, 100))
def test_evi_is_linear_in_the_misclassification_costs(problem, factor):
    scaled = replace(problem, misclassification=factor * problem.misclassification)
    features = free_features(problem)
    assert evi(scaled, features) == pytest.approx(factor * evi(problem, features), abs=1e-7)


@given(problems())
def test_the_order_of_the_features_changes_nothing(problem):
    other = replace(problem, features=tuple(reversed(problem.features)))
    features = free_features(problem)
    assert evi(other, features) == pytest.approx(evi(problem, features), abs=1e-9)
