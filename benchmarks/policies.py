"""How fast a whole policy is built.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds.
"""

from __future__ import annotations

import itertools
import random
import time

from random_problems import random_problem
from timing import best_of
from with_pyagrum import evi_with_pyagrum

from voilattice import Lattice, Problem
from voilattice.lattice_values import value_lattice
from voilattice.policies import POLICIES, Sweep, build_policy
from voilattice.policy import Acquisition, Policy

SAMPLE = 300


def subset_seconds(problem: Problem) -> float:
    """Return the time that pyAgrum takes for the EVI of one subset of all features, on average."""
    bn = problem.network.to_pyagrum()
    subsets = [
        s
        for size in range(len(problem.features) + 1)
        for s in itertools.combinations(problem.features, size)
    ]
    start = time.perf_counter()
    for s in random.Random(0).sample(subsets, SAMPLE):
        evi_with_pyagrum(problem, bn, s)
    return (time.perf_counter() - start) / SAMPLE


def subsets_in_tree(policy: Policy) -> int:
    """Return how many subsets brute force values in all places of the unfolded tree together."""
    n = len(policy.problem.features)
    total, stack = 0, [(len(policy.nodes) - 1, 0)]
    while stack:
        number, known = stack.pop()
        node = policy.nodes[number]
        total += 1 << (n - known)
        if isinstance(node, Acquisition):
            stack += [(branch.child, known + len(node.features)) for branch in node.branches]
    return total


def main() -> None:
    """Measure the builders on a network of the size of the paper's heart data set."""
    problem = random_problem(13, 1, 0.25, max_states=3).with_expected("symmetric", 2000.0)
    lattice = Lattice(problem)
    value_lattice(problem, lattice=lattice, engine="compiled")  # load it
    root = best_of(lambda: value_lattice(problem, lattice=lattice, engine="compiled"))
    print(f"13 features of 2 to 3 states, {len(lattice):,} irreducible sets")
    print(f"  one valuation of the root's lattice      {1e3 * root:9.1f} ms")
    for name in POLICIES:
        policy = build_policy(problem, name)
        seconds = best_of(lambda name=name: build_policy(problem, name), 3)
        print(
            f"  {name:14} {1e3 * seconds:9.1f} ms = {seconds / root:6.1f} roots; "
            f"{len(policy.nodes):6,} states, {policy.n_paths:7,} paths"
        )
    policy = build_policy(problem, "greedy-la")
    ours = best_of(lambda: build_policy(problem, "greedy-la"), 3)
    each, n = subset_seconds(problem), subsets_in_tree(policy)
    print(f"  greedy-la by brute force with pyAgrum: {n:,} subsets at {1e3 * each:.2f} ms")
    print(f"  ratio                                    {n * each / ours:9.0f}")

    points = [float(x) for x in range(0, 2001, 50)]
    start = time.perf_counter()
    for x in points:
        build_policy(problem.with_expected("symmetric", x), "greedy-la")
    alone = time.perf_counter() - start
    start = time.perf_counter()
    sweep = Sweep(problem, "symmetric")
    for x in points:
        build_policy(problem.with_expected("symmetric", x), "greedy-la", sweep=sweep)
    shared = time.perf_counter() - start
    print(
        f"  a sweep of {len(points)} points: {alone:.2f} s one by one, {shared:.2f} s valuing once"
    )


if __name__ == "__main__":
    main()
