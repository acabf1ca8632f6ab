r"""The expected EMC of a set whose table is too large: part by part, with bounds.

    E = sum_s P(s | e) EMC(e, s)

is a sum over the outcomes s of S. Each part of the sum knows some features x of S. If the table
over the other features fits, the part is computed exactly. Otherwise it is bounded,

    sum_j P(y_j | e, x) min_i c_ij  <=  E(e, x)  <=  EMC(e, x),

because nothing tells more than the target, and because more information never costs on average.
The part of the widest interval is computed next, or it is split by the feature that tells most. So
the sum of all parts can be asked for at any time, and it is exact when all parts are.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits
from voilattice.lattice.independence import graph_of
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.network import MAX_AXES, Table
from voilattice.model.problem import Evidence, Problem
from voilattice.ties import tolerance
from voilattice.valuation.bounds import evi_bound
from voilattice.valuation.pairs import inference_of
from voilattice.valuation.tables import cells_in_time, largest_table, max_table_cells, root_table
from voilattice.valuation.valuation import expected_emc

__all__ = ["Bracket", "bracket_expected_emc"]

PART_CELLS = 1 << 20  # of the table of a part
MAX_PARTS = 500_000


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds on an expected EMC; equal if it is exact."""

    lower: float
    upper: float
    exact: bool


@dataclass(order=True, slots=True)
class _Part:
    gap: float  # its interval is so wide, negated
    weight: float = field(compare=False)  # P(x | e)
    known: dict[str, str] = field(compare=False)
    emc: float = field(compare=False)


def bracket_expected_emc(
    problem: Problem,
    features: Iterable[str],
    evidence: Evidence | None = None,
    *,
    deadline: Deadline | None = None,
) -> Bracket:
    """Return bounds on sum_s P(s | e) EMC(e, s), as tight as the time allows.

    >>> import voilattice
    >>> asia = voilattice.load_problem("asia")
    >>> found = bracket_expected_emc(asia, {"xray", "smoke"})
    >>> found.exact, round(found.upper, 6)
    (True, 65.7048)
    """
    known = problem.merge_evidence(evidence)
    chosen = problem.feature_mask(problem.check_acquirable(features, known))
    return _Stream(problem, chosen, known, deadline or Deadline()).run()


class _Stream:
    def __init__(
        self, problem: Problem, chosen: int, known: Mapping[str, str], deadline: Deadline
    ) -> None:
        self._problem, self._chosen, self._deadline = problem, chosen, deadline
        self._known, self._graph = dict(known), graph_of(problem)
        self._told = problem.misclassification.min(axis=0)
        self._exact = 0.0  # the sum of the parts that are exact
        self._parts: list[_Part] = []

    def run(self) -> Bracket:
        problem = self._problem
        whole = self._try_exact(self._known, 1.0, PART_CELLS)
        if whole is not None:
            return Bracket(whole, whole, exact=True)
        most = min(time_plan.PARTS_BOUND * cells_in_time(self._deadline), max_table_cells())
        bound = evi_bound(problem, self._known, bits(self._chosen), most)
        least, tol = bound.emc - bound.worth, tolerance(bound.emc)
        belief = inference_of(problem).at(self._known).belief
        self._push(1.0, self._known, belief)
        while self._parts and not self._deadline.is_over and len(self._parts) < MAX_PARTS:
            part = heapq.heappop(self._parts)
            in_time = time_plan.PART * cells_in_time(self._deadline)
            found = self._try_exact(part.known, part.weight, min(PART_CELLS, in_time))
            if found is not None:
                self._exact += found
            else:
                self._split(part)
        upper = self._exact + math.fsum(part.weight * part.emc for part in self._parts)
        lower = upper + math.fsum(part.gap for part in self._parts)
        lower = min(max(lower, least), upper)
        return Bracket(lower, upper, exact=upper - lower <= tol)

    def _push(self, weight: float, known: dict[str, str], belief: Table) -> None:
        emc = expected_emc(belief, self._problem.misclassification)
        gap = weight * (emc - float(self._told @ belief))
        if gap <= 0:
            self._exact += weight * emc
        else:
            heapq.heappush(self._parts, _Part(-gap, weight, known, emc))

    def _left(self, known: Mapping[str, str]) -> list[int]:
        """Return the features of the set that can still tell something."""
        e = self._problem.feature_mask(known)
        return list(bits(self._graph.core(self._chosen & ~e, e)))

    def _try_exact(self, known: Mapping[str, str], weight: float, most: float) -> float | None:
        """Return the sum over a part, or None if its table has too many cells."""
        problem, left = self._problem, self._left(known)
        sizes = [len(problem.states(problem.features[k])) for k in left]
        cells = len(problem.classes) * math.prod(sizes)
        if cells > min(most, max_table_cells()) or len(left) >= MAX_AXES:
            return None
        try:
            with largest_table(PART_CELLS):
                root = root_table(problem, known, left)
        except TooLargeError:  # an intermediate table does not fit
            return None
        table = root.table.reshape(len(problem.classes), -1)
        return weight * expected_emc(table, problem.misclassification) / root.probability

    def _split(self, part: _Part) -> None:
        """Replace a part by one for each value of the feature that tells most."""
        problem, left = self._problem, self._left(part.known)
        if not left:
            self._exact += part.weight * part.emc
            return
        pairs = inference_of(problem).at(part.known)
        after = pairs.expected_emcs(problem.misclassification)
        k = left[int(np.argmin(after[left]))]
        name = problem.features[k]
        for state, joint in zip(problem.states(name), pairs.pairs[k], strict=False):
            p = float(joint.sum())
            if p > LEAST_MASS:
                self._push(part.weight * p, {**part.known, name: state}, joint / p)
