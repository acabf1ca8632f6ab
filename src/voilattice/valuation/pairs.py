r"""P(Y | e) and P(Y, X_i | e) of every feature at once, for any number of features.

One table P(Y, R, e) over the features gives these pairs by sums: half of the axes are summed out,
then the other half, and so on, so all pairs together cost about two sums over the table. A table
has a cell for each combination of states, so it exists for few features only. For many features,
two passes over a join tree (`model.join_tree`) give the same pairs, whatever their number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import TooLargeError
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.join_tree import JoinTree
from voilattice.model.network import Network, Table
from voilattice.model.problem import Problem, impossible

__all__ = ["PairInference", "Pairs", "inference_of", "pairs_in_table"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """P(Y | e), and P(Y, X_i | e) for each feature X_i."""

    belief: Table  # [class]
    pairs: Table  # [feature, state, class]; 0 beyond the states of a feature

    def expected_emcs(self, cost: Table) -> Table:
        """Return sum_x P(x | e) EMC(e, x) for each feature."""
        after: Table = (self.pairs @ cost.T).min(axis=2).sum(axis=1)
        return after


def pairs_in_table(table: Table, probability: float) -> Pairs:
    """Return the pairs of a table P(Y, R, e), one axis for Y and one for each feature."""
    m, sizes = table.shape[0], table.shape[1:]
    found = np.zeros((len(sizes), max(sizes, default=1), m))

    def divide(part: Table, low: int, high: int) -> None:
        if high - low == 1:
            found[low, : sizes[low]] = part.reshape(m, -1).T
            return
        middle = (low + high) // 2
        halves = part.reshape(m, math.prod(sizes[low:middle]), -1)
        divide(halves.sum(axis=2), low, middle)
        divide(halves.sum(axis=1), middle, high)

    if sizes:
        divide(table, 0, len(sizes))
        belief = found[0].sum(axis=0)
    else:
        belief = table
    return Pairs(belief / probability, found / probability)


def inference_of(problem: Problem) -> PairInference:
    """Return the inference for a problem; the compiled join tree of the last problems is kept."""
    return _inference(problem.network, problem.target, problem.features)


@lru_cache(maxsize=8)
def _inference(network: Network, target: str, features: tuple[str, ...]) -> PairInference:
    return PairInference(network, target, features)


class PairInference:
    """Pairs at any evidence, without a table over the features. Threads share it."""

    def __init__(self, network: Network, target: str, features: tuple[str, ...]) -> None:
        self._network, self._target = network, network.index(target)
        self._nodes = [network.index(name) for name in features]
        self._codes = {
            name: (place, {state: code for code, state in enumerate(network.states[node])})
            for place, (name, node) in enumerate(zip(features, self._nodes, strict=True))
        }
        try:
            self._tree: JoinTree | None = JoinTree(network, self._target, self._nodes)
        except TooLargeError:  # known features may make smaller tables possible
            self._tree = None

    def at(self, known: Mapping[str, str]) -> Pairs:
        """Return the pairs at some evidence.

        Raises
        ------
        InputError
            The evidence is impossible.
        TooLargeError
            The tables of the inference do not fit the memory budget.
        """
        codes = np.full(len(self._nodes), -1)
        for name, state in known.items():
            place, numbers = self._codes[name]
            codes[place] = numbers[state]
        if self._tree is None:
            return self._eliminate(codes, known)
        found = self._tree.posteriors(codes)
        if found.log_probability == -math.inf:
            raise impossible(known)
        return Pairs(found.belief, found.pairs)

    def _eliminate(self, codes: NDArray[np.intp], known: Mapping[str, str]) -> Pairs:
        """Return the pairs by one elimination for each feature."""
        network = self._network
        evidence = {
            node: code for node, code in zip(self._nodes, codes.tolist(), strict=True) if code >= 0
        }
        belief = scaled_joint_table(network, [self._target], evidence).table
        if not belief.any():
            raise impossible(known)
        most = max((network.n_states[node] for node in self._nodes), default=1)
        pairs = np.zeros((len(self._nodes), most, len(belief)))
        for place, node in enumerate(self._nodes):
            if node in evidence:
                pairs[place, evidence[node]] = belief / belief.sum()
            else:
                table = scaled_joint_table(network, [self._target, node], evidence).table
                pairs[place, : table.shape[1]] = table.T / table.sum()
        return Pairs(belief / belief.sum(), pairs)
