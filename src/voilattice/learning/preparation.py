"""From a table to cases: each column becomes states, and each cell the number of its state.

Not every column can be used. A column of one value, or of none, tells nothing and is left out.
Others are mistakes (an identifier, a date, text among numbers): one error lists them all. A column
that determines the target by itself may hold what is known only after the decision, a *leak*; it
is used all the same.

*Affordable bins.* The exact optimum has a state for each way in which features are unknown or have
a value: Π (n_i + 1) for n_i values of feature i, up to `MAX_STATES` of them. So columns of numbers
get as many bins as this allows, but not fewer than `LEAST_BINS`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.cases.focus import MAX_STATES
from voilattice.errors import InputError, Remedy, VoilatticeError, located
from voilattice.learning.cells import LEAVE_OUT, Column, Numbers, Unreadable
from voilattice.learning.columns import (
    Codes,
    check_typed,
    encode_column,
    find_categories,
    find_classes,
    find_cuts,
    is_numeric,
    to_numbers,
)
from voilattice.learning.data_tables import DataTable
from voilattice.learning.discretization import bin_labels
from voilattice.learning.recipes import Recipe
from voilattice.model.network import check_names
from voilattice.wording import quote

__all__ = ["AS_THEY_ARE", "Columns", "Prepared", "check_priced", "prepare_cases"]

# A column that determines the target is called a leak if chance makes one less often than this.
CHANCE = 1e-6

LEAST_BINS = 5

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a table are read."""

    ignore: Collection[str] = ()  # left out
    numeric: Collection[str] = ()  # always cut into bins
    categorical: Collection[str] = ()  # never cut
    states: Mapping[str, Sequence[str]] = field(default_factory=dict)  # in the order wanted

    def with_states(self, states: Mapping[str, Sequence[str]]) -> Columns:
        """Return the same with the states of more columns."""
        return replace(self, states={**self.states, **states})

    def check(self, table: DataTable, target: str) -> None:
        """Raise `VoilatticeError` where a name is that of no column, or contradicts another."""
        for parameter in fields(self):
            names = getattr(self, parameter.name)
            if isinstance(names, str):
                raise InputError(f"must be a list of columns, got {quote(names)}", parameter.name)
            for name in names:
                with located(parameter.name):
                    table.column(name)
        for name, wanted in self.states.items():
            if isinstance(wanted, str) or not all(isinstance(state, str) for state in wanted):
                raise InputError(f"must be a list of states, got {quote(wanted)}", f"states.{name}")
        if target in self.ignore:
            raise InputError(f"{quote(target)} is the target", "ignore")
        if target in self.numeric:
            raise InputError(
                f"{quote(target)} is the target, which is never cut into bins", "numeric"
            )
        if both := set(self.numeric) & {*self.categorical, *self.states}:
            raise InputError(f"{quote(min(both))} cannot be a column of names as well", "numeric")
        with located("target"):
            table.column(target)


AS_THEY_ARE = Columns()


