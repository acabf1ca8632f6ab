"""ICET: what its search sees, and that it knows what errors cost."""

import numpy as np
import pytest

from voilattice.baselines import ICET, icet, tree_growth
from voilattice.baselines.icet import N_INDIVIDUALS, POWER, deal, first_generation
from voilattice.learning import as_table
from voilattice.learning.evaluation import ask_question

pytestmark = pytest.mark.filterwarnings("ignore::voilattice.errors.DataWarning")


def draw(emc, n=120, seed=0):
    """Return a cheap feature that tells much, and a dear one that tells more."""
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b"])[rng.integers(0, 2, n)]
    cells = {name: (y == "a") + rng.normal(0, s, n) for name, s in (("cheap", 0.4), ("dear", 0.3))}
    table = as_table({**cells, "class": y})
    return table, ask_question(table, "class", {"cheap": 1.0, "dear": 20.0}, ("symmetric", emc))[0]


def test_rows_are_dealt_evenly_by_class():
    classes = np.array([0] * 11 + [1] * 6 + [2] * 4, dtype=np.int32)
    inside, outside = deal(classes, np.random.default_rng(0))
    assert sorted([*inside, *outside]) == list(range(21))
    assert len(outside) == 5
    assert (abs(np.bincount(classes[outside]) - np.bincount(classes) / 4) < 1).all()


def test_part_of_the_first_generation_has_the_real_prices():
    prices = np.array([1.0, 7.0])
    bounds = [(0.0, 7.0), (0.0, 7.0), (0.0, 1.0), (0.0, 1.0)]
    first = first_generation(prices, bounds, np.random.default_rng(0))
    assert first.shape == (N_INDIVIDUALS, 4)
    assert first[0, :3].tolist() == [1.0, 7.0, 1.0]
    assert first[0, 3] ** POWER == pytest.approx(0.25)  # EG2 with the confidence of C4.5
    assert ((first[:, :2] == prices).all(axis=1)).sum() == 10
    low, high = np.array(bounds).T
    assert ((first >= low) & (first <= high)).all()


def test_it_knows_what_errors_cost():
    """Turney (1995), section 3.5: the search makes EG2 sensitive to the costs of errors."""
    spent = []
    for emc in (2.0, 2000.0):
        table, question = draw(emc)
        spent.append(ICET().learn(table, question, 0).decide(table).feature_cost.mean())
    assert spent[0] < 2
    assert spent[1] >= 20


def test_both_engines_find_the_same_tree(monkeypatch):
    monkeypatch.setattr(icet, "N_TRIALS", 100)
    table, question = draw(50.0, 40)
    found = []
    for engine in ("python", "compiled"):
        twin = tree_growth.find_twin(engine, 0)
        monkeypatch.setattr(icet, "find_twin", lambda engine, work, twin=twin: twin)
        found.append(ICET().learn(table, question, 1).tree)
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, theirs)
