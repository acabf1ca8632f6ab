"""What decisions cost (paper, Section 2).

`cost[i, j]` = c_ij is what decision i costs if y_j is the actual class. A row is a decision, a
column is a class. Decisions may be the classes ("say ill"), or anything else that can be done
("refer"): no row is needed for a class, and no class for a row. The expected misclassification
cost (EMC) is the least expected cost over the decisions,

    EMC(e) = min_i sum_j P(y_j | e) c_ij                                  (Eq. 1)

so a decision of constant cost, such as a referral for 60 whatever the class, caps it. As a minimum
of linear functions EMC is concave in P(y | e), whatever the rows are. Proposition 1 and all bounds
need no more than that.

The two scaled kinds (paper, Table 2) have the classes as decisions, c_ii = 0, and choose the other
c_ij so that the decision without any feature has a given expected cost:

    symmetric    c_ij = expected / (1 - max_k P(y_k))          i != j
    asymmetric   c_ij = expected / ((m - 1) P(y_j))            i != j, m classes
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, UnknownNameError, located, within
from voilattice.model.costs import MAX_AMOUNT, check_amount
from voilattice.model.network import check_text
from voilattice.wording import quote

__all__ = [
    "KINDS",
    "CostMatrix",
    "as_matrix",
    "check_decisions",
    "check_matrix",
    "cost_matrix",
    "has_class_decision",
    "named_classes",
    "order_decisions",
    "scaled_costs",
    "stakes_scale",
]

CostMatrix: TypeAlias = NDArray[np.float64]

KINDS = ("symmetric", "asymmetric")


def cost_matrix(
    rows: Mapping[str, Mapping[str, float]], classes: Sequence[str]
) -> tuple[tuple[str, ...], CostMatrix]:
    """Return the decisions and c_ij from ``{decision: {class: cost}}``.

    >>> rows = {"treat": {"ill": 5, "well": 20}, "refer": {"ill": 10, "well": 10}}
    >>> decisions, cost = cost_matrix(rows, ["well", "ill"])
    >>> decisions, cost.tolist()
    (('treat', 'refer'), [[20.0, 5.0], [10.0, 10.0]])
    """
    check_decisions(tuple(rows))
    decisions = order_decisions(tuple(rows), classes)
    cost = np.empty((len(rows), len(classes)))
    for i, decision in enumerate(decisions):
        row = rows[decision]
        with located(str(decision)):
            if not isinstance(row, Mapping):
                raise InputError(f"must be a table {{ class = cost, ... }}, got {quote(row)}")
            for name in row:
                if name not in classes:
                    known = ", ".join(map(repr, classes))
                    raise UnknownNameError(
                        f"this is not a class; the classes are {known}", str(name)
                    )
            for j, actual in enumerate(classes):
                if actual not in row:
                    raise InputError(f"the cost for the class {actual!r} is missing")
                with located(actual):
                    cost[i, j] = check_amount(row[actual])
    return decisions, cost


def named_classes(rows: Mapping[Any, Any]) -> list[Any]:
    """Return the classes that ``{decision: {class: cost}}`` names: those that all rows have.

    >>> named_classes({"ill": {"ill": 0, "well": 1}, "refer": {"ill": 5, "wel": 5, "well": 5}})
    ['ill', 'well']
    """
    tables = [row for row in rows.values() if isinstance(row, Mapping)]
    return [name for name in tables[0] if all(name in row for row in tables)] if tables else []


def has_class_decision(decisions: Collection[str], classes: Collection[str]) -> bool:
    """Return whether some decision is a class, so that decisions can be right or wrong.

    >>> has_class_decision(["ill", "refer"], ["ill", "well"])
    True
    >>> has_class_decision(["treat", "refer"], ["ill", "well"])
    False
    """
    return not set(decisions).isdisjoint(classes)


def order_decisions(decisions: tuple[str, ...], classes: Sequence[str]) -> tuple[str, ...]:
    """Return decisions in order: that of the classes, if they are the classes, or else as given.

    Ties go to the first decision, so the order must not depend on who wrote the rows.
    """
    return tuple(classes) if set(decisions) == set(classes) else decisions


def check_decisions(decisions: Sequence[object]) -> None:
    """Raise `InputError` unless there are decisions, each with a name of its own."""
    if not decisions:
        raise InputError("at least one decision is needed, found none")
    for place, name in enumerate(decisions):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"the name of a decision must be a text, got {quote(name)}")
        with within("the name of a decision"):
            check_text(name)
        if name in decisions[:place]:
            raise InputError(f"the decision {name!r} appears twice")


def check_matrix(
    given: object, decisions: Sequence[str], classes: tuple[str, ...]
) -> tuple[tuple[str, ...], CostMatrix]:
    """Return the decisions, by default the classes, in order, and their costs, read-only.

    Raises
    ------
    InputError
        The decisions or their costs are wrong: the place is the one in a problem file.
    """
    matrix = as_matrix(given) + 0.0  # -0.0 becomes 0.0, for the hash
    names = tuple(decisions) or classes
    with located("misclassification"):
        check_decisions(names)
        shape = (len(names), len(classes))
        if matrix.shape != shape:
            has_rows = matrix.ndim == 2 and matrix.shape[1] == len(classes)
            hint = " (decisions= names the rows, if they are not the classes)" if has_rows else ""
            raise InputError(
                f"must be a {shape[0]} x {shape[1]} matrix, a row for each decision and a "
                f"column for each class; got the shape {matrix.shape}{hint}"
            )
    for (i, j), amount in np.ndenumerate(matrix):
        with located(f"misclassification.{names[i]}.{classes[j]}"):
            check_amount(float(amount))
    ordered = order_decisions(names, classes)
    matrix = matrix[[names.index(name) for name in ordered]]
    matrix.setflags(write=False)
    return ordered, matrix


def as_matrix(given: object) -> CostMatrix:
    """Return c_ij as an array, or raise `InputError`."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "must be a matrix of numbers [decision][class]", "misclassification"
        ) from None


