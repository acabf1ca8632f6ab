r"""Hubs: a few nodes that make all features independent given the target.

At the problem's own evidence e, let the features that can matter be independent given Y, e and the
nodes of a set H: the *hub*. Its nodes are hidden or features; it is empty for naive Bayes. By
d-separation, in the moral graph of the ancestors of all features, Y and e, no two features outside
H are connected once Y, e and H are deleted. (Pairs are enough: d-separation from two sets is
d-separation from their union.) More nodes separate more, so leaving out one node after another, as
long as the others still separate, ends at a hub of which no node can be left out. Several orders
are tried, and the hub with the fewest joint states is taken.

Given a value h of the hub, P(x_1, x_2, ... | y, h, e) = prod_i P(x_i | y, h, e). A feature in the
hub is known at h.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Floats, Ints
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import Graph, graph_of
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.problem import Problem

__all__ = ["Hub", "find_hub", "least_prices", "rank_features", "reveal"]

MAX_LIKELIHOODS = 1 << 24  # numbers P(x_i | y, h)
HUB_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Hub:
    """A problem whose hub is revealed: features independent given Y and a value h of the hub."""

    nodes: tuple[int, ...]
    prior: Floats  # [h, y]
    likelihood: Floats  # [i, x, h, y]
    tells: Ints  # [h, i]: 1 if feature i tells something about Y at h
    prices: Floats  # the least price of each feature
    cost: Floats  # c_ij


def find_hub(
    problem: Problem, max_states: int, deadline: Deadline | None = None
) -> tuple[int, ...] | None:
    """Return nodes that make all relevant features independent given Y: few states in all.

    None: there are none with at most `max_states`, or none were found before the deadline.
    """
    graph = graph_of(problem)
    e = problem.feature_mask(problem.evidence)
    features = graph.nodes(graph.relevant(e))
    known = graph.nodes(e) | 1 << graph.target
    sizes = problem.network.n_states
    candidates = list(bits(graph.moral.ancestral(features | known) & ~known))
    best, fewest = None, max_states + 1
    source = random.Random(0)
    for attempt in range(HUB_ATTEMPTS):
        # Leave out one node after another: features first in one attempt, large nodes in the next,
        # then in random orders.
        jitter = {v: source.uniform(0.5, 1.5) if attempt > 1 else 1.0 for v in candidates}
        order = [((features >> v & 1) * (attempt % 2), sizes[v] * jitter[v], v) for v in candidates]
        hub = mask_of(candidates)
        for *_, node in sorted(order, reverse=True):
            if deadline is not None and deadline.is_over:
                return best
            if _separates(graph, features, known, hub & ~(1 << node)):
                hub &= ~(1 << node)
        n = math.prod(sizes[v] for v in bits(hub))
        if n < fewest:
            best, fewest = tuple(bits(hub)), n
        if not hub:
            break
    return best


def _separates(graph: Graph, features: int, known: int, hub: int) -> bool:
    """Return whether features outside the hub are independent given it and what is known."""
    blocked = known | hub
    left = features & ~blocked
    while left:
        first = left & -left
        left ^= first
        if graph.moral.flood(first, blocked, features) & left:
            return False
    return True


def reveal(
    problem: Problem, nodes: tuple[int, ...], deadline: Deadline | None = None
) -> Hub | None:
    """Return P(y, h | e) and P(x_i | y, h, e) of a problem; None: too many, or not in time."""
    network, graph = problem.network, graph_of(problem)
    n_values = math.prod(network.n_states[v] for v in nodes) * len(problem.classes)
    largest = max(map(len, map(problem.states, problem.features)))
    if n_values * largest * len(problem.features) > MAX_LIKELIHOODS:
        return None
    e = problem.feature_mask(problem.evidence)
    known = problem.node_states(problem.evidence)
    n_classes = len(problem.classes)
    joint = scaled_joint_table(network, [graph.target, *nodes], known).table
    joint = (joint / joint.sum()).reshape(n_classes, -1).T
    mass = joint.sum(axis=1)
    possible = np.argsort(-mass, kind="stable")[: np.count_nonzero(mass)]  # most probable first
    prior = np.ascontiguousarray(joint[possible])
    n_hub = len(prior)
    likelihood = np.ones((len(problem.features), largest, n_hub, n_classes))
    tells = np.zeros((n_hub, len(problem.features)), np.int64)
    shape = [network.n_states[v] for v in nodes]
    digits = np.array(np.unravel_index(possible, shape)) if nodes else np.empty((0, n_hub))
    for k in bits(graph.relevant(e)):
        if deadline is not None and deadline.is_over:
            return None
        node = graph.features[k]
        size = network.n_states[node]
        if node in nodes:
            value = digits[nodes.index(node)]
            table = (np.arange(size)[:, None] == value).astype(float)[:, :, None]
            table = np.broadcast_to(table, (size, n_hub, n_classes))
        else:
            found = scaled_joint_table(network, [node, graph.target, *nodes], known).table
            found = found.reshape(size, n_classes, -1).transpose(0, 2, 1)[:, possible]
            mass = found.sum(axis=0)
            table = np.divide(found, mass, out=np.ones_like(found), where=mass > 0)
            tells[:, k] = _tells(table, prior)
        likelihood[k] = 0.0
        likelihood[k, :size] = table
    prices = least_prices(problem)
    return Hub(nodes, prior, likelihood, tells, prices, problem.misclassification)


def _tells(table: Floats, prior: Floats) -> Ints:
    """Return for each h whether P(x | y, h) differs between classes that are possible at h."""
    possible = prior > 0
    low = np.where(possible, table, np.inf).min(axis=-1)
    high = np.where(possible, table, -np.inf).max(axis=-1)
    result: Ints = (high - low > 1e-12 * high).any(axis=0).astype(np.int64)
    return result


def least_prices(problem: Problem) -> Floats:
    """Return the least own price of each feature over all evidence."""
    least = problem.pricing.least_own_price
    return np.array([least(name, problem.evidence) for name in problem.features])


def rank_features(hub: Hub, h: int) -> list[int]:
    """Return the features that tell something at h, most information for their price first."""
    features = np.flatnonzero(hub.tells[h])
    ratio = _information(hub, h)[features] / np.maximum(hub.prices[features], 1e-300)
    order: list[int] = features[np.argsort(-ratio, kind="stable")].tolist()
    return order


def _information(hub: Hub, h: int) -> Floats:
    """Return the mutual information of each feature and Y at h."""
    joint = hub.likelihood[:, :, h] * hub.prior[h] / hub.prior[h].sum()
    apart = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, apart, out=np.ones_like(joint), where=(joint > 0) & (apart > 0))
    result: Floats = (joint * np.log(ratio)).sum(axis=(1, 2))
    return result
