"""How fast a problem is learned from a file.

    make bench

The structure search is pyAgrum's; the ratio says what everything else takes beside it.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import arguments
import numpy as np

from voilattice import Problem, write_problem
from voilattice.learning import Recipe, read_table
from voilattice.learning.networks import fit_network
from voilattice.learning.parameters import fit_tables
from voilattice.learning.preparation import prepare_cases
from voilattice.learning.structure import learn_structure

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    n_rows: int
    n_columns: int


FULL = Sizes(50_000, 36)
SMALL = Sizes(300, 8)


def draw_table(n_rows: int, n_columns: int, missing: float) -> dict[str, list[str]]:
    """Return columns that hang together by four causes: half numbers, half categories."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(n_rows, 4))
    columns = {"y": np.where(causes[:, 0] + rng.normal(size=n_rows) > 0, "ill", "well").tolist()}
    for k in range(1, n_columns):
        value = causes[:, k % 4] + rng.normal(size=n_rows)
        if k % 2:
            cells = [f"{v:.4g}" for v in value]
        else:
            n = 2 + k % 5
            cells = [f"c{c}" for c in np.clip((value + 2) * n / 4, 0, n - 1).astype(int)]
        gaps = rng.random(n_rows) < missing
        columns[f"x{k}"] = ["" if gap else cell for cell, gap in zip(cells, gaps, strict=True)]
    return columns


def learn_from_file(sizes: Sizes, missing: float) -> None:
    """Print what each step from a file to a problem folder takes."""
    columns = draw_table(sizes.n_rows, sizes.n_columns, missing)
    print(f"{sizes.n_rows:,} rows, {sizes.n_columns} columns, {missing:.0%} of the cells missing")
    times: dict[str, float] = {}

    def timed(step: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        found = work()
        times[step] = time.perf_counter() - start
        return found

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        with file.open("w", newline="") as out:
            csv.writer(out).writerows([columns, *zip(*columns.values(), strict=True)])
        recipe = Recipe()
        table = timed("reading", lambda: read_table(file))
        cases = timed("bins and states", lambda: prepare_cases(table, "y", recipe))
        n_states = [len(states) for states in cases.states.values()]
        parents = timed(
            "structure (pyAgrum)", lambda: learn_structure(n_states, cases.codes, "y", recipe)
        )
        codes = list(cases.codes.values())
        timed("parameters", lambda: fit_tables(n_states, parents, codes, recipe.smoothing))
        learned = fit_network(cases, recipe)
        features = [name for name in learned.network.names if name != "y"]
        problem = Problem.create(
            learned.network, "y", dict.fromkeys(features, 1.0), ("symmetric", 9)
        )
        timed("writing", lambda: write_problem(problem, Path(folder) / "problem"))
    for step, seconds in times.items():
        print(f"  {step:36} {seconds:8.2f} s")
    total = sum(times.values())
    print(f"  {'all':36} {total:8.2f} s")
    print(f"  all / structure search               {total / times['structure (pyAgrum)']:8.1f}")


def main(small: bool = False) -> None:
    sizes = SMALL if small else FULL
    for missing in (0.0, 0.05):
        learn_from_file(sizes, missing)


if __name__ == "__main__":
    arguments.run(main, __doc__)