def scaled_costs(kind: str, expected: float, prior: Sequence[float]) -> CostMatrix:
    """Return the c_ij of a scaled kind: deciding without features costs `expected` on average.

    >>> scaled_costs("asymmetric", 1.0, [0.651, 0.349]).round(3).tolist()
    [[0.0, 2.865], [1.536, 0.0]]
    """
    if kind not in KINDS:
        raise InputError(f"must be symmetric or asymmetric, got {quote(kind)}", "kind")
    with located("expected"):
        expected = check_amount(expected)
    p = np.asarray(prior, dtype=np.float64)
    if len(p) < 2 or p.min() <= 0 or p.max() >= 1:
        raise InputError(
            f"{kind} costs need every class to have a prior probability between 0 and 1, "
            f"got {', '.join(f'{x:.6g}' for x in p)}; give the matrix instead",
            "kind",
        )
    if kind == "symmetric":
        cost = np.full((len(p), len(p)), expected / (1 - p.max()))
    else:
        cost = np.tile(expected / ((len(p) - 1) * p), (len(p), 1))
    np.fill_diagonal(cost, 0.0)
    if (largest := float(cost.max())) > MAX_AMOUNT:  # a rare class makes large entries
        raise InputError(
            f"makes a misclassification cost of {largest:.3g}; at most {MAX_AMOUNT:g} is accepted",
            "expected",
        )
    return cost


def stakes_scale(cost: CostMatrix, unit: CostMatrix) -> float:
    """Return the factor that turns the unit costs into these misclassification costs.

    Raises
    ------
    InputError
        The costs are not a multiple of the unit costs.
    """
    scale = float(cost.max() / unit.max()) if unit.max() > 0 else 1.0
    # No absolute tolerance: it would make all small stakes equal.
    if cost.shape != unit.shape or not np.allclose(scale * unit, cost, rtol=1e-9, atol=0.0):
        raise InputError("the misclassification costs are not a multiple of those of the sweep")
    return scale
