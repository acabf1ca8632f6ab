r"""What methods cost on held-out cases, compared row by row.

All methods have decided the same rows. With d the differences in total cost between two methods
over n rows,

    the mean difference    mean(d),    with standard error    std(d) / √n,

and the paired t-test asks how likely a mean that far from 0 would be without any real difference.
The rows of a fold share what was learned for them, so the tests are a little too sure; and the
lowest of many methods is lowest partly by luck.

A method decides by the posterior P(y | x) at the end of its path. Its *risk* is the expected cost
of the decision by that posterior. A model that is too sure of itself has a lower risk than it pays;
`Result.calibration` shows where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError
from voilattice.html import html_table, paragraph
from voilattice.learning.rivals import Codes, Table
from voilattice.samples import standard_error
from voilattice.wording import count_noun, format_amount, format_mean, nearest, quote

__all__ = [
    "CalibrationBin",
    "Difference",
    "Evaluation",
    "FoldResults",
    "Result",
    "compare_rows",
    "summarize",
]

N_BINS = 10  # of a calibration

Names = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Cases in which the decided class was about as probable, and how often it was the true one.

    Cases whose decision is no class, such as a referral, are in no bin.
    """

    predicted: float  # the mean probability of the decided class
    observed: float  # the share of the cases in which it was the true class
    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more a method costs than another one, row by row."""

    mean: float
    standard_error: float | None  # None: there is one row
    p_value: float | None  # of the paired t-test; None: there is one row


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """What one method decided and paid in each row.

    Parameters
    ----------
    probability
        P(y | x) of the decided class; NaN where the decision is no class.
    risk
        What the method itself expected its decision to cost.
    chosen
        The recipe that ``auto`` chose in each fold.
    n_unfinished
        The rows in which the greedy policy went on, because the time was over.
    decides_on_classes
        Whether some decision of the problem is a class (`model.stakes.has_class_decision`).
    """

    method: str
    truth: Names
    decision: Names
    feature_cost: Table
    misclassification_cost: Table
    probability: Table
    risk: Table
    seconds: float
    recipe: str | None = None
    policy: str | None = None
    chosen: tuple[str, ...] = ()
    n_unfinished: int = 0
    decides_on_classes: bool = True

    def __post_init__(self) -> None:
        for array in (
            self.truth, self.decision, self.feature_cost, self.misclassification_cost,
            self.probability, self.risk,
        ):  # fmt: skip
            array.setflags(write=False)

    def __repr__(self) -> str:
        return f"<Result {self.method}: {format_mean(self.mean_total_cost, self.standard_error)}>"

    @property
    def label(self) -> str:
        """The method in short: of a policy, its name and the recipe."""
        return self.method if self.policy is None else f"{self.policy} ({self.recipe})"

    @property
    def total_cost(self) -> Table:
        """What each row cost."""
        return self.feature_cost + self.misclassification_cost

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """In which rows the decision is the true class; one that is no class is never right."""
        return np.asarray(self.decision == self.truth)

    @property
    def mean_total_cost(self) -> float:
        return self.mean_feature_cost + self.mean_misclassification_cost

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean total cost, over the rows; None: there is one row."""
        return standard_error(self.total_cost)

    @property
    def mean_feature_cost(self) -> float:
        return float(self.feature_cost.mean())

    @property
    def mean_misclassification_cost(self) -> float:
        return float(self.misclassification_cost.mean())

    @property
    def mean_expected_cost(self) -> float:
        """The mean total cost that the method itself expected: feature cost and risk."""
        return float((self.feature_cost + self.risk).mean())

    @property
    def accuracy(self) -> float | None:
        """The share of decisions that are the true class; None: no decision is a class."""
        return float(self.is_right.mean()) if self.decides_on_classes else None

    @property
    def calibration(self) -> tuple[CalibrationBin, ...]:
        """The calibration where cases are decided: bins that have cases, from low to high."""
        is_class = ~np.isnan(self.probability)
        share = np.where(is_class, self.probability, 0.0)
        number = np.minimum((share * N_BINS).astype(np.intp), N_BINS - 1)
        right = self.is_right
        return tuple(
            CalibrationBin(
                float(self.probability[here].mean()), float(right[here].mean()), int(here.sum())
            )
            for k in range(N_BINS)
            if (here := (number == k) & is_class).any()
        )


