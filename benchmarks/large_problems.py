"""Random problems with many features: prices from 1 to 30, and 500 at stake."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from voilattice import Network, Problem

__all__ = ["FAMILIES", "naive_bayes", "priced", "tree_augmented", "two_level"]

N_CAUSES = 6


def priced(
    network: Network, target: str, features: Sequence[str], rng: np.random.Generator
) -> Problem:
    """Return a problem with random prices."""
    prices = {name: float(np.round(rng.uniform(1, 30), 2)) for name in features}
    return Problem.create(network, target, prices, ("symmetric", 500.0), features=features)


def naive_bayes(n: int, seed: int) -> Problem:
    """Return n binary features that depend on the target alone."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(n)]
    tables = {"Y": rng.dirichlet([5, 5]), **{x: rng.dirichlet([1, 1], size=2) for x in names}}
    network = Network.from_tables(_binary(["Y", *names]), {x: ["Y"] for x in names}, tables)
    return priced(network, "Y", names, rng)


def tree_augmented(n: int, seed: int) -> Problem:
    """Return n binary features that depend on the target and on one feature before them."""
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(n)]
    tables = {"Y": rng.dirichlet([5, 5]), names[0]: rng.dirichlet([1, 1], size=2)}
    parents = {names[0]: ["Y"]}
    for i, name in enumerate(names[1:], 1):
        parents[name] = ["Y", names[rng.integers(i)]]
        tables[name] = rng.dirichlet([1, 1], size=(2, 2))
    network = Network.from_tables(_binary(["Y", *names]), parents, tables)
    return priced(network, "Y", names, rng)


def two_level(n: int, seed: int) -> Problem:
    """Return n findings, each a noisy or of one to three causes; the target is one cause."""
    rng = np.random.default_rng(seed)
    causes, names = ["Y", *(f"D{i}" for i in range(1, N_CAUSES))], [f"X{i}" for i in range(n)]
    parents, tables = {}, {}
    for cause in causes:
        p = rng.uniform(0.1, 0.4)
        tables[cause] = np.array([1 - p, p])
    for name in names:
        k = int(rng.integers(1, 4))
        parents[name] = [str(cause) for cause in rng.choice(causes, size=k, replace=False)]
        leak, strength = rng.uniform(0.01, 0.1), rng.uniform(0.2, 0.9, size=k)
        table = np.empty((2,) * k + (2,))
        for on in np.ndindex((2,) * k):
            off = (1 - leak) * float(np.prod(1 - strength * np.array(on)))
            table[on] = off, 1 - off
        tables[name] = table
    network = Network.from_tables(_binary([*causes, *names]), parents, tables)
    return priced(network, "Y", names, rng)


def _binary(names: Sequence[str]) -> dict[str, list[str]]:
    return {name: ["no", "yes"] for name in names}


FAMILIES: dict[str, Callable[[int, int], Problem]] = {
    "naive Bayes": naive_bayes,
    "tree-augmented": tree_augmented,
    "two-level noisy-or": two_level,
}
