"""How fast a whole lattice is valued and the best set is found.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds.
"""

from __future__ import annotations

import itertools
import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import arguments
import numpy as np
from random_problems import random_problem
from timing import best_of, one_thread
from with_pyagrum import evi_with_pyagrum

from voilattice import FeatureCosts, Lattice, Problem, best_set, read_network
from voilattice.budgets import memory_limit
from voilattice.feature_sets import membership
from voilattice.valuation import tables
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.tables import expected_emcs, expected_emcs_in, root_table

STATM = Path("/proc/self/statm")  # the memory of this process, on Linux
HEPAR2 = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks" / "hepar2.bif"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    n_against_pyagrum: int  # features; pyAgrum values every subset of them
    n_features: int  # of the problem of (b), (c) and (d)
    budgets: tuple[int, ...]  # MiB
    growth: tuple[tuple[int, int], ...]  # problems: the number of features and the seed
    n_findings: int  # of hepar2
    time_limit: float  # seconds, for each search in hepar2


FULL = Sizes(10, 20, (256, 64, 32), ((12, 3), (14, 5), (16, 4), (18, 8), (20, 4)), 40, 30.0)
SMALL = Sizes(6, 16, (16, 1), ((8, 8), (10, 8)), 6, 1.0)  # 1 MiB splits the sets


def against_pyagrum(sizes: Sizes) -> None:
    n = sizes.n_against_pyagrum
    problem = random_problem(n, 5, 0.35, max_states=3)
    lattice = Lattice(problem)
    states = [len(problem.states(f)) for f in problem.features]
    value_lattice(problem, lattice=lattice, engine="compiled")  # load it
    by_kernel = best_of(lambda: value_lattice(problem, lattice=lattice, engine="compiled"), 20)
    by_numpy = best_of(lambda: value_lattice(problem, lattice=lattice, engine="python"), 20)
    bn = problem.network.to_pyagrum()
    start = time.perf_counter()
    theirs = {
        frozenset(s): evi_with_pyagrum(problem, bn, s)
        for size in range(len(problem.features) + 1)
        for s in itertools.combinations(problem.features, size)
    }
    seconds = time.perf_counter() - start
    values = value_lattice(problem, lattice=lattice)
    worst = max(abs(theirs[s] - values.evi[k]) for k, s in enumerate(lattice))
    print(
        f"(a) {n} features of {min(states)} to {max(states)} states, "
        f"{len(lattice)} irreducible sets"
    )
    print(f"    all of them, compiled engine (loaded)    {1e3 * by_kernel:10.2f} ms")
    print(f"    all of them, NumPy engine                {1e3 * by_numpy:10.2f} ms")
    print(f"    pyAgrum's LazyPropagation, {2**n:5,} subsets {1e3 * seconds:10.0f} ms")
    print(f"    ratio to the compiled engine             {seconds / by_kernel:10.0f}")
    print(f"    ratio to the NumPy engine                {seconds / by_numpy:10.0f}")
    print(f"    largest difference                       {worst:10.1e}")


