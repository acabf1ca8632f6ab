"""Tables and questions for methods that buy features."""

from __future__ import annotations

import warnings

import numpy as np

from voilattice import ConditionalCost, Discount, FeatureCosts, Group
from voilattice.errors import DataWarning
from voilattice.learning.data_tables import as_table
from voilattice.learning.evaluation import ask_question

# Of four ill and four well cases, three ill ones and one well one have a positive test.
EIGHT = {
    "y": ["ill"] * 4 + ["well"] * 4,
    "test": ["+", "+", "+", "-", "+", "-", "-", "-"],
}


def ask(columns, costs, stakes, target="y", **others):
    """Return the table and the question of some columns."""
    table = as_table(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of constant columns
        question, _ = ask_question(table, target, costs, stakes, **others)
    return table, question


def draw_codes(rng, n_rows, sizes, n_classes=2, missing=0.0):
    """Return rows of codes that depend on their classes; -1 is a missing cell."""
    classes = rng.integers(0, n_classes, n_rows)
    columns = []
    for size in sizes:
        shares = rng.dirichlet(np.ones(size), n_classes)
        column = np.array([rng.choice(size, p=shares[y]) for y in classes])
        columns.append(np.where(rng.random(n_rows) < missing, -1, column))
    return np.stack(columns, axis=1), classes


def code_table(codes, classes):
    """Return the columns y, a, b, c, ... of rows of codes; each state is a category."""
    columns = {"y": [f"class {y}" for y in classes]}
    for k in range(codes.shape[1]):
        columns["abcdefghij"[k]] = [None if x < 0 else f"s{x}" for x in codes[:, k]]
    return columns


def draw_table(seed, n=120, n_classes=2):
    """Return columns of every kind: numbers, categories, missing cells, a constant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
    columns = {
        "number": y + rng.normal(0, 0.7, n),
        "whole": (2 * y + rng.poisson(3, n)).astype(float),
        "color": np.array(["red", "green", "blue"])[(y + (rng.random(n) < 0.3)) % 3].astype(object),
        "flag": np.where(rng.random(n) < 0.5, "yes", "no").astype(object),
        "noise": rng.normal(size=n),
        "constant": np.full(n, "same", dtype=object),
    }
    for name in ("number", "noise"):
        columns[name][rng.random(n) < 0.2] = np.nan
    columns["color"][rng.random(n) < 0.2] = None
    return {"y": np.array([f"class {k}" for k in y], dtype=object), **columns}


class Fatigue:
    """Costs of one's own: everything gets dearer with what is known already."""

    def cost(self, features, evidence):
        return sum(1.0 + 0.25 * len(evidence) for _ in features)


PRICES = {"number": 4.0, "whole": 2.0, "color": 1.5, "flag": 1.0, "noise": 0.0}
COSTS = {
    "prices": FeatureCosts(PRICES),
    "own": Fatigue(),
    "free": FeatureCosts(dict.fromkeys(PRICES, 0.0)),
    "groups": FeatureCosts(PRICES, (Group("lab", 3.0, ("number", "color")),)),
    "discounts": FeatureCosts(PRICES, discounts=(Discount("d", {"number": 2.0, "whole": 1.0}),)),
    "conditional": FeatureCosts(
        PRICES, conditional=(ConditionalCost("number", {"color": "red"}, 0.5),)
    ),
}
