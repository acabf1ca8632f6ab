"""How long a classifier takes to fit and to predict.

    make bench

A table like the medical ones, half numbers and half categories, with prices and stakes; all
settings are defaults. Rows are predicted with every cell there, and with 5% of the cells missing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import arguments
import numpy as np

from voilattice.learning import Recipe
from voilattice.sklearn import AcquiringClassifier

T = TypeVar("T")

PRICES = (1, 1, 5, 7, 7, 20, 50, 100, 3, 2, 2, 10, 4)
STAKES = ((0, 200), (300, 0))


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    n_rows: int
    n_features: int
    n_predicted: int
    recipe: Recipe | str


FULL = Sizes(1_000, 13, 100_000, "auto")
SMALL = Sizes(120, 5, 500, "naive")


def draw_table(n_rows: int, n_features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns that hang together by four causes, and labels that follow from two."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_rows, 4))
    y = np.where(causes[:, 0] + 0.7 * causes[:, 1] + rng.normal(size=n_rows) > 0, "ill", "well")
    table = np.empty((n_rows, n_features), dtype=object)
    for k in range(n_features):
        value = causes[:, k % 4] + rng.normal(size=n_rows)
        n = 2 + k % 3
        levels = np.clip((value + 2) * n / 4, 0, n - 1).astype(int)
        table[:, k] = np.round(50 + 10 * value, 1) if k % 2 else [f"level {c}" for c in levels]
    return table, y


def timed(what: str, work: Callable[[], T]) -> T:
    start = time.perf_counter()
    found = work()
    print(f"  {what:44} {time.perf_counter() - start:8.2f} s")
    return found


def main(small: bool = False) -> None:
    sizes = SMALL if small else FULL
    print(f"{sizes.n_rows:,} rows x {sizes.n_features} features, recipe {sizes.recipe}")
    X, y = draw_table(sizes.n_rows, sizes.n_features, seed=0)
    new, truth = draw_table(sizes.n_predicted, sizes.n_features, seed=1)
    prices = {k: PRICES[k] for k in range(sizes.n_features)}
    for n_jobs in (1, 2):
        clf = AcquiringClassifier(
            prices, misclassification=STAKES, recipe=sizes.recipe, n_jobs=n_jobs
        )
        timed(f"fit, n_jobs={n_jobs}", lambda clf=clf: clf.fit(X, y))
    chosen = f"{clf.recipe_}; {clf.policy_.n_acquisitions:,} acquisitions"
    print(f"  recipe: {chosen}, exact: {clf.policy_.exact}")
    found = timed(f"predict {sizes.n_predicted:,} rows", lambda: clf.predict(new))
    gaps = new.copy()
    gaps[np.random.default_rng(2).random(new.shape) < 0.05] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that not all of the policy was worked out
        timed("the same, 5% of the cells missing", lambda: clf.predict(gaps))
    print(f"  accuracy {np.mean(found == truth):.3f}, total cost {-clf.score(new, truth):.2f}")


if __name__ == "__main__":
    arguments.run(main, __doc__)
