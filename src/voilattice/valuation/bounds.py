r"""Upper bounds on the EVI of every set of features, without a table over the features.

Nothing tells more than the target itself, and nothing that is separated from the target by some
nodes W tells more than W (Proposition 2; W may have hidden nodes):

    EVI(S | e) <= EMC(e) - sum_j P(y_j | e) min_i c_ij     and     EVI(S | e) <= EVI(W | e).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from voilattice.errors import TooLargeError
from voilattice.lattice.independence import markov_blanket, separator
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.network import MAX_AXES
from voilattice.model.problem import Problem
from voilattice.valuation.tables import largest_table
from voilattice.valuation.valuation import expected_emc

__all__ = ["EviBound", "evi_bound"]


@dataclass(frozen=True, slots=True)
class EviBound:
    """An upper bound on the EVI of every set of some features."""

    emc: float  # EMC(e)
    worth: float  # no set is worth more
    reached_by: int | None  # a set of features, as a mask, that is worth exactly this


def evi_bound(
    problem: Problem, known: Mapping[str, str], features: Iterable[int], max_cells: float
) -> EviBound:
    """Return a bound on what any set of `features` is worth; no table exceeds `max_cells`."""
    network, matrix = problem.network, problem.misclassification
    y = network.index(problem.target)
    evidence = problem.node_states(known)
    posterior = scaled_joint_table(network, [y], evidence).table
    posterior = posterior / posterior.sum()
    now = expected_emc(posterior, matrix)
    perfect = EviBound(now, now - float(posterior @ matrix.min(axis=0)), None)
    nodes = [network.index(problem.features[k]) for k in features]
    blanket = [network.index(name) for name in markov_blanket(problem)]
    between = separator(network, y, nodes, blanket, list(evidence))
    cells = len(problem.classes) * math.prod(network.n_states[node] for node in between)
    if cells > max_cells or len(between) >= MAX_AXES:
        return perfect
    try:
        with largest_table(max_cells):
            table = scaled_joint_table(network, [y, *between], evidence).table
    except TooLargeError:
        return perfect
    worth = now - expected_emc(table, matrix) / float(table.sum())
    if set(between) <= set(nodes):
        mask = problem.feature_mask(network.names[node] for node in between)
        return EviBound(now, worth, mask)
    return EviBound(now, min(perfect.worth, worth), None)
