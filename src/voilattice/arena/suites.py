"""Suites: data sets with prices, levels of stakes, and splits into rows to learn from and new rows.

A `Suite` is either Turney's five data sets, or a folder of the user's own. In a folder, a data set
is a subfolder or a table:

    FOLDER/heart/low.toml, high.toml             a level is a cost file
    FOLDER/heart/train-1.csv, test-1.csv, ...    splits that come with the data, or
    FOLDER/heart/heart.csv                       one table, which is split at random
    FOLDER/clinic.csv, clinic.toml               a table beside its cost file: one level
    FOLDER/clinic.csv, clinic-low.toml, ...      the same with several levels

Random splits put two thirds of the rows of each class into the part to learn from. Split k of a
data set is the same in every run and for every method.

Turney's data sets have six levels: misclassification costs of both kinds, with an a-priori EMC
(expected misclassification cost) of 50, 200 and 1000. Costs of such a kind become a matrix by the
shares of the classes in the rows to learn from.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from glob import escape as glob_escape
from pathlib import Path

import numpy as np

from voilattice.errors import InputError, UnknownNameError, within
from voilattice.files.problems import read_costs
from voilattice.learning.columns import check_typed, encode_column, find_classes
from voilattice.learning.data_tables import DataTable, read_table
from voilattice.learning.evaluation import ask_question
from voilattice.learning.rivals import Question
from voilattice.model.costs import FeatureCosts
from voilattice.model.problem import Misclassification
from voilattice.model.stakes import KINDS
from voilattice.paper.datasets import DATASETS, load_dataset
from voilattice.wording import count_noun, nearest, quote

__all__ = ["TURNEY", "Cell", "DataSet", "Level", "Suite", "load_suite"]

TURNEY = "turney"
TURNEY_STAKES = (50, 200, 1000)
TARGET = "class"
SHARE_INSIDE = 2 / 3  # of the rows of a random split, to learn from
TABLES = (".csv", ".tsv", ".parquet")
LEVELS = ("low", "middle", "high")  # the order of these names
ONE_LEVEL = "given"  # the level of a table with one cost file


@dataclass(frozen=True, slots=True)
class Level:
    """What features and wrong decisions cost."""

    costs: FeatureCosts
    stakes: Misclassification


@dataclass(frozen=True, slots=True)
class Cell:
    """One data set at one level, split: rows to learn from, new rows, and the question."""

    inside: DataTable
    outside: DataTable
    question: Question


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set, its levels and its splits.

    Parameters
    ----------
    table
        All rows, which are split at random; None: the splits come with the data.
    splits
        By their numbers: the rows to learn from, and the new ones.
    """

    name: str
    target: str
    levels: Mapping[str, Level]
    table: DataTable | None
    splits: Mapping[int, tuple[DataTable, DataTable]]

    def split_number(self, place: int) -> int:
        """Return the number of the split at a place, counted from 0."""
        return place + 1 if self.table is not None else sorted(self.splits)[place]

    def cell(self, level: str, split: int) -> Cell:
        """Return a level of a split."""
        here = self.levels[level]
        inside, outside = self.splits[split] if self.table is None else self._deal(split)
        question, _ = ask_question(inside, self.target, here.costs, here.stakes)
        for name in question.features:
            with within(f"{self.name}, new rows of split {split}"):
                outside.column(name)
        if (question.classes_of(outside) < 0).any():
            raise InputError(
                f"{self.name}, split {split}: a new row has a class that no row to learn from has; "
                f"name it in [misclassification], or leave the row out",
                "data",
            )
        return Cell(inside, outside, question)

    def check(self, n_splits: int) -> None:
        """Raise `VoilatticeError` if a level or a split cannot be used."""
        numbers = [self.split_number(place) for place in range(n_splits)]
        for level in self.levels:
            with within(f"{self.name}, {level}"):
                self.cell(level, numbers[0])
        if self.table is None:
            for number in numbers[1:]:
                with within(self.name):
                    self.cell(next(iter(self.levels)), number)

    def _deal(self, split: int) -> tuple[DataTable, DataTable]:
        """Split the rows that have a class at random, those of each class evenly."""
        assert self.table is not None
        column = check_typed(self.table.column(self.target))
        codes, _ = encode_column(column, find_classes(column, None), None)
        random = np.random.default_rng(split)
        inside: list[int] = []
        outside: list[int] = []
        for code in range(codes.max() + 1):
            rows = random.permutation(np.flatnonzero(codes == code))
            if len(rows) < 2:
                raise InputError(
                    f"{self.name}: a class has one row only, and must be in both parts of a split; "
                    f"leave the row out",
                    "data",
                )
            n_inside = min(max(round(SHARE_INSIDE * len(rows)), 1), len(rows) - 1)
            inside += rows[:n_inside].tolist()
            outside += rows[n_inside:].tolist()
        return self.table.take(np.sort(inside)), self.table.take(np.sort(outside))


