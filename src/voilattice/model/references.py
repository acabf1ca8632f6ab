"""What the prices and the constraints of a problem name: features and states that exist.

Errors name the place in a problem file, such as ``constraints[0].only_if.xray``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from voilattice.errors import InputError, located
from voilattice.model.acquisition import Constraint, check_order
from voilattice.model.costs import FeatureCosts
from voilattice.model.labels import explained_by_labels
from voilattice.wording import quote

if TYPE_CHECKING:
    from voilattice.model.problem import Problem

__all__ = ["check_constraints", "check_feature_costs"]


def check_feature_costs(problem: Problem, costs: FeatureCosts) -> None:
    """Raise an error unless every feature has a price and all that prices name exists."""
    for feature in costs.prices:
        _check_features(problem, [feature], f"costs.{feature}")
    without = [feature for feature in problem.features if feature not in costs.prices]
    if without:
        message = "every feature needs a price >= 0, found none"
        if others := without[1:]:
            message += f", and none for {', '.join(others)}"
        raise InputError(message, f"costs.{without[0]}")
    for place, group in enumerate(costs.groups):
        _check_features(problem, group.features, f"groups[{place}].features")
    for place, discount in enumerate(costs.discounts):
        _check_features(problem, discount.features, f"discounts[{place}].off")
    for place, entry in enumerate(costs.conditional):
        with located(f"conditional_costs[{place}]"):
            _check_features(problem, [entry.feature], "feature")
            _check_states(problem, entry.when, "when")


def check_constraints(problem: Problem) -> None:
    """Raise an error unless all that constraints name exists and some order meets them."""
    for place, entry in enumerate(problem.constraints):
        with located(f"constraints[{place}]"):
            if not isinstance(entry, Constraint):
                raise InputError(f"must be a Constraint, got {quote(entry)}")
            _check_features(problem, [entry.feature], "feature")
            _check_features(problem, entry.after, "after")
            _check_states(problem, entry.only_if, "only_if")
            _check_states(problem, entry.not_if, "not_if")
    check_order(problem.constraints)


def _check_features(problem: Problem, features: Iterable[str], place: str) -> None:
    with located(place):
        for feature in features:
            problem.check_feature(feature)


def _check_states(problem: Problem, values: Iterable[tuple[str, str]], place: str) -> None:
    for feature, state in values:
        with located(f"{place}.{feature}"):
            problem.check_feature(feature)
            with explained_by_labels(state, _state_labels(problem, feature)):
                problem.network.state_index(problem.network.index(feature), state)


def _state_labels(problem: Problem, feature: str) -> object:
    labels = problem.state_labels  # may not be checked yet
    return labels.get(feature) if isinstance(labels, Mapping) else None
