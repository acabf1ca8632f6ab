"""Random problems of a given size, the same on every machine."""

from __future__ import annotations

import numpy as np

from voilattice import Network, Problem


def random_problem(
    n: int, seed: int, density: float, max_parents: int = 3, max_states: int = 2
) -> Problem:
    """Return a problem over a random network of n features, the target near the top."""
    rng = np.random.default_rng(seed)
    names = ["Y", *(f"X{k:02d}" for k in range(n))]
    order = [1 + int(k) for k in rng.permutation(n)]
    order.insert(int(rng.integers(0, 3)), 0)
    parents, tables = {}, {}
    counts = {name: int(rng.integers(2, max_states + 1)) for name in names}
    for place, node in enumerate(order):
        above = [names[p] for p in order[:place] if rng.random() < density]
        chosen = [str(p) for p in rng.permutation(above)[:max_parents]]
        parents[names[node]] = chosen
        tables[names[node]] = rng.dirichlet(
            [1.0] * counts[names[node]], [counts[p] for p in chosen]
        )
    network = Network.from_tables(
        {name: list("abcde"[: counts[name]]) for name in names}, parents, tables
    )
    prices = {name: float(rng.integers(1, 101)) for name in names[1:]}
    return Problem.create(network, "Y", prices, ("symmetric", 200.0))
