"""Results of the arena, and the journal that keeps them.

A `Result` is what one method cost on the new cases of one cell: a data set at a level, split. The
score that STreeD's authors use is

    normalized cost = mean total cost / (price of all features + (1 - P(y₁)) max c_ij),

where y₁ is the most frequent class of the cell: so data sets can be averaged.

The journal is a file to which each result is appended as soon as it is there. A run that is killed
loses only what was under way. Lines that are cut off or damaged are ignored, and computed again.
A heading says what the results depend on.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from voilattice.arena.methods import Answer
from voilattice.arena.suites import Cell
from voilattice.errors import InputError
from voilattice.model.costs import price_set

__all__ = ["Failure", "Journal", "Key", "Result", "score"]

NAME = "journal.jsonl"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Which method was tried where."""

    data_set: str
    level: str
    split: int
    method: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a method cost on the new cases of a cell, on average."""

    total_cost: float
    feature_cost: float
    errors: float  # the share of cases whose decision is not the true class
    normalized: float
    n_cases: int
    recipe: str  # that our method used; empty: not ours
    model_cost: float | None  # what our policy costs on cases drawn from its model
    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no result."""

    failure: str


def score(answer: Answer, cell: Cell) -> Result:
    """Return what an answer costs."""
    question, found = cell.question, answer.decided
    truth = question.classes_of(cell.outside)
    names = np.array(question.decisions, dtype=object)
    classes = np.array(question.classes, dtype=object)
    paid = found.feature_cost + question.cost[found.decision, truth]
    if not np.isfinite(paid).all():
        raise ArithmeticError("a cost is not finite")
    everything = price_set(question.costs, frozenset(question.features), {})
    counts = np.bincount(np.concatenate([truth, question.classes_of(cell.inside)]))
    largest = (1 - counts.max() / counts.sum()) * question.cost.max()
    scale = everything + float(largest)
    total = float(paid.mean())
    return Result(
        total,
        float(found.feature_cost.mean()),
        float((names[found.decision] != classes[truth]).mean()),
        total / scale if scale else 0.0,
        len(truth),
        answer.recipe,
        answer.model_cost,
        answer.seconds,
    )


class Journal:
    """The file of a folder that keeps results.

    Parameters
    ----------
    version
        Of the code. Results of different versions are never mixed.
    checksums
        What identifies each data set. Others may come to the journal later.
    """

    def __init__(self, folder: Path, version: str, checksums: Mapping[str, str]) -> None:
        self.path = folder / NAME
        self._version, self._checksums = version, dict(checksums)

    def read(self) -> dict[Key, Result | Failure]:
        """Return what is there.

        Raises
        ------
        InputError
            The file is no journal, or is one of another version or of other data.
        """
        return self._parse()[0]

    @contextmanager
    def open(self) -> Iterator[_Writer]:
        """Return what appends results, in a ``with`` block; no other run may write meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            _lock(file, self.path)
            _, known, is_whole = self._parse()
            if not is_whole:
                file.write(b"\n")  # a line that was cut off must not spoil the next one
            if not self._checksums.items() <= known.items():
                heading = {"voilattice": self._version, "data": self._checksums}
                file.write(json.dumps(heading).encode() + b"\n")
            file.flush()
            yield _Writer(file)

    def _parse(self) -> tuple[dict[Key, Result | Failure], dict[str, str], bool]:
        """Return the results, the data sets they belong to, and whether the last line is whole."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            content = b""
        found: dict[Key, Result | Failure] = {}
        known: dict[str, str] = {}
        for line in content.splitlines(keepends=True):
            if (entry := _decode(line)) is None:
                continue
            if "voilattice" in entry:
                self._check(entry)
                known |= entry["data"]
            elif known and (pair := _result(entry)) is not None:
                found[pair[0]] = pair[1]
        if content.count(b"\n") and not known:
            raise InputError(f"{self.path} is no journal of the arena", "out")
        return found, known, not content or content.endswith(b"\n")

    def _check(self, heading: Mapping[str, Any]) -> None:
        theirs, data = heading["voilattice"], heading.get("data")
        if not isinstance(data, dict):
            raise InputError(f"{self.path} is no journal of the arena", "out")
        other = [name for name, own in self._checksums.items() if data.get(name, own) != own]
        if theirs == self._version and not other:
            return
        what = f"on other {other[0]} data" if other else "of another version of voilattice"
        raise InputError(
            f"{self.path} holds results {what}; give another folder, or remove the file", "out"
        )


@dataclass(frozen=True, slots=True)
class _Writer:
    file: BinaryIO

    def append(self, found: Iterable[tuple[Key, Result | Failure]]) -> None:
        """Write results to the disk."""
        for key, result in found:
            line = json.dumps({**asdict(key), **asdict(result)})
            self.file.write(line.encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())


def _decode(line: bytes) -> dict[str, Any] | None:
    """Return what a line says; None: it is cut off or damaged."""
    try:
        entry = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _result(entry: dict[str, Any]) -> tuple[Key, Result | Failure] | None:
    """Return the result of a line; None: the line is damaged."""
    try:
        key = Key(*(entry.pop(field.name) for field in fields(Key)))
        hash(key)
        found = Failure(**entry) if "failure" in entry else Result(**entry)
    except (TypeError, KeyError):
        return None
    is_whole = isinstance(found, Failure) or (
        isinstance(found.total_cost, float) and math.isfinite(found.total_cost)
    )
    return (key, found) if is_whole else None


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the journal, or raise `InputError` if another run writes to it."""
    try:
        import fcntl
    except ImportError:  # Windows has no such module
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"another run writes to {path}; wait for it", "out") from None
