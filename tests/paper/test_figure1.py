"""Figure 1 and Table 2 of the paper."""

import pytest

from voilattice import load_problem, value
from voilattice.model.stakes import scaled_costs
from voilattice.valuation.valuation import posterior

PROBLEM = load_problem("figure1")


@pytest.mark.parametrize(
    ("features", "evi", "cost", "benefit"),
    [(["X1", "X2"], 5.4, 15, -9.6), (["X1"], 1.2, 5, -3.8), (["X2"], 0, 10, -10)],
)
def test_values_of_figure_1(features, evi, cost, benefit):
    result = value(PROBLEM, features)
    assert result.emc == pytest.approx(17.6, abs=1e-9)
    assert result.evi == pytest.approx(evi, abs=1e-9)
    assert result.cost == pytest.approx(cost, abs=1e-9)
    assert result.benefit == pytest.approx(benefit, abs=1e-9)


def test_the_leaves_of_figure_2_have_these_risks():
    # P(Y = T | X1 = T, X2 = T) = 0.144 / 0.18, and so on, by hand from the table.
    assert posterior(PROBLEM, {"X1": "T", "X2": "T"})["T"] == pytest.approx(0.8)
    assert value(PROBLEM, [], {"X1": "T", "X2": "F"}).emc == pytest.approx(20)
    assert value(PROBLEM, [], {"X1": "F"}).emc == pytest.approx(5)


def test_table_2():
    symmetric = scaled_costs("symmetric", 1, [0.6510, 0.3490])
    assert symmetric[0, 1] == symmetric[1, 0] == pytest.approx(2.866, abs=1e-3)
    # The paper prints the two asymmetric entries the wrong way round: its own text asks that
    # either constant decision costs 1, so the rarer class y2 is the dearer one to miss.
    asymmetric = scaled_costs("asymmetric", 1, [0.6510, 0.3490])
    assert asymmetric[0, 1] == pytest.approx(2.866, abs=1e-3)  # say y1, is y2
    assert asymmetric[1, 0] == pytest.approx(1.536, abs=1e-3)  # say y2, is y1
