"""How fast a whole policy is built, and followed for a table of cases.

    make bench

Everything is measured side by side in this run; the ratios are what counts, not the seconds.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import Any

import arguments
import numpy as np
import pyagrum
from random_problems import random_problem
from timing import best_of
from with_pyagrum import evi_with_pyagrum

from voilattice import Lattice, Problem, cost, emc, load_problem
from voilattice.cases.application import apply_policy
from voilattice.cases.tables import draw_cases
from voilattice.policy.solvers import build_policy, policy_names
from voilattice.policy.sweep import Sweep
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.lattice_values import value_lattice


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    n_features: int
    step: int  # between the prior EMCs of the sweep, from 0 to 2000
    n_rows: int  # of the table that policies are applied to


FULL = Sizes(13, 50, 100_000)  # as many features as the paper's heart data set
SMALL = Sizes(7, 1000, 500)


def brute_force_etc(problem: Problem, bn: Any, known: dict[str, str]) -> float:
    """Return the expected total cost of greedy-la by valuing every subset at every place."""
    free = [f for f in problem.features if f not in known]
    offers = {}
    for size in range(len(free) + 1):
        for s in itertools.combinations(free, size):
            price = cost(problem, s, known)
            benefit = evi_with_pyagrum(problem, bn, s, known) - price
            offers[s] = Offer(benefit, price, problem.feature_mask(s))
    risk, tol = emc(problem, known), tolerance(emc(problem, known))
    best = winner(offers, offers.__getitem__, tol)
    if not best:
        return risk
    x = winner([(f,) for f in best], offers.__getitem__, tol)[0]
    engine = pyagrum.LazyPropagation(bn)
    engine.setEvidence(known)
    engine.makeInference()
    chances = engine.posterior(x).toarray()
    return cost(problem, [x], known) + sum(
        float(p) * brute_force_etc(problem, bn, known | {x: state})
        for state, p in zip(problem.states(x), chances, strict=True)
        if p > 0
    )


def main(small: bool = False) -> None:
    """Measure the builders, greedy-la beside brute force, and a sweep."""
    sizes = SMALL if small else FULL
    problem = random_problem(sizes.n_features, 1, 0.25, max_states=3)
    problem = problem.with_expected("symmetric", 2000.0)
    builders(problem)
    against_brute_force(problem)
    sweeping(problem, [float(x) for x in range(0, 2001, sizes.step)])
    applying(load_problem("heart"), sizes.n_rows)


def builders(problem: Problem) -> None:
    """Set every policy beside one valuation of the whole lattice."""
    lattice = Lattice(problem)
    value_lattice(problem, lattice=lattice, engine="compiled")  # load it
    root = best_of(lambda: value_lattice(problem, lattice=lattice, engine="compiled"))
    print(f"{len(problem.features)} features of 2 to 3 states, {len(lattice):,} irreducible sets")
    print(f"  one valuation of the root's lattice      {1e3 * root:9.1f} ms")
    for name in policy_names():
        policy = build_policy(problem, name)
        seconds = best_of(lambda name=name: build_policy(problem, name), 3)
        print(
            f"  {name:14} {1e3 * seconds:9.1f} ms = {seconds / root:6.1f} roots; "
            f"{len(policy.nodes):6,} states, {policy.n_paths:7,} paths"
        )


def against_brute_force(problem: Problem) -> None:
    """Set greedy-la beside pyAgrum's valuation of every subset at every place."""
    policy = build_policy(problem, "greedy-la")
    ours = best_of(lambda: build_policy(problem, "greedy-la"), 3)
    start = time.perf_counter()
    theirs = brute_force_etc(problem, problem.network.to_pyagrum(), {})
    seconds = time.perf_counter() - start
    gap = abs(theirs - policy.expected_total_cost)
    print(f"  greedy-la by brute force with pyAgrum    {seconds:9.1f} s, same cost to {gap:.0e}")
    print(f"  ratio                                    {seconds / ours:9.0f}")


def sweeping(problem: Problem, points: list[float]) -> None:
    """Compare a sweep that values every set once with one policy after another."""
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


def applying(problem: Problem, n_rows: int) -> None:
    """Follow policies for a table of raw values, without and with missing cells."""
    rng = np.random.default_rng(0)
    cases = draw_cases(problem.network, n_rows, rng)
    for name, cuts in problem.bins.items():
        values = np.array([cuts[0] - 1, *cuts])  # the last bin holds the last cut
        numbers = {state: code for code, state in enumerate(problem.states(name))}
        cases[name] = values[[numbers[state] for state in cases[name]]]
    lacking = {name: cases[name].astype(object) for name in problem.features}
    for column in lacking.values():
        column[rng.random(n_rows) < 0.1] = None
    print(f"{n_rows:,} rows of {len(problem.features)} raw columns, and with 10 % missing cells")
    for name in policy_names():
        policy = build_policy(problem, name)
        whole = best_of(lambda policy=policy: apply_policy(policy, cases), 3)
        part = best_of(lambda policy=policy: apply_policy(policy, lacking), 1)
        print(f"  {name:14} {whole:8.3f} s {part:8.3f} s")


if __name__ == "__main__":
    arguments.run(main, __doc__)