@dataclass(frozen=True, slots=True)
class Prepared:
    """The cases of a table, ready to be learned from."""

    target: str
    states: Mapping[str, Sequence[str]]  # of the target and the features, in the table's order
    cuts: Mapping[str, tuple[float, ...]]  # of the columns that were cut into bins
    codes: Mapping[str, Codes]  # of the rows that count
    values: Mapping[str, Weights]  # of the columns that were cut: the numbers, NaN where missing
    weights: Weights | None  # of the rows that count; None: each counts once
    n_left_out: int  # rows without a target
    left_out: tuple[str, ...]  # columns of one value or none
    leaks: tuple[str, ...]  # columns that determine the target by themselves

    @property
    def n_rows(self) -> int:
        return len(self.codes[self.target])

    @property
    def features(self) -> list[str]:
        """The columns beside the target, in order."""
        return [name for name in self.states if name != self.target]

    @property
    def row_weights(self) -> Weights:
        """How many cases each row counts for."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    def recut(self, cuts: Mapping[str, tuple[float, ...]]) -> Prepared:
        """Return the cases with other bins for some columns of numbers."""
        states, codes = dict(self.states), dict(self.codes)
        for name, places in cuts.items():
            states[name] = bin_labels(places)
            codes[name], _ = encode_column(Numbers(self.values[name]), states[name], places)
        return replace(self, states=states, codes=codes, cuts={**self.cuts, **cuts})


def prepare_cases(
    table: DataTable,
    target: str,
    recipe: Recipe,
    columns: Columns = AS_THEY_ARE,
    weights: Any = None,
) -> Prepared:
    """Return the cases of a table; errors as in `learn_network`."""
    columns.check(table, target)
    ignore, numeric, states = columns.ignore, columns.numeric, columns.states
    weights = None if weights is None else _check_weights(weights, table.n_rows)
    with located(f"data.{target}"):
        column = check_typed(table.column(target))
        no_target = column.is_missing
        if no_target.all():
            raise InputError("every cell is missing")
        # The rows stay until the cells are encoded, so that errors name the rows of the table.
        unused = no_target if weights is None else no_target | (weights == 0)
        if unused.all():
            raise InputError("every row with a class has the weight 0")
        column = column.blank(unused)
        found = {target: find_classes(column, states.get(target))}
        classes, _ = encode_column(column, found[target], None)
    codes, cuts, values = {target: classes}, {}, {}
    left_out: list[str] = []
    errors: dict[str, VoilatticeError] = {}
    named = {*columns.categorical, *states}
    if recipe.discretization == "affordable":
        others = {n: c for n, c in table.columns.items() if n != target and n not in ignore}
        recipe = replace(recipe, bins=_affordable_bins(others, numeric, named, recipe.bins))
    for name in table.columns:
        if name == target or name in ignore:
            continue
        try:
            column = check_typed(table.columns[name]).blank(unused)
            if column.n_different() < 2:
                left_out.append(name)
                continue
            if name not in named and (name in numeric or is_numeric(column)):
                cuts[name] = tuple(find_cuts(column, classes, recipe, weights))
                values[name] = to_numbers(column).values
                found[name] = bin_labels(cuts[name])
            else:
                found[name] = find_categories(column, states.get(name), is_declared=name in named)
                check_names("the states", found[name])
        except VoilatticeError as error:
            errors[name] = error
            continue
        codes[name], _ = encode_column(column, found[name], cuts.get(name))
    _raise_all(errors)
    if len(codes) < 2:
        raise InputError(
            f"no column beside the target has two values or more: {_list_names(left_out)}"
            if left_out
            else "there is no column beside the target",
            "data",
        )
    rows = np.flatnonzero(~unused)
    names = [name for name in table.columns if name in codes]
    with located("data"):
        check_names("the columns", names)
    codes = {name: codes[name][rows] for name in names}
    leaks = [name for name in names if name != target and _is_leak(codes[name], codes[target])]
    return Prepared(
        target,
        {name: found[name] for name in names},
        cuts,
        codes,
        {name: column[rows] for name, column in values.items()},
        None if weights is None else weights[rows],
        int(no_target.sum()),
        tuple(left_out),
        tuple(leaks),
    )


def check_priced(features: Sequence[str], prices: Collection[str]) -> None:
    """Raise `InputError` unless all features are among those that have a price."""
    without = [name for name in features if name not in prices]
    if without:
        raise InputError(
            f"no price for {', '.join(map(quote, without))}",
            "costs",
            (Remedy("give one"), LEAVE_OUT),
        )


def _affordable_bins(
    columns: Mapping[str, Column], numeric: Collection[str], named: Collection[str], most: int
) -> int:
    """Return how many bins the columns of numbers can have."""
    n_cut, n_others = 0, 1
    for name, column in columns.items():
        if not isinstance(column, Unreadable):
            if name not in named and (name in numeric or is_numeric(column)):
                n_cut += 1
            else:
                n_others *= column.n_different() + 1
    bins = most
    while bins > LEAST_BINS and n_others * (bins + 1) ** n_cut > MAX_STATES:
        bins -= 1
    return bins


def _check_weights(weights: Any, n_rows: int) -> Weights:
    try:
        found = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"must be numbers, got {quote(weights)}", "weights") from None
    if found.shape != (n_rows,):
        raise InputError(f"must be one number for each of {n_rows:,} rows", "weights")
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"row {row + 1}: must be a number >= 0, got {found[row]:g}", "weights")
    if not found.any():
        raise InputError("every row has the weight 0", "weights")
    return found


def _raise_all(errors: Mapping[str, VoilatticeError]) -> None:
    """Raise the errors of columns, several of them as one."""
    if len(errors) == 1:
        [(name, error)] = errors.items()
        raise type(error)(error.message, f"data.{name}", error.remedies)
    if errors:
        said = ", ".join(f"{quote(name)} ({error.message})" for name, error in errors.items())
        remedies = dict.fromkeys(r for error in errors.values() for r in error.remedies)
        leave_out = Remedy("leave the columns out", LEAVE_OUT.parameter)
        raise InputError(
            f"{len(errors)} columns cannot be used: {said}",
            "data",
            [leave_out if remedy == LEAVE_OUT else remedy for remedy in remedies],
        )


def _is_leak(codes: Codes, classes: Codes) -> bool:
    """Return whether a column determines the target, and chance does not explain it.

    Let n rows have k states of the column and m classes, n_y rows the class y. If the column told
    nothing, all n! / prod n_y! orders of the classes would be as likely as each other, and in at
    most m^k of these each state has one class.
    """
    there = codes >= 0
    codes, classes = codes[there], classes[there]
    n_classes = int(classes.max()) + 1
    counts = np.bincount(codes * n_classes + classes, minlength=(int(codes.max()) + 1) * n_classes)
    seen = counts.reshape(-1, n_classes)
    if ((seen > 0).sum(axis=1) > 1).any():
        return False
    n, k, m = len(codes), (seen > 0).sum(), (seen.sum(axis=0) > 0).sum()
    orders = math.lgamma(n + 1) - sum(math.lgamma(n_y + 1) for n_y in seen.sum(axis=0).tolist())
    return bool(k * math.log(m) - orders < math.log(CHANCE))


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(map(quote, names))