def against_numpy_sum(sizes: Sizes) -> None:
    problem = random_problem(sizes.n_features, 1, 0.2)
    rows = Lattice(problem).rows
    counts = membership(rows, sizes.n_features).sum(axis=0)
    # The rarest feature first, as the engine sums them: it takes this table without a copy.
    features = [int(k) for k in np.argsort(counts, kind="stable") if counts[k]]
    root = root_table(problem, {}, features)

    def walk() -> int:
        counted: list[int] = []
        expected_emcs_in(
            root,
            features,
            problem.misclassification,
            rows,
            engine="compiled",
            count_cells=counted.append,
        )
        return sum(counted)

    with one_thread(tables):
        cells = walk()
        ours = cells / best_of(walk)
    # As many cells as the walk reads, in portions that a machine can hold.
    portion = np.random.default_rng(0).random(cells // 8)
    theirs = 8 * len(portion) / best_of(lambda: [portion.sum() for _ in range(8)])
    print(
        f"(b) {sizes.n_features} binary features, {len(rows):,} irreducible sets, "
        f"{cells / 1e6:,.0f} M cells summed"
    )
    print(f"    cells a second, one thread, every EVI included  {ours / 1e9:6.2f} G")
    print(f"    what numpy.sum reads of as many cells, in 8 arrays{theirs / 1e9:6.2f} G")
    print(f"    ratio                                           {ours / theirs:6.2f}")


def within_budget(sizes: Sizes) -> None:
    if not STATM.exists():
        print(f"(c) left out: this system has no {STATM}")
        return
    problem = random_problem(sizes.n_features, 1, 0.2)
    rows = Lattice(problem).rows
    print(f"(c) growth of the process while {len(rows):,} sets are valued, by budget")
    expected_emcs(problem, {}, rows, engine="compiled")
    for budget in sizes.budgets:
        with memory_limit(budget << 20):
            seconds, peak = watched(lambda: expected_emcs(problem, {}, rows, engine="compiled"))
        print(f"    budget {budget:3} MiB: it grew by {peak / 2**20:5.1f} MiB, {seconds:.2f} s")


def watched(work: Callable[[], object]) -> tuple[float, float]:
    """Return the time and the growth of this process's memory while `work` runs."""
    peak, done = 0, threading.Event()
    start_bytes = resident_bytes()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, resident_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return seconds, max(peak - start_bytes, 0)


def resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * resource.getpagesize()


def share_of_sets_valued(sizes: Sizes) -> None:
    problem = random_problem(sizes.n_features, 1, 0.2)
    n_sets = len(Lattice(problem))
    print(f"(d) sets valued by best, of {n_sets:,} irreducible ones, by price level")
    assert isinstance(problem.costs, FeatureCosts)
    for factor in (0.03, 0.3, 3.0):
        prices = {f: factor * p for f, p in problem.costs.prices.items()}
        priced = replace(problem, costs=FeatureCosts(prices))
        found = best_set(priced, engine="compiled")
        seconds = best_of(lambda priced=priced: best_set(priced, engine="compiled"), 3)
        share = 100 * found.n_evaluated / n_sets
        print(
            f"    prices x {factor:4}: best has {len(found.features):2} features; "
            f"{found.n_evaluated:5,} valued, {share:.2f} %, {seconds:.2f} s"
        )


def growth(sizes: Sizes) -> None:
    print("(e) growth: time for all EVIs, by lattice")
    print("    features      sets     M cells   seconds   ns a cell of the sets")
    for n, seed in sizes.growth:
        problem = random_problem(n, seed, 0.25)
        rows = Lattice(problem).rows
        expected_emcs(problem, {}, rows, engine="compiled")
        seconds = best_of(
            lambda problem=problem, rows=rows: expected_emcs(problem, {}, rows, engine="compiled"),
            3,
        )
        member = membership(rows, n)
        cells = float((2 * 2.0 ** member.sum(axis=1)).sum())
        print(
            f"    {n:8} {len(rows):9,} {cells / 1e6:11.1f} {seconds:9.3f} "
            f"{1e9 * seconds / cells:15.2f}"
        )


def hepar2(sizes: Sizes) -> None:
    if not HEPAR2.exists():
        print("(f) left out: hepar2.bif is not in shared/data/networks beside the project")
        return
    network = read_network(HEPAR2)
    inner = {parent for parents in network.parents for parent in parents}
    leaves = [name for k, name in enumerate(network.names) if k not in inner]
    leaves = leaves[: sizes.n_findings]
    rng = np.random.default_rng(0)
    prices = {name: float(rng.integers(1, 101)) for name in leaves}
    print(
        f"(f) best of {len(leaves)} findings of hepar2, target Cirrhosis, prior EMC 200, "
        f"prices 1 to 100"
    )
    for kind in ("symmetric", "asymmetric"):
        problem = Problem.create(network, "Cirrhosis", prices, (kind, 200.0), features=leaves)
        start = time.perf_counter()
        found = best_set(problem, time_limit=sizes.time_limit)
        seconds = time.perf_counter() - start
        print(
            f"    {kind:10}: benefit {found.benefit:6.2f}, bound {found.bound:6.2f}, "
            f"optimal {found.exact}, {found.n_evaluated:,} sets valued, {seconds:.1f} s"
        )


def main(small: bool = False) -> None:
    """Run all of them."""
    sizes = SMALL if small else FULL
    parts = (against_pyagrum, against_numpy_sum, within_budget, share_of_sets_valued, growth)
    for measure in (*parts, hepar2):
        measure(sizes)
        print()


if __name__ == "__main__":
    arguments.run(main, __doc__)
