"""A drawn table with numbers, categories and gaps, and what its features cost."""

from __future__ import annotations

import numpy as np

from voilattice import Discount, FeatureCosts, Group
from voilattice.learning import DataTable, as_table

COSTS = FeatureCosts(
    {"age": 1, "ward": 2, "fever": 4, "scan": 9, "gene": 3},
    groups=(Group("visit", 1.5, ("age", "fever")),),
    discounts=(Discount("laboratory", {"scan": 2, "gene": 1}),),
)
STAKES = ("asymmetric", 30.0)


def draw_clinic(n: int, seed: int = 0, missing: float = 0.05) -> DataTable:
    """Return cases in which every column tells something about ``ill``."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.35
    columns = {
        "age": np.round(rng.normal(50 + 12 * ill, 12)),
        "ward": np.where(rng.random(n) < 0.3 + 0.4 * ill, "north", "south").astype(object),
        "fever": np.round(rng.normal(37 + 1.2 * ill, 0.7), 1),
        "scan": np.where(rng.random(n) < 0.1 + 0.8 * ill, "dark", "clear").astype(object),
        "gene": rng.integers(0, 3, n) + ill,
    }
    cells = {name: list(column) for name, column in columns.items()}
    for column in cells.values():
        for row in np.flatnonzero(rng.random(n) < missing):
            column[row] = None
    return as_table({**cells, "ill": np.where(ill, "yes", "no").tolist()})
