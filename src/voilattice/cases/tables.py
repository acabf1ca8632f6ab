"""Tables of cases: read as the states of a problem from raw values, or drawn from a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError, located, warn_user
from voilattice.model.network import Network
from voilattice.model.problem import Problem
from voilattice.model.raw_values import MISSING, UNSEEN, Codes, as_cells
from voilattice.wording import find_close, quote

__all__ = ["Cases", "absent_features", "column_names", "draw_cases", "read_cases"]


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases by the numbers of their states.

    Parameters
    ----------
    n_rows
        The number of cases.
    codes
        The state of each feature in each case, or `MISSING`; all features have a column.
    truth
        The true class of each case; None: there is no column for the target.
    unseen
        For each column with cells that stand for no state: these cells as text, and their number.
    """

    n_rows: int
    codes: Mapping[str, Codes]
    truth: Codes | None
    unseen: Mapping[str, Mapping[str, int]]


def read_cases(problem: Problem, table: Any, *, strict: bool) -> Cases:
    """Read a data frame, or any mapping of column names to columns, as cases of a problem.

    Parameters
    ----------
    strict
        Refuse a cell that stands for no state. Otherwise it is missing.
    """
    names = column_names(table)
    columns = {}
    for name in names:
        if name in problem.features or name == problem.target:
            with located(str(name)):
                columns[name] = as_cells(table[name])
    lengths = {len(table[name]) for name in names}
    if len(lengths) > 1:
        raise InputError(f"the columns are of different lengths: {sorted(lengths)}")
    n_rows = lengths.pop() if lengths else 0
    codes: dict[str, Codes] = {}
    unseen: dict[str, dict[str, int]] = {}
    for name, cells in columns.items():
        with located(name):
            found = problem.reader(name).codes(cells)
        odd = found == UNSEEN
        if odd.any():
            if strict or name == problem.target:
                row = int(odd.argmax())
                raise UnknownNameError(
                    f"no state {quote(cells[row : row + 1].tolist()[0])}; its states are "
                    f"{', '.join(map(repr, problem.states(name)))}",
                    f"{name}, row {row + 1}",
                )
            unseen[name] = dict(Counter(map(str, cells[odd].tolist())).most_common())
            found = np.where(odd, MISSING, found)
        codes[name] = found
    truth = codes.pop(problem.target, None)
    if truth is not None and (truth == MISSING).any():
        row = int((truth == MISSING).argmax())
        raise InputError(
            f"the true class is missing; leave this row out, or {problem.target!r} in all rows",
            f"{problem.target}, row {row + 1}",
        )
    _check_evidence(problem, codes)
    if names:  # without columns there are no cases
        _check_columns(problem, names)
    nowhere = np.full(n_rows, MISSING)
    codes = {name: codes.get(name, nowhere) for name in problem.features}
    return Cases(n_rows, codes, truth, unseen)


def column_names(table: Any) -> list[Any]:
    """Return the names of the columns of a mapping or a data frame."""
    if isinstance(table, Mapping):
        return list(table)
    if not hasattr(table, "columns"):
        raise InputError(
            f"must be a data frame or a mapping of columns, got {quote(table)}", "cases"
        )
    return list(table.columns)


def absent_features(problem: Problem, columns: Collection[object]) -> list[str]:
    """Return the unknown features that have no column, or raise `InputError` if none has one."""
    unknown = [name for name in problem.features if name not in problem.evidence]
    absent = [name for name in unknown if name not in columns]
    if absent and absent == unknown:
        raise InputError(f"has a column for none of the features; they are {', '.join(absent)}")
    return absent


def draw_cases(
    network: Network, n: int, rng: np.random.Generator
) -> dict[str, NDArray[np.object_]]:
    """Return n cases drawn from a network: a column of states for each node."""
    codes: dict[int, NDArray[np.intp]] = {}
    while len(codes) < len(network):
        for node, parents in enumerate(network.parents):
            if node not in codes and all(parent in codes for parent in parents):
                rows = network.tables[node][tuple(codes[parent] for parent in parents)]
                rows = np.broadcast_to(rows, (n, rows.shape[-1]))
                below = np.cumsum(rows, axis=1) < rng.random((n, 1))
                codes[node] = np.minimum(below.sum(axis=1), rows.shape[-1] - 1)
    return {
        name: np.array(network.states[node], dtype=object)[codes[node]]
        for node, name in enumerate(network.names)
    }


def _check_columns(problem: Problem, columns: Collection[object]) -> None:
    """Raise `InputError` if no column is a feature; warn of columns that may be misspelt."""
    with located("cases"):
        absent = absent_features(problem, columns)
    unused = [name for name in columns if name not in problem.network.names]
    for name in absent:
        if (close := find_close(name, unused)) is not None:
            warn_user(f"the table has no column {name!r}; {close!r} is not used")


def _check_evidence(problem: Problem, codes: Mapping[str, Codes]) -> None:
    """Raise `InputError` where a cell contradicts the problem's own evidence."""
    for name, state in problem.evidence.items():
        if name in codes:
            wrong = (codes[name] >= 0) & (codes[name] != problem.states(name).index(state))
            if wrong.any():
                place = f"{name}, row {int(wrong.argmax()) + 1}"
                raise InputError(f"must be {state!r}, the problem's own evidence", place)
