"""What the prices and the constraints of a problem name: features and states that exist.

Errors name the place in a problem file, such as ``constraints[0].only_if.xray``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from voilattice.errors import InputError, located
from voilattice.model.acquisition import Constraint, check_order
from voilattice.model.labels import explained_by_labels
from voilattice.wording import quote

if TYPE_CHECKING:
    from voilattice.model.problem import Problem

__all__ = ["check_constraints", "check_features", "check_states"]


def check_constraints(problem: Problem) -> None:
    """Raise an error unless all that constraints name exists and some order meets them."""
    for place, entry in enumerate(problem.constraints):
        with located(f"constraints[{place}]"):
            if not isinstance(entry, Constraint):
                raise InputError(f"must be a Constraint, got {quote(entry)}")
            check_features(problem, [entry.feature], "feature")
            check_features(problem, entry.after, "after")
            check_states(problem, entry.only_if, "only_if")
            check_states(problem, entry.not_if, "not_if")
    check_order(problem.constraints)


def check_features(problem: Problem, features: Iterable[str], place: str) -> None:
    """Raise an error unless all of these are features of a problem."""
    with located(place):
        for feature in features:
            problem.check_feature(feature)


def check_states(problem: Problem, values: Iterable[tuple[str, str]], place: str) -> None:
    """Raise an error unless these are features of a problem, each with one of its states."""
    for feature, state in values:
        with located(f"{place}.{feature}"):
            problem.check_feature(feature)
            with explained_by_labels(state, _state_labels(problem, feature)):
                problem.network.state_index(problem.network.index(feature), state)


def _state_labels(problem: Problem, feature: str) -> object:
    labels = problem.state_labels  # may not be checked yet
    return labels.get(feature) if isinstance(labels, Mapping) else None
