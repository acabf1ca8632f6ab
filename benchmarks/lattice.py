"""How fast the lattice grows, beside the same growth with pyAgrum's independence queries.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import arguments
from random_problems import random_problem
from timing import best_of

from voilattice import Lattice, Problem
from voilattice.feature_sets import to_mask
from voilattice.lattice import growth
from voilattice.lattice.independence import graph_of


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured: problems by their number of features and their seed."""

    n_features: int
    sample: int  # sets that pyAgrum tests
    engines: tuple[int, int]  # the problem on which the two engines are compared
    growth: tuple[tuple[int, int], ...]


FULL = Sizes(20, 3000, (12, 3), ((12, 3), (14, 5), (16, 4), (18, 8), (20, 11)))
SMALL = Sizes(10, 50, (8, 3), ((8, 3), (10, 3)))


def grown(problem: Problem, engine: str = "compiled") -> Lattice:
    return Lattice(problem, engine=engine)


def candidates(problem: Problem) -> list[int]:
    """Return the sets that growth one feature at a time has to test: V and what is just above."""
    relevant = [k for k in range(len(problem.features)) if graph_of(problem).relevant(0) >> k & 1]
    levels = growth.grow_levels(graph_of(problem), 0)
    return sorted({to_mask(row) | 1 << k for level in levels for row in level for k in relevant})


def pyagrum_seconds(problem: Problem, sets: list[int]) -> float:
    """Return the time to test `sets` with pyAgrum, each up to the first member that fails."""
    bn = problem.network.to_pyagrum()
    y = bn.idFromName(problem.target)
    nodes = [bn.idFromName(name) for name in problem.features]
    members = [[nodes[k] for k in range(len(nodes)) if s >> k & 1] for s in sets]
    start = time.perf_counter()
    for s in members:
        for x in s:
            if bn.isIndependent(x, y, [other for other in s if other != x]):
                break
    return time.perf_counter() - start


def main(small: bool = False) -> None:
    """Measure the growth of one lattice, then of larger and larger ones."""
    sizes = SMALL if small else FULL
    against_pyagrum(sizes)
    print()
    growth_by_size(sizes)


def against_pyagrum(sizes: Sizes) -> None:
    """Compare the engines with pyAgrum's queries, and with each other."""
    problem = random_problem(sizes.n_features, 1, 0.2)
    grown(problem)  # load the compiled engine
    v = grown(problem)
    ours = best_of(lambda: grown(problem))
    sets = candidates(problem)
    sample = random.Random(0).sample(sets, min(sizes.sample, len(sets)))
    theirs = min(pyagrum_seconds(problem, sample) for _ in range(3)) * len(sets) / len(sample)
    print(f"{sizes.n_features} features, {len(v):,} irreducible sets, {len(sets):,} sets tested")
    print(f"  compiled engine                              {ours:8.3f} s")
    print(f"  pyAgrum's queries, from a sample of {len(sample):5,}    {theirs:8.1f} s")
    print(f"  ratio                                        {theirs / ours:8.0f}")
    other = random_problem(*sizes.engines, 0.3)
    ratio = best_of(lambda: grown(other, "python")) / best_of(lambda: grown(other))
    print(f"  Python engine / compiled engine, {len(grown(other)):5,} sets  {ratio:8.0f}")
    print(f"  bytes a set                                  {v.nbytes / len(v):8.1f}")


def growth_by_size(sizes: Sizes) -> None:
    """Show that the time grows with nodes x features."""
    print("growth: time in proportion to nodes x features")
    print("  features      nodes   seconds   ns / (node x feature)   relative")
    first = 0.0
    for n, seed in sizes.growth:
        problem = random_problem(n, seed, 0.3)
        v = grown(problem)
        seconds = best_of(lambda problem=problem: grown(problem))
        each = seconds / len(v) / n
        first = first or each
        print(f"  {n:8} {len(v):10,} {seconds:9.3f} {1e9 * each:17.0f} {each / first:16.2f}")


if __name__ == "__main__":
    arguments.run(main, __doc__)
