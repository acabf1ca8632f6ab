"""What it costs to find the optimal policy where rounds or limits count.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import arguments
from large_problems import naive_bayes
from timing import best_of

from voilattice import Problem, build_policy, load_problem
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.exact.batch_solution import BatchSolution, BatchSpace
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.search import ao_star
from voilattice.policy import rules


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    growth: tuple[int, ...]  # numbers of binary features
    in_numpy: int  # the most of them for the readable engine
    searched: int  # features of the problem that is searched too


FULL = Sizes(growth=(6, 8, 10, 11, 12, 13), in_numpy=8, searched=6)
SMALL = Sizes(growth=(3, 4), in_numpy=4, searched=3)

ROUND_COST = 10.0


def main(small: bool = False) -> None:
    """Measure everything."""
    sizes = SMALL if small else FULL
    solve(visited(naive_bayes(3, seed=0)), "compiled")  # load the compiled engine
    growth(sizes)
    limits(sizes)
    against_search(sizes)
    curve()


def visited(problem: Problem, **limits: float) -> Problem:
    """Return a problem in which each round costs something, with these limits."""
    costs = replace(problem.costs, round_cost=ROUND_COST)
    return replace(problem, costs=costs, limits=PathLimits(**limits))


def solve(problem: Problem, engine: str) -> BatchSolution:
    """Return the optimum of a problem, from nothing."""
    return BatchSolution(BatchSpace(problem, engine=engine), problem)


def growth(sizes: Sizes) -> None:
    """One more binary feature makes four times as many entries, where steps acquire sets."""
    print("rounds that cost something, naive Bayes, all from nothing")
    print("  features        entries      time   ns an entry   / one by one   NumPy / compiled")
    for n in sizes.growth:
        problem = naive_bayes(n, seed=0)
        entries = math.prod(len(problem.states(f)) + 2 for f in problem.features)
        repeats = 3 if n < 12 else 1
        ours = best_of(lambda p=problem: solve(visited(p), "compiled"), repeats)
        plain = best_of(
            lambda p=problem: PlainSolution(PlainSpace(p, engine="compiled"), p), repeats
        )
        line = (
            f"  {n:8} {entries:14,} {ours:8.3f}s {1e9 * ours / entries:13.1f} {ours / plain:14.1f}"
        )
        if n <= sizes.in_numpy:
            numpy = best_of(lambda p=problem: solve(visited(p), "python"), repeats)
            line += f" {numpy / ours:18.1f}"
        print(line)


def limits(sizes: Sizes) -> None:
    """Measure limits: one on rounds solves the table once for each round, others once in all."""
    n = max(sizes.growth[:-1])
    problem = naive_bayes(n, seed=0)
    free = best_of(lambda: solve(visited(problem), "compiled"), 1)
    print(f"\nlimits, {n} features: time / that without limits")
    for limit in ({"rounds": 2}, {"rounds": 4}, {"features": 4}, {"spend": 60.0}):
        limited = visited(problem, **limit)
        ((name, most),) = limit.items()
        print(
            f"  {name:8} {most:6g} {best_of(lambda p=limited: solve(p, 'compiled'), 1) / free:8.2f}"
        )


def against_search(sizes: Sizes) -> None:
    """Measure the search, which tries all sets too, state by state."""
    problem = visited(naive_bayes(sizes.searched, seed=0))
    table = best_of(lambda: solve(problem, "python"))
    search = best_of(lambda: ao_star.Search(problem, (rules.greedy_la, rules.batch)), 1)
    print(f"\nsearch / table in NumPy, {sizes.searched} features {search / table:10.1f}")


def curve() -> None:
    """Print what the cost of a round changes: from one by one to a single batch."""
    asia = load_problem("asia")
    print("\nasia: the cost of a round, the expected total cost, rounds of the longest path")
    for cost in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        priced = replace(asia, costs=replace(asia.costs, round_cost=cost))
        policy = build_policy(priced, "optimal")
        print(f"  {cost:6.1f} {policy.expected_total_cost:10.2f} {policy.depth:4}")


if __name__ == "__main__":
    arguments.run(main, __doc__)
