r"""Naive Bayes and tree-augmented naive Bayes, for many rows of codes at once.

Every feature X_i depends on the class, and perhaps on one other feature, its parent:

    P(y, x) = P(y) Π_i P(x_i | y, x_parent(i)).

So in each class the features are a forest. With evidence s on some of them, one pass from the
leaves to the roots gives P(y | s), and a pass back gives P(x_i | y, s) of all features (Pearl,
1988). The passes run over all rows at once: a message has the axes [class, row, state].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.learning.networks import fit_network
from voilattice.learning.preparation import Prepared
from voilattice.learning.recipes import Recipe

__all__ = ["ClassForest"]

Codes = NDArray[np.intp]
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClassForest:
    """The prior, and for each feature its parent (negative: none) and P(x | y, u) as [y, u, x]."""

    prior: Table
    parents: tuple[int, ...]
    tables: tuple[Table, ...]

    @classmethod
    def fit(cls, cases: Prepared, recipe: Recipe) -> ClassForest:
        """Learn from cases; the recipe's structure is ``naive`` or ``tree``."""
        network = fit_network(cases, recipe).network
        target = network.index(cases.target)
        places = {network.index(name): k for k, name in enumerate(cases.features)}
        parents, tables = [], []
        for name in cases.features:
            node = network.index(name)
            others = [p for p in network.parents[node] if p != target]
            table = network.tables[node]
            if not others:
                table = table[:, None, :]
            elif network.parents[node][0] != target:
                table = table.transpose(1, 0, 2)
            parents.append(places[others[0]] if others else -1)
            tables.append(np.ascontiguousarray(table))
        return cls(network.tables[target], tuple(parents), tuple(tables))

    def posterior(self, states: Codes) -> Table:
        """Return P(y | s): [row, class]."""
        return self._collect(states)[0]

    def joints(
        self, states: Codes, features: Sequence[int] | None = None
    ) -> tuple[Table, list[Table]]:
        """Return P(y | s) as [row, class], and P(y, x_i | s) as [row, class, x].

        Parameters
        ----------
        features
            For which X_i; by default for all.
        """
        posterior, likelihoods, messages = self._collect(states)
        beliefs: dict[int, Table] = {}  # P(x_i | y, s): [class, row, x]

        def find(k: int) -> Table:
            if k not in beliefs:
                before, above = self.tables[k], self.parents[k]
                if above >= 0:
                    before = np.matmul(find(above) / messages[k], before)
                belief = before * likelihoods[k]
                beliefs[k] = belief / belief.sum(axis=2, keepdims=True)
            return beliefs[k]

        wanted = range(len(self.tables)) if features is None else features
        return posterior, [posterior[:, :, None] * find(k).transpose(1, 0, 2) for k in wanted]

    def _collect(self, states: Codes) -> tuple[Table, list[Table], dict[int, Table]]:
        """Pass messages to the roots: P(y | s), P(s below x | x, y), and the messages."""
        log_posterior = np.tile(np.log(self.prior)[:, None], (1, len(states)))
        likelihoods = [_evidence(states[:, k], t.shape) for k, t in enumerate(self.tables)]
        messages: dict[int, Table] = {}
        for k in self._order():
            message = np.matmul(likelihoods[k], self.tables[k].transpose(0, 2, 1))
            # A factor that is the same for all classes does not change what is found.
            message /= message.max(axis=(0, 2), keepdims=True)
            messages[k] = message
            if (above := self.parents[k]) < 0:
                log_posterior += np.log(message[:, :, 0])
            else:
                likelihoods[above] = likelihoods[above] * message
        found = np.exp(log_posterior - log_posterior.max(axis=0))
        return (found / found.sum(axis=0)).T, likelihoods, messages

    def _order(self) -> Sequence[int]:
        """Return the features, each before its parent."""
        depth = []
        for k in range(len(self.parents)):
            n, above = 0, self.parents[k]
            while above >= 0:
                n, above = n + 1, self.parents[above]
            depth.append(n)
        return sorted(range(len(depth)), key=lambda k: -depth[k])


def _evidence(codes: Codes, shape: tuple[int, ...]) -> Table:
    """Return [class, row, state]: 1 where a state agrees with the code; unknown: everywhere."""
    n_classes, _, n_states = shape
    agrees = (codes[:, None] == np.arange(n_states)) | (codes < 0)[:, None]
    return np.broadcast_to(agrees.astype(np.float64), (n_classes, len(codes), n_states))