@dataclass(frozen=True, slots=True)
class Suite:
    """Data sets by their names, with as many splits each."""

    data_sets: Mapping[str, DataSet]
    n_splits: int
    source: str = ""  # where they come from: a folder, or ``turney``

    @property
    def checksums(self) -> dict[str, str]:
        """What identifies the costs and the table of each data set, and each split of its own."""
        return {part: own for data in self.data_sets.values() for part, own in _checksums(data)}


def load_suite(
    source: str, *, target: str = TARGET, n_splits: int = 5, only: Collection[str] = ()
) -> Suite:
    """Return a suite: ``turney``, or that of a folder.

    Parameters
    ----------
    only
        The names of the data sets that are wanted; by default all of them.

    Raises
    ------
    VoilatticeError
        There is no such folder, it holds no data set, or a data set has fewer splits than wanted.
    """
    if n_splits < 1:
        raise InputError(f"must be at least 1, got {n_splits}", "splits")
    loaders: Mapping[str, Callable[[], DataSet]]
    if source == TURNEY:
        loaders = {name: partial(_load_turney, name) for name in DATASETS}
    else:
        loaders = _find_data_sets(Path(source), target, n_splits)
    for name in only:
        if name not in loaders:
            raise UnknownNameError(
                f"no data set {quote(name)}{nearest(name, list(loaders))}", "only"
            )
    wanted = [name for name in loaders if not only or name in only]
    return Suite({name: loaders[name]() for name in wanted}, n_splits, source)


def _load_turney(name: str) -> DataSet:
    data = DATASETS[name]
    levels = {
        f"{kind} {emc}": Level(data.costs, (kind, float(emc)))
        for kind in KINDS
        for emc in TURNEY_STAKES
    }
    return DataSet(name, TARGET, levels, load_dataset(name), {})


def _find_data_sets(folder: Path, target: str, n_splits: int) -> dict[str, Callable[[], DataSet]]:
    """Return what loads each data set of a folder."""
    if not folder.is_dir():
        raise InputError(
            f"{quote(str(folder))} is no folder; give one with data sets, or {TURNEY!r}", "data"
        )
    found: dict[str, Callable[[], DataSet]] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and any(path.glob("*.toml")):
            found[path.name] = partial(_load_folder, path, target, n_splits)
        elif path.suffix.lower() in TABLES and path.is_file():
            costs = _levels_beside(path)
            if costs:
                found[path.stem] = partial(_load_table, path, path.stem, costs, target)
    if not found:
        raise InputError(
            f"{folder} holds no data set: a subfolder with cost files (*.toml) and tables, or a "
            f"table with a cost file of the same name beside it",
            "data",
        )
    return found


