import numpy as np
import pytest

from voilattice.learning import as_table, preparation
from voilattice.learning.preparation import prepare_cases
from voilattice.learning.recipes import Recipe

AFFORDABLE = Recipe("affordable", 8, structure="tree", parameters="smooth")


def draw(n_numbers, n_names):
    rng = np.random.default_rng(0)
    table = {f"n{k}": rng.normal(size=90) for k in range(n_numbers)}
    table |= {f"c{k}": rng.choice(["p", "q"], 90) for k in range(n_names)}
    return as_table(table | {"y": ["a", "b", "b"] * 30})


@pytest.mark.parametrize(
    ("n_numbers", "n_names", "bins"), [(2, 1, 8), (8, 0, 7), (8, 1, 6), (12, 12, 5)]
)
def test_bins_are_as_many_as_the_optimum_can_afford(n_numbers, n_names, bins):
    """(b + 1)^8 3^k is at most 30 million for b = 7 and k = 0, for b = 6 and k = 1."""
    cases = prepare_cases(draw(n_numbers, n_names), "y", AFFORDABLE)
    assert {len(cuts) + 1 for cuts in cases.cuts.values()} == {bins}


def test_other_recipes_keep_their_bins(monkeypatch):
    monkeypatch.setattr(preparation, "MAX_STATES", 1)
    cases = prepare_cases(draw(2, 1), "y", Recipe("frequency", 7))
    assert len(cases.cuts["n0"]) == 6


def test_other_cuts_give_other_codes():
    cases = prepare_cases(draw(2, 1), "y", AFFORDABLE)
    again = cases.recut({"n0": (0.0,)})
    np.testing.assert_array_equal(again.codes["n0"], cases.values["n0"] >= 0)
    assert again.states["n0"] == ["<0", ">=0"]
    assert again.cuts["n1"] == cases.cuts["n1"]
