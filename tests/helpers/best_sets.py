"""Problems whose best set all subsets tell, and searches with tables of few cells."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from helpers.problems import chain, noisy_bayes, random_problem, twins, varied
from voilattice import FeatureCosts, load_problem
from voilattice.model.costs import Group
from voilattice.valuation import set_search


@contextmanager
def small_tables(cells):
    """Let only tables of so many cells be made, so that the nodes on top have none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_search, "WHOLE_CELLS", cells)
        patch.setattr(set_search, "SPLIT_CELLS", cells)
        yield patch


def grouped():
    """Seven features of several sizes, two groups, and prices that depend on nothing."""
    names = "ABCDEFG"
    prices = {name: 0.5 + 0.375 * place for place, name in enumerate(names)}
    costs = FeatureCosts(prices, (Group("g", 1.0, ("A", "C")), Group("h", 0.75, ("B", "E", "F"))))
    parents = {
        "A": ["Y"],
        "B": ["Y"],
        "C": ["Y", "A"],
        "D": ["Y"],
        "E": ["Y"],
        "F": ["E"],
        "G": ["Y"],
    }
    sizes = {"Y": 2, "A": 2, "B": 3, "C": 2, "D": 2, "E": 2, "F": 2, "G": 3}
    return random_problem(parents, sizes, costs, seed=5, stakes=60.0)


def many_prices():
    """Naive Bayes whose features have prices from 0.1 to 3."""
    problem = replace(noisy_bayes(6), misclassification=[[0, 60], [36, 0]])
    prices = np.random.default_rng(0).uniform(0.1, 3, 6).tolist()
    return replace(problem, costs=FeatureCosts(dict(zip(problem.features, prices, strict=True))))


FIXED = {
    "grouped": grouped(),
    "varied": varied(),
    "noisy Bayes": noisy_bayes(6),
    "dear stakes": replace(noisy_bayes(5, 1), misclassification=[[0, 60], [90, 0]]),
    "many prices": many_prices(),
    "twins": twins(2.0, 1.0, 1.0),
    "free twins": twins(0.0, 0.0),
    "chain": chain(3),
    "asia": load_problem("asia"),
}
