"""What a classifier can decide, and what that costs, as users give it.

A row of the misclassification costs is a decision. It is one of the classes, or anything else that
can be done with a case, such as a referral. `Decisions` names each row for the problem, and gives
the decisions back as they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, located
from voilattice.model.costs import check_amount
from voilattice.model.stakes import CostMatrix, check_decisions, named_classes
from voilattice.sklearn.inputs import Labels, name_label
from voilattice.wording import quote

__all__ = ["Decisions", "make_decisions"]


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions in the order given: their names in the problem, as given, and their costs."""

    names: tuple[str, ...]
    labels: NDArray[Any]
    rows: dict[str, dict[str, float]]  # of the problem: {decision: {class: cost}}

    def labels_of(self, names: tuple[str, ...]) -> NDArray[Any]:
        """Return decisions as they were given, by their names in the problem."""
        return self.labels[[self.names.index(name) for name in names]]


def make_decisions(given: Any, labels: Labels) -> Decisions:
    """Return what can be decided, and what it costs.

    A mapping may have classes that no row of y has, as in a part of a table: they are left out.
    """
    m = len(labels.states)
    if given is None:
        return _of_matrix(1.0 - np.eye(m), labels)
    if not isinstance(given, Mapping):
        return _of_matrix(_check_matrix(given, labels), labels)
    absent = [label for label in named_classes(given) if label not in labels]
    _check_absent(absent, given, labels)
    own: dict[str, Any] = {}
    rows: dict[str, dict[str, float]] = {}
    with located("misclassification"):
        for decision, row in given.items():
            if decision in absent:
                continue
            name, label = name_label(decision), decision
            if decision in labels:
                place = labels.place_of(decision)
                name, label = labels.states[place], labels.classes[place]
            if name in rows:
                raise InputError(f"the decision {quote(decision)} appears twice")
            with located(name):
                own[name], rows[name] = label, _read_row(row, labels, absent)
        check_decisions(tuple(rows))
    return Decisions(tuple(rows), _as_array(list(own.values()), labels), rows)


def _check_absent(absent: list[Any], given: Mapping[Any, Any], labels: Labels) -> None:
    """Raise `UnknownNameError` if classes that y lacks stand where classes of y should.

    A class that y lacks is no mistake by itself. It is one if no row names some class of y.
    """
    named = [label for row in given.values() if isinstance(row, Mapping) for label in row]
    places = {labels.place_of(label) for label in named if label in labels}
    if absent and len(places) < len(labels.states):
        with located("misclassification"):
            labels.place_of(absent[0])


def _read_row(row: Any, labels: Labels, absent: list[Any]) -> dict[str, float]:
    if not isinstance(row, Mapping):
        raise InputError(f"must be a mapping of classes to costs, got {quote(row)}")
    found: dict[str, float] = {}
    for label, amount in row.items():
        if label not in absent:
            state = labels.states[labels.place_of(label)]
            with located(state):
                found[state] = check_amount(amount)
    for state in labels.states:
        if state not in found:
            raise InputError("the cost is missing", state)
    return found


def _as_array(decisions: list[Any], labels: Labels) -> NDArray[Any]:
    """Return decisions as an array: of the labels' type if that holds all of them."""
    if all(decision in labels for decision in decisions):
        return labels.classes[[labels.place_of(decision) for decision in decisions]]
    if labels.classes.dtype.kind == "U" and all(isinstance(d, str) for d in decisions):
        return np.array(decisions)
    array = np.empty(len(decisions), dtype=object)
    array[:] = [d.item() if isinstance(d, np.generic) else d for d in decisions]
    return array


def _of_matrix(cost: CostMatrix, labels: Labels) -> Decisions:
    rows = {
        decision: dict(zip(labels.states, row, strict=True))
        for decision, row in zip(labels.states, cost.tolist(), strict=True)
    }
    return Decisions(labels.states, labels.classes, rows)


def _check_matrix(given: Any, labels: Labels) -> CostMatrix:
    m = len(labels.states)
    try:
        matrix: CostMatrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"must be a matrix of numbers [predicted][actual], got {quote(given)}",
            "misclassification",
        ) from None
    if matrix.shape != (m, m):
        raise InputError(
            f"must be a {m} x {m} matrix, a row and a column for each class of y (they are "
            f"{quote(labels.classes.tolist())}), got the shape {matrix.shape}; only the form "
            f"{{decision: {{class: cost}}}} may have other decisions, or classes that y lacks",
            "misclassification",
        )
    for i, j in np.ndindex(m, m):
        with located(f"misclassification.{labels.states[i]}.{labels.states[j]}"):
            check_amount(float(matrix[i, j]))
    return matrix
