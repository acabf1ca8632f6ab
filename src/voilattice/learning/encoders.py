"""How cells become the numbers that scikit-learn takes.

A `CellReader` learns from one table which categories there are, and reads the cells of any other
table. An `Encoder` also learns what to put in the place of missing cells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.learning.cells import write_number
from voilattice.learning.columns import Codes, check_typed, encode_column, to_numbers
from voilattice.learning.data_tables import DataTable

__all__ = ["CellReader", "Encoder"]

LARGEST = float(np.finfo(np.float32).max)  # trees of scikit-learn have single precision
LEAST_HELD = 0.9  # of the different numbers of a column, that single precision tells apart

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellReader:
    """The cells of some features; a category that was not learned from is missing."""

    features: tuple[str, ...]
    levels: Mapping[str, Sequence[str]]  # of the features that hold categories

    @classmethod
    def fit(cls, table: DataTable, features: Sequence[str], numeric: Collection[str]) -> CellReader:
        levels = {
            name: check_typed(table.column(name)).different()
            for name in features
            if name not in numeric
        }
        return cls(tuple(features), levels)

    def column(self, table: DataTable, name: str) -> Table:
        """Return numbers, or the places of categories; NaN: missing or unseen."""
        column = check_typed(table.column(name))
        if name not in self.levels:
            return to_numbers(column).values
        codes, _ = encode_column(column, self.levels[name], None)
        return np.where(codes < 0, np.nan, codes)

    def states(self, table: DataTable) -> dict[str, list[str | None]]:
        """Return the cells of each feature as evidence; None where one is missing or unseen."""
        found: dict[str, list[str | None]] = {}
        for name in self.features:
            cells = self.column(table, name).tolist()
            levels = self.levels.get(name)
            found[name] = [
                None if x != x else write_number(x) if levels is None else levels[int(x)]  # noqa: PLR0124
                for x in cells
            ]
        return found


@dataclass(frozen=True, slots=True)
class Encoder:
    """The columns of some features.

    Numbers have their median where one is missing, and are scaled if asked; categories have the
    most frequent one, and become a column of 0 and 1 for each category. Numbers that are too large
    or too close for single precision (times in nanoseconds) become their ranks among the numbers
    that were learned from, with straight lines between them.
    """

    reader: CellReader
    ranked: Mapping[str, Table]  # the different numbers, in order, of features that are ranked
    transformer: Any
    owners: Codes  # the feature of each column that comes out

    @classmethod
    def fit(
        cls, table: DataTable, features: Sequence[str], numeric: Collection[str], *, scale: bool
    ) -> Encoder:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        reader = CellReader.fit(table, features, numeric)
        levels = reader.levels
        numbered = [k for k, name in enumerate(features) if name not in levels]
        numbers = {features[k]: reader.column(table, features[k]) for k in numbered}
        ranked = {name: _different(x) for name, x in numbers.items() if not _is_held(x)}
        others = [k for k, name in enumerate(features) if name in levels]
        median = SimpleImputer(strategy="median")
        transformer = ColumnTransformer(
            [
                ("numbers", make_pipeline(median, StandardScaler()) if scale else median, numbered),
                (
                    "categories",
                    make_pipeline(
                        SimpleImputer(strategy="most_frequent"),
                        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                    ),
                    others,
                ),
            ]
        )
        made = cls(reader, ranked, transformer, np.zeros(0, dtype=np.intp))
        transformer.fit(made.cells(table))
        n_columns = [len(levels[features[k]]) for k in others]
        owners = np.concatenate([numbered, np.repeat(others, n_columns)]).astype(np.intp)
        return cls(reader, ranked, transformer, owners)

    @property
    def features(self) -> tuple[str, ...]:
        return self.reader.features

    def numbers(self, table: DataTable) -> Table:
        """Return the columns for scikit-learn."""
        with np.errstate(over="ignore"):
            found: Table = self.transformer.transform(self.cells(table))
        return found.clip(-LARGEST, LARGEST)

    def cells(self, table: DataTable) -> Table:
        """Return a column for each feature, NaN where a cell is missing or its value is unseen."""
        columns = []
        for name in self.features:
            cells = self.reader.column(table, name)
            if (known := self.ranked.get(name)) is not None:
                # Of quarters, no difference is infinite.
                cells = np.interp(cells / 4, known / 4, np.arange(float(len(known))))
            columns.append(cells)
        return np.stack(columns, axis=1)

    def states(self, table: DataTable) -> dict[str, list[str | None]]:
        """Return the cells of each feature as evidence; None where one is missing or unseen."""
        return self.reader.states(table)


def _is_held(values: Table) -> bool:
    """Return whether single precision holds these numbers, and tells them apart."""
    different = _different(values)
    with np.errstate(over="ignore"):
        short = np.unique(different.astype(np.float32))
    return bool(np.isfinite(short).all()) and len(short) >= LEAST_HELD * len(different)


def _different(values: Table) -> Table:
    return np.unique(values[~np.isnan(values)])
