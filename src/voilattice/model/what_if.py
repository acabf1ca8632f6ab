"""What if: the same problem with other prices, other costs of decisions, other stakes.

The changes are made in this order:

    prices              the own prices of some features, as ``[costs]`` of a problem file has them
    misclassification   some cells c_ij of the matrix
    stakes              the whole matrix times a factor, or a scaled kind in its place
    unavailable         features that cannot be acquired

`voilattice.files.variants` changes any number of a problem *file*, this module the few that people
change while they look at an answer. A changed problem is checked like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from voilattice.errors import InputError, UnknownNameError, located
from voilattice.model.costs import CostModel, check_amount
from voilattice.model.problem import Problem, check_problem
from voilattice.model.stakes import CostMatrix, scaled_costs
from voilattice.wording import format_amount, nearest, quote

__all__ = ["change_problem"]


def change_problem(
    problem: Problem,
    *,
    prices: Mapping[str, float] | None = None,
    misclassification: Mapping[str, Mapping[str, float]] | None = None,
    stakes: Mapping[str, Any] | None = None,
    unavailable: Collection[str] = (),
    known: Collection[str] = (),
) -> Problem:
    """Return the problem with some numbers changed; the problem itself if nothing is.

    Parameters
    ----------
    prices
        The new own price of some features.
    misclassification
        New cells of the matrix, ``{decision: {class: cost}}``; the other cells stay.
    stakes
        ``{"scale": x}`` multiplies the matrix, after its cells are changed.
        ``{"kind": "symmetric" | "asymmetric", "expected": x}`` replaces it by a scaled kind, so it
        excludes new cells.
    unavailable
        Features that cannot be acquired, as in `Problem.without`.
    known
        Features that are known, beyond the problem's own evidence: those that need an unavailable
        feature stay if they are known.

    >>> import voilattice
    >>> heart = voilattice.load_problem("heart")
    >>> dearer = change_problem(heart, prices={"chol": 20}, stakes={"scale": 2})
    >>> dearer.costs.prices["chol"]
    20.0
    >>> bool((dearer.misclassification == 2 * heart.misclassification).all())
    True
    """
    check_problem(problem)
    changes: dict[str, Any] = {}
    if prices:
        changes["costs"] = _changed_prices(problem, prices)
    if misclassification or stakes:
        cost = _changed_cells(problem, misclassification or {})
        changes |= _changed_stakes(problem, cost, stakes or {}, bool(misclassification))
    changed = replace(problem, **changes) if changes else problem
    with located("unavailable"):
        return changed.without(unavailable, known)


def _changed_prices(problem: Problem, prices: Mapping[str, float]) -> CostModel:
    pricing = problem.pricing
    if not pricing.is_sum:
        raise InputError(
            f"the prices of this problem cannot be changed one by one: they are computed by "
            f"{pricing.name}",
            "prices",
        )
    _check_table(prices, "prices", "{feature: price}")
    for feature, price in prices.items():
        with located(f"prices.{feature}"):
            problem.check_feature(feature)
            if check_amount(price) < (least := pricing.off(feature)):
                [discount] = (s.name for s in pricing.sharings if feature in s.features)
                raise InputError(
                    f"must be at least {format_amount(least)}, what the discount {discount!r} "
                    f"takes off; got {price:g}"
                )
    return pricing.with_prices(prices)


def _changed_cells(problem: Problem, cells: Mapping[str, Mapping[str, float]]) -> CostMatrix:
    cost = problem.misclassification.copy()
    _check_table(cells, "misclassification", "{decision: {class: cost}}")
    for decision, row in cells.items():
        with located(f"misclassification.{decision}"):
            i = _place(decision, problem.decisions, "decision")
            _check_table(row, "", "{class: cost}")
            for actual, amount in row.items():
                with located(str(actual)):
                    j = _place(actual, problem.classes, "class")
                    cost[i, j] = check_amount(amount)
    return cost


def _changed_stakes(
    problem: Problem, cost: CostMatrix, stakes: Mapping[str, Any], has_cells: bool
) -> dict[str, Any]:
    """Return the changed fields of the problem: the matrix, and its decisions if they change."""
    _check_table(stakes, "stakes", '{"scale": x} or {"kind": kind, "expected": x}')
    keys = set(stakes)
    if not keys:
        return {"misclassification": cost}
    if keys == {"scale"}:
        with located("stakes.scale"):
            return {"misclassification": check_amount(stakes["scale"]) * cost}
    with located("stakes"):
        if keys != {"kind", "expected"}:
            raise InputError(
                f"must have the key scale alone, or kind and expected; got {quote(sorted(keys))}"
            )
        if has_cells:
            raise InputError("a scaled kind replaces the matrix, so its cells cannot be set too")
        scaled = scaled_costs(stakes["kind"], stakes["expected"], problem.prior.tolist())
    return {"misclassification": scaled, "decisions": problem.classes}


def _place(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise UnknownNameError(f"no {what} {quote(name)}{nearest(name, names)}")
    return names.index(name)


def _check_table(given: object, place: str, shape: str) -> None:
    if not isinstance(given, Mapping):
        raise InputError(f"must be {shape}, got {quote(given)}", place)
