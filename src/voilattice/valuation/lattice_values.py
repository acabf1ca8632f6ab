r"""The EVI, cost and benefit of every set of a lattice (paper, Section 3.2).

`value_lattice` computes all values from shared tables (`valuation.tables`). This is the fastest
way, because a whole lattice costs little more than reading its tables once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError
from voilattice.feature_sets import to_mask
from voilattice.lattice.independence import graph_of
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Evidence, Problem
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.tables import expected_emcs
from voilattice.valuation.valuation import Value, emc

__all__ = ["LatticeValues", "value_lattice"]


@dataclass(frozen=True, slots=True)
class LatticeValues:
    """What each set of a lattice is worth, in the order of the lattice."""

    lattice: Lattice
    emc: float
    evi: NDArray[np.float64]
    cost: NDArray[np.float64]
    known: Mapping[str, str]  # the evidence, the problem's own included

    @property
    def benefit(self) -> NDArray[np.float64]:
        """EVI minus cost."""
        return self.evi - self.cost

    def top(self, n: int) -> list[Value]:
        """Return the n sets of highest benefit; `ties` decides between equal ones."""
        return self.best_of(np.arange(len(self.evi)), n)

    def best_of(self, places: NDArray[np.intp], n: int) -> list[Value]:
        """Return the n sets of highest benefit among those at some places of the lattice."""
        benefit, rows, tol = self.benefit[places], self.lattice.rows, tolerance(self.emc)
        n = min(n, len(places))
        least = np.partition(benefit, len(benefit) - n)[len(benefit) - n] if n else np.inf
        left = {int(place) for place in places[benefit >= least - tol]}

        def offer(place: int) -> Offer:
            worth, price = float(self.evi[place]), float(self.cost[place])
            return Offer(worth - price, price, to_mask(rows[place]))

        found = []
        for _ in range(n):
            place = winner(left, offer, tol)
            left.remove(place)
            found.append(self.value_at(place))
        return found

    def value_at(self, place: int) -> Value:
        """Return what the set at one place of the lattice is worth."""
        worth, price = float(self.evi[place]), float(self.cost[place])
        mask, problem = to_mask(self.lattice.rows[place]), self.lattice.problem
        return Value.of_set(problem, mask, self.known, emc=self.emc, evi=worth, cost=price)


def value_lattice(
    problem: Problem,
    evidence: Evidence | None = None,
    *,
    lattice: Lattice | None = None,
    engine: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> LatticeValues:
    """Return the EVI, cost and benefit of every irreducible set given the evidence.

    Parameters
    ----------
    lattice
        The lattice of these features given this evidence, if it exists already.
    engine
        ``"python"`` (NumPy), ``"compiled"``, or ``"auto"``: by the estimated work.
    progress
        Called repeatedly with the number of sets done and the number of all sets.

    >>> import voilattice
    >>> best = value_lattice(voilattice.load_problem("figure3")).top(1)[0]
    >>> sorted(best.features), round(best.evi, 2), round(best.benefit, 2)
    (['X3', 'X4'], 13.9, 8.9)
    """
    known = problem.merge_evidence(evidence)
    if lattice is None:
        lattice = Lattice(problem, evidence)
    elif lattice.graph != graph_of(problem) or lattice.evidence != set(known):
        raise InputError("the lattice belongs to another problem or to other evidence")
    now = emc(problem, evidence)
    after = expected_emcs(problem, known, lattice.rows, engine=engine, progress=progress)
    # More information never raises the risk; a negative difference is only rounding.
    worth = np.maximum(now - after, 0.0)
    return LatticeValues(
        lattice, now, worth, problem.pricing.set_costs(problem.features, lattice.rows, known), known
    )
