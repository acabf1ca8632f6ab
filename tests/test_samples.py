"""What a sample says of a mean."""

import numpy as np
import pytest
from scipy import stats

from voilattice.samples import standard_error


def test_the_standard_error_is_that_of_scipy():
    values = np.random.default_rng(0).normal(5, 2, 40)
    assert standard_error(values) == pytest.approx(stats.sem(values))


@pytest.mark.parametrize("values", [[], [7.0]])
def test_fewer_than_two_values_have_no_standard_error(values):
    assert standard_error(values) is None