@dataclass(frozen=True, slots=True)
class FoldResults:
    """What all methods did with the rows of a fold, in the same order of methods in each fold."""

    target: str
    rows: Codes  # of the table, counted from 0
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """What methods cost on new cases, the lowest mean total cost first.

    Parameters
    ----------
    rows
        The rows of the table that were decided, counted from 0; those of every result.
    n_folds
        The folds that were done.
    """

    target: str
    rows: Codes
    n_folds: int
    results: tuple[Result, ...]

    def __getitem__(self, method: str) -> Result:
        for result in self.results:
            if result.method == method:
                return result
        names = [result.method for result in self.results]
        raise UnknownNameError(f"no method {quote(method)}{nearest(method, names)}")

    def difference(self, result: Result) -> Difference:
        """Return how much more a method costs than the one of lowest cost."""
        return compare_rows(result.total_cost, self.results[0].total_cost)

    def __repr__(self) -> str:
        return (
            f"<Evaluation: {count_noun(len(self.results), 'method')} on "
            f"{count_noun(len(self.rows), 'row')}, lowest: {self.results[0]!r}>"
        )

    def _repr_html_(self) -> str:
        rows = []
        for result in self.results:
            above = self.difference(result)
            accuracy = result.accuracy
            rows.append(
                (
                    result.label,
                    format_mean(result.mean_total_cost, result.standard_error),
                    "lowest"
                    if result is self.results[0]
                    else f"+{format_mean(above.mean, above.standard_error)}",
                    format_amount(result.mean_feature_cost),
                    format_amount(result.mean_misclassification_cost),
                    "–" if accuracy is None else f"{accuracy:.1%}",
                )
            )
        heading = ("method", "total cost", "above the lowest", "features", "decisions", "right")
        said = (
            f"Means of {count_noun(len(self.rows), 'row')}, measured on rows that were not learned "
            f"from ({count_noun(self.n_folds, 'fold')})."
        )
        return html_table(heading, rows) + paragraph(said)


def summarize(folds: Sequence[FoldResults]) -> Evaluation:
    """Return the results of some folds, the rows in the order of the table."""
    if not folds:
        raise InputError("at least one fold is needed, found none", "folds")
    rows = np.concatenate([fold.rows for fold in folds])
    order = np.argsort(rows)
    results = [_join(parts, order) for parts in zip(*(f.results for f in folds), strict=True)]
    # Of equal costs, the method that was asked for first.
    results.sort(key=lambda result: result.mean_total_cost)
    return Evaluation(folds[0].target, rows[order], len(folds), tuple(results))


def compare_rows(costs: Table, others: Table) -> Difference:
    """Return the difference of two methods over the same rows, by the paired t-test.

    >>> compare_rows(np.array([3.0, 5.0, 4.0]), np.array([1.0, 1.0, 1.0])).mean
    3.0
    """
    from scipy.stats import t

    differences = costs - others
    mean, error = float(differences.mean()), standard_error(differences)
    if error is None:
        return Difference(mean, None, None)
    if not error:
        return Difference(mean, error, 0.0 if mean else 1.0)
    return Difference(mean, error, float(2 * t.sf(abs(mean) / error, len(differences) - 1)))


def _join(parts: Sequence[Result], order: Codes) -> Result:
    def join(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])[order]

    return Result(
        parts[0].method,
        join("truth"),
        join("decision"),
        join("feature_cost"),
        join("misclassification_cost"),
        join("probability"),
        join("risk"),
        sum(part.seconds for part in parts),
        parts[0].recipe,
        parts[0].policy,
        tuple(name for part in parts for name in part.chosen),
        sum(part.n_unfinished for part in parts),
        parts[0].decides_on_classes,
    )
