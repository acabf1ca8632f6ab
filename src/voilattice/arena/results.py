"""Results of the arena, and the journal that keeps them.

A `Result` is what one method cost on the new cases of one cell: a data set at a level, split. The
score that STreeD's authors use is

    normalized cost = mean total cost / (price of all features + (1 - P(y₁)) max c_ij),

where y₁ is the most frequent class of the cell: so data sets can be averaged.

The journal is a file to which each result is appended as soon as it is there. A run that is killed
loses only what was under way. Lines that are cut off or damaged are ignored, and computed again.
The first line says what the results depend on.
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
        str(answer.details.get("recipe", "")),
        answer.details.get("model_cost"),  # type: ignore[arg-type]
        answer.seconds,
    )


class Journal:
    """The file of a folder that keeps results.

    Parameters
    ----------
    heading
        What results depend on. A journal with another heading is refused: it is never mixed.
    """

    def __init__(self, folder: Path, heading: Mapping[str, Any]) -> None:
        self.path = folder / NAME
        self._heading = json.loads(json.dumps(heading))

    def read(self) -> dict[Key, Result | Failure]:
        """Return what is there."""
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return {}
        if lines and lines[0].endswith(b"\n"):
            self._check_heading(lines[0])
        return dict(entry for line in lines[1:] if (entry := _parse(line)) is not None)

    @contextmanager
    def open(self) -> Iterator[_Writer]:
        """Return what appends results, in a ``with`` block; no other run may write meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.read()  # checks the heading
        with self.path.open("a+b") as file:
            _lock(file, self.path)
            file.seek(0)
            content = file.read()
            _, newline, rest = content.partition(b"\n")
            if not newline:  # empty, or killed while it was begun
                file.truncate(0)
                file.write(json.dumps(self._heading).encode() + b"\n")
            elif rest and not rest.endswith(b"\n"):
                file.write(b"\n")  # a line that was cut off must not spoil the next one
            file.flush()
            yield _Writer(file)

    def _check_heading(self, line: bytes) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            raise InputError(f"{self.path} is no journal of the arena", "out") from None
        if not isinstance(found, dict) or found.keys() != self._heading.keys():
            raise InputError(f"{self.path} is no journal of the arena", "out")
        for key, value in self._heading.items():
            theirs = found[key]
            if isinstance(value, dict) and isinstance(theirs, dict):
                # Other data sets may be in the same journal.
                differ = [k for k in value if k in theirs and theirs[k] != value[k]]
                if not differ:
                    continue
                what = f"{key} {differ[0]}"
            elif theirs == value:
                continue
            else:
                what = f"{key} ({theirs})"
            raise InputError(
                f"{self.path} holds results of another {what}; give another folder, or remove the "
                f"file",
                "out",
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


def _parse(line: bytes) -> tuple[Key, Result | Failure] | None:
    """Return the result in a line; None: the line is damaged."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
        key = Key(*(entry.pop(field.name) for field in fields(Key)))
        hash(key)
        found = Failure(**entry) if "failure" in entry else Result(**entry)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    is_whole = isinstance(found, Failure) or (
        isinstance(found.total_cost, float) and math.isfinite(found.total_cost)
    )
    return (key, found) if is_whole else None


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the journal, or raise `InputError` if another run writes to it."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"another run writes to {path}; wait for it", "out") from None
