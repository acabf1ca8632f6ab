"""Small tables of cases for the tests of learning."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from voilattice import Network
from voilattice.learning import DataTable, as_table

CHAIN = Network.from_tables(
    {"y": ["no", "yes"], "a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]},
    {"a": ["y"], "b": ["a"]},
    {
        "y": [0.6, 0.4],
        "a": [[0.8, 0.2], [0.1, 0.9]],
        "b": [[0.7, 0.3], [0.2, 0.8]],
        "c": [0.5, 0.5],
    },
)


def table(**columns: Iterable[str | None]) -> DataTable:
    return as_table({name: tuple(cells) for name, cells in columns.items()})


def draw_chain(n: int, seed: int = 0) -> DataTable:
    """Return `n` cases of `CHAIN`, whose nodes are listed parents first."""
    rng = np.random.default_rng(seed)
    codes: list[np.ndarray] = []
    columns = {}
    for node, name in enumerate(CHAIN.names):
        rows = CHAIN.tables[node][tuple(codes[p] for p in CHAIN.parents[node])]
        shares = np.broadcast_to(rows, (n, len(CHAIN.states[node])))
        codes.append((rng.random(n) > shares[:, 0]).astype(int))
        columns[name] = tuple(CHAIN.states[node][k] for k in codes[-1])
    return as_table(columns)
