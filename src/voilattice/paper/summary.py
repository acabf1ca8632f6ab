"""The points of a run as the paper shows them: curves (Figures 4 to 8) and Table 3.

Synthetic feature costs are averaged over their seeds, point by point. Savings are

    over no acquisition   ETC(none) - ETC(policy)             (the figures)
    over Markov blanket   ETC(markov-blanket) - ETC(policy)   (Table 3, averaged over an interval)

where ETC is the expected total cost. The regret of a policy is ETC(policy) - ETC(optimal).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from voilattice.paper.experiment import Point
from voilattice.paper.published import INTERVALS
from voilattice.ties import TOLERANCE, tolerance

__all__ = ["Curves", "curves_of", "regret", "table_3"]

Amounts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curves:
    """What each policy costs along the sweep: a panel of Figures 4 to 8."""

    name: str
    costs: str
    seed: int | None  # of synthetic costs; None where they are averaged
    kind: str
    expected: Amounts
    total_cost: Mapping[str, Amounts]

    @property
    def scenario(self) -> str:
        return self.costs if self.seed is None else f"{self.costs} (seed {self.seed})"

    def savings(self, policy: str, over: str = "none") -> Amounts:
        return self.total_cost[over] - self.total_cost[policy]

    def is_worse(self, policy: str, other: str) -> NDArray[np.bool_]:
        """Return the points at which a policy costs more than another and does not tie."""
        ties = np.array([tolerance(x) for x in self.expected])
        return self.savings(policy, other) < -ties

    def interval_means(self, amounts: Amounts) -> list[float]:
        """Return the mean in each interval of Table 3; the last one is closed."""
        bounds = INTERVALS[self.costs]
        last = len(bounds) - 2
        return [
            float(amounts[(self.expected >= low) & ((self.expected < high) | (k == last))].mean())
            for k, (low, high) in enumerate(pairwise(bounds))
        ]


def curves_of(points: Sequence[Point], *, average: bool = True) -> list[Curves]:
    """Return a panel for each data set, feature costs and kind, in the order of the points.

    Without `average`, each seed of synthetic costs has a panel of its own.
    """
    panels: dict[tuple[str, str, int | None, str], dict[float, list[Mapping[str, float]]]] = {}
    for point in points:
        scenario = point.scenario
        seed = None if average else scenario.seed
        panel = panels.setdefault((scenario.name, scenario.costs, seed, scenario.kind), {})
        panel.setdefault(point.expected, []).append(point.total_cost)
    return [
        Curves(
            *key,
            np.array(list(panel)),
            {
                policy: np.array(
                    [np.mean([cost[policy] for cost in seeds]) for seeds in panel.values()]
                )
                for policy in points[0].total_cost
            },
        )
        for key, panel in panels.items()
    ]


def table_3(curves: Curves, policy: str) -> list[float]:
    """Return a policy's column of Table 3: its mean savings over the Markov blanket policy."""
    return curves.interval_means(curves.savings(policy, "markov-blanket"))


def regret(curves: Curves, policy: str) -> tuple[float, float]:
    """Return the mean and the largest regret, as shares of the optimum's cost.

    Points at which the optimum costs 0 are left out: nothing is at stake there.
    """
    best = curves.total_cost["optimal"]
    at_stake = best > 0
    share = curves.savings("optimal", policy)[at_stake] / best[at_stake]
    share = np.where(np.abs(share) < TOLERANCE, 0.0, share)  # ties
    return float(share.mean()), float(share.max())