def _load_folder(folder: Path, target: str, n_splits: int) -> DataSet:
    costs = {file.stem: file for file in sorted(folder.glob("*.toml"), key=_level_order)}
    pairs = _shipped_splits(folder)
    if not pairs:
        tables = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in TABLES]
        if len(tables) != 1:
            raise InputError(
                f"{folder}: must hold one table, or splits train-1.csv, test-1.csv, ...; found "
                f"{count_noun(len(tables), 'table')}",
                "data",
            )
        return _load_table(tables[0], folder.name, costs, target)
    if len(pairs) < n_splits:
        raise InputError(
            f"{folder} comes with {count_noun(len(pairs), 'split')}, and {n_splits} are wanted",
            "splits",
        )
    splits = {
        number: (_read(pairs[number][0], target), _read(pairs[number][1], target))
        for number in sorted(pairs)[:n_splits]
    }
    return DataSet(folder.name, target, _read_levels(costs), None, splits)


def _load_table(path: Path, name: str, costs: Mapping[str, Path], target: str) -> DataSet:
    return DataSet(name, target, _read_levels(costs), _read(path, target), {})


def _shipped_splits(folder: Path) -> dict[int, tuple[Path, Path]]:
    """Return the tables of each split that comes with the data: to learn from, and new."""
    found = {}
    for train in folder.iterdir():
        match = re.fullmatch(r"train-(\d+)", train.stem)
        if match and train.suffix.lower() in TABLES:
            test = train.with_name(f"test-{match[1]}{train.suffix}")
            if not test.is_file():
                raise InputError(f"{train} has no {test.name} beside it", "data")
            found[int(match[1])] = train, test
    return found


def _levels_beside(table: Path) -> dict[str, Path]:
    """Return the cost files of a table, by the name of their level."""
    one = table.with_suffix(".toml")
    if one.is_file():
        return {ONE_LEVEL: one}
    found = sorted(table.parent.glob(f"{glob_escape(table.stem)}-*.toml"), key=_level_order)
    return {file.stem.removeprefix(f"{table.stem}-"): file for file in found}


def _level_order(file: Path) -> tuple[int, str]:
    """Return the order of levels: low, middle, high, and others by their names."""
    level = file.stem.rpartition("-")[2]
    return (LEVELS.index(level) if level in LEVELS else len(LEVELS), file.stem)


def _read(path: Path, target: str) -> DataTable:
    table = read_table(path)
    with within(str(path)):
        table.column(target)
    return table


def _read_levels(files: Mapping[str, Path]) -> dict[str, Level]:
    levels = {}
    for name, file in files.items():
        given = read_costs(file)
        if given.stakes is None:
            raise InputError(
                "misclassification: is missing; without it nothing is a wrong decision", str(file)
            )
        levels[name] = Level(given.costs, given.stakes)
    return levels


def _checksums(data: DataSet) -> Iterator[tuple[str, str]]:
    """Yield the parts of a data set with their checksums.

    Each level and each split has one of its own, so that others may come later.
    """
    yield data.name, _digest(data.target, "" if data.table is None else data.table.checksum)
    for name, level in data.levels.items():
        yield f"{data.name} {name}", _digest(json.dumps(_declaration(level)))
    for number, (inside, outside) in data.splits.items():
        yield f"{data.name} split {number}", _digest(inside.checksum, outside.checksum)


def _declaration(value: object) -> object:
    """Return all that a value was made from, as JSON has it.

    A level takes every field of every part, so that a kind of cost that comes later is not left
    out. A value of a kind that is not known here is an error.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray() | np.generic():
            return value.tolist()
        case Mapping():
            return [[key, _declaration(item)] for key, item in value.items()]
        case frozenset() | set():
            return sorted(value)
        case tuple() | list():
            return [_declaration(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        made_from = [field.name for field in fields(value) if field.init]
        return [type(value).__name__, *(_declaration(getattr(value, name)) for name in made_from)]
    raise TypeError(f"a level of the arena holds {type(value).__name__}, which has no checksum")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
