r"""Semi-myopic test selection: clusters of features are valued as a whole.

Two tests may be worth little one by one and much together, and tests of one procedure are ordered
together. So features are put into clusters G, and a cluster is valued as a whole, by what it is
expected to take off the uncertainty about the target, the Gini index H(s) = 1 - Σ_y P(y | s)²:

    Gain(G) = H(s) - Σ_g P(g | s) H(s, g),

for the price of all its features together. The cluster with the highest gain for its price is
opened. Inside it, features are bought one by one, the highest gain for its price first, and the
next one is chosen when the result is there, until no other feature of the cluster tells anything.
The stop rule is looked at between clusters only: no cluster gains more than σ for each unit of
money, or the expected misclassification cost is at most τ. The paper leaves the thresholds to the
user; here cross-validated total cost chooses them (`walks`).

*The clusters.* The paper takes them from experts: tests that belong together. Groups and discounts
say the same of costs, so all features of a cluster share one group or discount, or none of them has
any. Within this limit, the arcs of a tree-augmented naive Bayes join clusters, as long as no
cluster has more than `MAX_SIZE` features; the arc between the features that tell most about each
other in the classes comes first.

Sent, van der Gaag, "Enhancing automated test selection in probabilistic networks", Artificial
Intelligence in Medicine (AIME), 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.class_forests import ClassForest
from voilattice.baselines.interface import Baseline
from voilattice.baselines.walks import (
    LEAST_GAIN,
    NOTHING,
    UNKNOWN,
    Offer,
    Prices,
    StateCoding,
    Walker,
    code_cases,
    divide_by_prices,
    learn_walker,
)
from voilattice.learning.data_tables import DataTable
from voilattice.learning.recipes import Recipe
from voilattice.learning.rivals import Decider, Question
from voilattice.model.costs import CostModel, pricing_of

__all__ = ["FeatureClusters", "find_clusters", "gini_gain"]

RECIPE = Recipe(structure="tree", max_bins=3)
MAX_SIZE = 3

Codes = NDArray[np.intp]
Table = NDArray[np.float64]
Cluster = tuple[int, ...]


class FeatureClusters(Baseline):
    """Open the cluster that tells most for its price: Sent, van der Gaag (2007)."""

    name = "clusters"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        def learn(inside: DataTable) -> Walker | None:
            if (found := code_cases(inside, question, RECIPE)) is None:
                return None
            coding, cases = found
            model = ClassForest.fit(cases, RECIPE)
            clusters = find_clusters(model, coding, question.costs)
            prices = Prices(question.costs, coding, clusters)
            return Walker(question, coding, _Chooser(model, clusters, prices))

        return learn_walker(table, question, seed, learn, is_tuned=True)


def find_clusters(model: ClassForest, coding: StateCoding, costs: CostModel) -> tuple[Cluster, ...]:
    """Return clusters along the tree's arcs, each inside one group or discount, or outside all."""
    sharing = dict.fromkeys(coding.features, -1)
    for k, one in enumerate(pricing_of(costs).sharings):
        sharing |= {name: k for name in one.features if name in sharing}
    _, joints = model.joints(np.full((1, len(coding.features)), UNKNOWN))
    arcs = []
    for k, above in enumerate(model.parents):
        if above >= 0 and sharing[coding.features[k]] == sharing[coding.features[above]]:
            before = joints[above][0] / joints[above][0].sum(axis=1, keepdims=True)
            told = _information(model.prior, before, model.tables[k])
            arcs.append((-told, k, above))
    owner: dict[int, Cluster] = {k: (k,) for k in range(len(coding.features))}
    for _, k, above in sorted(arcs):
        joined = (*owner[k], *owner[above])
        if len(joined) <= MAX_SIZE:
            owner |= dict.fromkeys(joined, tuple(sorted(joined)))
    return tuple(sorted(set(owner.values())))


def _information(prior: Table, above: Table, table: Table) -> float:
    """Return I(X; U | Y) from P(y), P(u | y) and P(x | y, u)."""
    joint = prior[:, None, None] * above[:, :, None] * table
    alone = joint.sum(axis=1, keepdims=True)
    alone = alone / joint.sum(axis=(1, 2), keepdims=True)
    return float((joint * np.log(table / alone)).sum())


@dataclass(frozen=True, slots=True)
class _Chooser:
    model: ClassForest
    clusters: tuple[Cluster, ...]
    prices: Prices  # of the clusters

    def offer(self, states: Codes, prices: Table) -> Offer:
        posterior, joints = self.model.joints(states)
        single = np.stack([gini_gain(posterior, joint) for joint in joints], axis=1)
        # A cluster is open if a feature of it was bought, and another still tells something.
        tells = np.isfinite(prices) & (single > LEAST_GAIN)
        is_open = np.stack(
            [
                (states[:, g] >= 0).any(axis=1) & tells[:, g].any(axis=1)
                for g in map(list, self.clusters)
            ],
            axis=1,
        )
        cluster, worth = is_open.argmax(axis=1), np.full(len(states), np.inf)
        closed = ~is_open.any(axis=1)
        if closed.any():
            gains = [self._gain(states[closed], posterior[closed], g) for g in self.clusters]
            cluster[closed], worth[closed] = divide_by_prices(
                np.stack(gains, axis=1), self.prices.at(states[closed])
            )
        return Offer(self._first(cluster, single, prices), worth, posterior)

    def _first(self, cluster: Codes, single: Table, prices: Table) -> Codes:
        """Return the feature of each row's cluster that tells most for its price."""
        inside = np.full(prices.shape, np.inf)
        for k, members in enumerate(map(list, self.clusters)):
            rows = np.flatnonzero(cluster == k)[:, None]
            inside[rows, members] = prices[rows, members]
        first, _ = divide_by_prices(single, inside)
        # Features may tell something together and nothing alone; then the cheapest comes first.
        return np.where((first == NOTHING) & (cluster != NOTHING), inside.argmin(axis=1), first)

    def _gain(self, states: Codes, posterior: Table, cluster: Cluster) -> Table:
        """Return Gain(G) of the features of a cluster that can still be bought."""
        found = np.zeros(len(states))
        patterns, places = np.unique(states[:, cluster] == UNKNOWN, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            here = places.reshape(-1) == k
            members = np.array(cluster)[pattern].tolist()
            if members:
                after = self._expected_gini(states[here], members)
                found[here] = _gini(posterior[here]) - after
        return found

    def _expected_gini(self, states: Codes, members: Sequence[int]) -> Table:
        """Return Σ_g P(g | s) H(s, g) over the values g of some features."""
        first, *others = members
        _, [joint] = self.model.joints(states, [first])
        shares = joint.sum(axis=1)  # P(v | s): [row, v]
        if not others:
            return _gini_after(joint)
        n_values = shares.shape[1]
        further = np.repeat(states, n_values, axis=0)
        further[:, first] = np.tile(np.arange(n_values), len(states))
        after = self._expected_gini(further, others).reshape(shares.shape)
        found: Table = (shares * after).sum(axis=1)
        return found


def gini_gain(posterior: Table, joint: Table) -> Table:
    """Return Gain of one feature from P(y | s) and P(y, v | s)."""
    return _gini(posterior) - _gini_after(joint)


def _gini_after(joint: Table) -> Table:
    """Return Σ_v P(v | s) H(s, v) from P(y, v | s)."""
    shares = joint.sum(axis=1)
    found: Table = (shares - (joint**2).sum(axis=1) / np.maximum(shares, LEAST_GAIN)).sum(axis=1)
    return found


def _gini(posterior: Table) -> Table:
    found: Table = 1 - (posterior**2).sum(axis=1)
    return found
