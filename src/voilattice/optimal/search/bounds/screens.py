r"""What to give away so that a table of the rest fits: cheap features, and screens.

The bound of `reveal` needs a table over all features that matter. If there are too many, some can
be *dropped*: a part D of the features is worthless once its *screen* is known, a set of nodes that
separates D from Y and from all other features. A screen may hold hidden nodes, which nobody can
buy, and features. So give the screen away and forget D.

Which screens: giving a node Z away loses at most the value of Z. For a feature this is at most its
price. Otherwise it is estimated as the share of the uncertainty about Y that Z takes away,

    EMC(e) I(Y; Z | e) / H(Y | e).

The estimate only guides the choice; the bound is valid for every choice. The screen with the
highest ratio of the room that it saves, in logarithms, to what it loses is taken first, then the
next one, and so on, with small and with larger parts. With the screens so far, the cheapest
features are given away until the table of states fits: a feature with s values multiplies it by s
if it is given away, and else by s + 1. Features that share a group, or that other prices depend on,
come last. Of all these plans, the one that loses least is taken; plans that give only features away
come first, because their gap is at most the price of these features.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import DigitPrices, Floats
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import Graph, graph_of
from voilattice.model.elimination import scaled_joint_table
from voilattice.model.network import MAX_AXES
from voilattice.model.problem import Problem
from voilattice.valuation.valuation import expected_emc

__all__ = ["Plan", "plan_reveal"]

MAX_VALUES = 1 << 22  # of all that is given away: a bound sums over so many entries at most
MAX_TABLED = 3**11  # states of what is not given away: the work on a value then fits a cache
JOINT_TABLES = 3  # of the size of the joint table, at once, while it is computed
COPIES = 2  # of the joint table, while the states are solved
PART_SIZES = (1, 2, 4, 8)  # features in a dropped part: the best of these limits is taken
MAX_PART_STATES = 1_000  # of a dropped part
MAX_LIKELIHOODS = 1 << 25  # numbers that say how probable dropped features are
LEAST_LOSS = 1e-6  # of a node that says nothing, as a share of EMC(e)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is given away, what stays in the table, and what is dropped.

    Features are numbers in the order of a search, and nodes are numbers of the network.
    """

    revealed: tuple[int, ...]  # nodes
    tabled: tuple[int, ...]  # features
    screens: Mapping[tuple[int, ...], tuple[int, ...]]  # of each dropped part: nodes of `revealed`


def plan_reveal(
    problem: Problem,
    features: Sequence[int],
    prices: DigitPrices,
    *,
    max_states: int,
    max_bytes: int,
    deadline: Deadline | None = None,
) -> Plan | None:
    """Return what to give away so that the tables fit; None: no way was found.

    Parameters
    ----------
    features
        The features that matter, by their numbers in the problem.
    prices
        Their prices.
    max_states
        The most entries of the table of states.
    max_bytes
        The most memory for all tables, those of the work included.
    deadline
        When to stop looking for better plans.
    """
    plans: list[tuple[bool, float, int, Plan]] = []
    deadline = deadline or Deadline()
    for largest in PART_SIZES:
        planner = _Planner(problem, features, prices, largest, deadline)
        while True:
            if (plan := planner.fit(max_states, max_bytes)) is not None:
                hidden = planner.gives_hidden(plan)
                plans.append((hidden, planner.loss_of(plan), len(plans), plan))
            if not planner.add_screen():
                break
        if deadline.is_over:
            break
    return min(plans)[3] if plans else None


class _Planner:
    """What is given away so far."""

    def __init__(
        self,
        problem: Problem,
        features: Sequence[int],
        prices: DigitPrices,
        largest: int,
        deadline: Deadline,
    ) -> None:
        self._deadline = deadline
        self._problem, self._prices, self._largest = problem, prices, largest
        self._graph: Graph = graph_of(problem)
        self._nodes = [self._graph.features[k] for k in features]
        self._sizes = problem.network.n_states
        self._known = self._graph.nodes(problem.feature_mask(problem.evidence))
        self._revealed = 0
        self._screens: dict[tuple[int, ...], int] = {}  # of each dropped part, as a mask of nodes
        self._loss: dict[int, float] = {}

    def fit(self, max_states: int, max_bytes: int) -> Plan | None:
        """Return the plan with the screens so far; None: its tables do not fit."""
        joint = 8 * self.n_cells
        if JOINT_TABLES * joint > max_bytes or self.n_axes >= MAX_AXES:
            return None
        cheap = self.choose_cheap(min(max_states, (max_bytes - COPIES * joint) // 8))
        return None if cheap is None else self.plan(cheap)

    def gives_hidden(self, plan: Plan) -> bool:
        """Return whether a plan gives hidden nodes away, so that its gap has no guarantee."""
        return not set(plan.revealed) <= set(self._nodes)

    def loss_of(self, plan: Plan) -> float:
        """Return about how much a plan loses."""
        return sum(map(self._loss_of, plan.revealed))

    @property
    def _active(self) -> list[int]:
        """The features that are neither given away nor dropped."""
        dropped = {i for part in self._screens for i in part}
        return [
            i
            for i, node in enumerate(self._nodes)
            if i not in dropped and not self._revealed >> node & 1
        ]

    @property
    def n_axes(self) -> int:
        """The number of axes of the joint table."""
        return 1 + len(self._active) + self._revealed.bit_count()

    @property
    def n_cells(self) -> int:
        """The number of cells of the joint table."""
        kept = (self._sizes[self._nodes[i]] for i in self._active)
        return len(self._problem.classes) * self._n_values * math.prod(kept)

    @property
    def _n_values(self) -> int:
        return math.prod(self._sizes[node] for node in bits(self._revealed))

    def choose_cheap(self, max_states: int) -> list[int] | None:
        """Return the features to give away in addition; None: the table never fits."""
        entangled = entangled_features(self._prices)
        active = self._active
        least = {i: float(own_prices(self._prices, i).min()) for i in active}
        chosen: list[int] = []
        n_values = self._n_values
        n_tabled = math.prod(self._sizes[self._nodes[i]] + 1 for i in active)
        for i in sorted(active, key=lambda i: (i in entangled, least[i], i)):
            if n_values * n_tabled <= max_states and n_tabled <= MAX_TABLED:
                break
            size = self._sizes[self._nodes[i]]
            chosen.append(i)
            n_values *= size
            n_tabled //= size + 1
        n_likelihoods = n_values * sum(map(self._n_part_states, self._screens))
        fits = (
            n_values * n_tabled <= max_states
            and n_values <= MAX_VALUES
            and n_likelihoods <= MAX_LIKELIHOODS
        )
        return chosen if fits else None

    def _n_part_states(self, part: tuple[int, ...]) -> int:
        return math.prod(self._sizes[self._nodes[i]] + 1 for i in part)

    def plan(self, cheap: Sequence[int]) -> Plan:
        revealed = self._revealed | mask_of(self._nodes[i] for i in cheap)
        tabled = tuple(i for i in self._active if i not in cheap)
        screens = {part: tuple(bits(screen)) for part, screen in self._screens.items()}
        return Plan(tuple(bits(revealed)), tabled, screens)

    def add_screen(self) -> bool:
        """Give the best screen away and drop what it separates; False: there is none in time."""
        best, ratio = 0, 0.0
        for candidate in self._candidates():
            if self._deadline.is_over:
                return False
            saved = self._saved(candidate)
            if saved <= 0:
                continue
            loss = sum(self._loss_of(node) for node in bits(candidate))
            if saved / loss > ratio:
                best, ratio = candidate, saved / loss
        if not best:
            return False
        self._revealed |= best
        self._screens = self._dropped(self._revealed)
        return True

    def _candidates(self) -> Iterable[int]:
        """Return sets of nodes to try: every node, and the neighbours of every feature."""
        graph, own = self._graph, self._known | 1 << self._graph.target | self._revealed
        every = graph.moral.ancestral(mask_of(self._nodes) | own)
        found = {1 << node for node in bits(every & ~own)}
        for i in self._active:
            around = graph.moral.flood(1 << self._nodes[i], every & ~(1 << self._nodes[i]))
            around &= ~(1 << self._nodes[i])
            if not around >> graph.target & 1:
                found.add(around & ~own)
        found.discard(0)
        return sorted(found)

    def _saved(self, candidate: int) -> float:
        """Return the logarithm of the room that giving a set away saves."""
        dropped = self._dropped(self._revealed | candidate)
        saved = sum(math.log(self._n_part_states(part)) for part in dropped)
        saved -= sum(math.log(self._n_part_states(part)) for part in self._screens)
        features = mask_of(self._nodes)
        for node in bits(candidate):
            size = self._sizes[node]
            if not features >> node & 1:
                saved -= math.log(size)
            elif all(self._nodes[i] != node for part in self._screens for i in part):
                saved += math.log((size + 1) / size)
        return saved if dropped.keys() != self._screens.keys() else 0.0

    def _dropped(self, revealed: int) -> dict[tuple[int, ...], int]:
        """Return the parts of the features that some nodes separate, and their screens."""
        graph, found = self._graph, {}
        features = mask_of(self._nodes)
        blocked = revealed | self._known
        left = features & ~blocked
        while left:
            first = left & -left
            touched = graph.moral.flood(first, blocked, features | 1 << graph.target)
            inside = touched & features & ~blocked
            left &= ~inside
            part = tuple(i for i, node in enumerate(self._nodes) if inside >> node & 1)
            small = len(part) <= self._largest and self._n_part_states(part) <= MAX_PART_STATES
            if small and not touched >> graph.target & 1:
                found[part] = touched & revealed
        return found

    def _loss_of(self, node: int) -> float:
        """Return about how much giving a node away loses."""
        if node not in self._loss:
            problem = self._problem
            table = scaled_joint_table(
                problem.network,
                [self._graph.target, node],
                problem.node_states(problem.evidence),
            ).table
            table = table / table.sum()
            stake = expected_emc(table.sum(axis=1), problem.misclassification)
            loss = max(stake * _information(table), LEAST_LOSS * max(stake, 1.0))
            if node in self._nodes:
                loss = min(loss, float(own_prices(self._prices, self._nodes.index(node)).min()))
            self._loss[node] = max(loss, LEAST_LOSS)
        return self._loss[node]


def _information(table: Floats) -> float:
    """Return I(Y; Z) / H(Y) from P(Y, Z)."""

    def entropy(p: Floats) -> float:
        positive = p[p > 0]
        return -float(positive @ np.log(positive))

    prior = entropy(table.sum(axis=1))
    both = entropy(table.reshape(-1)) - entropy(table.sum(axis=0))  # H(Y | Z)
    return (prior - both) / prior if prior > 0 else 0.0


def own_prices(prices: DigitPrices, i: int) -> Floats:
    """Return all own prices of a feature."""
    ends = [*prices.starts[1:].tolist(), len(prices.own)]
    return prices.own[prices.starts[i] : ends[i]]


def entangled_features(prices: DigitPrices) -> set[int]:
    """Return the features that prices of other features depend on."""
    named = set(np.flatnonzero((prices.steps != 0).any(axis=0)).tolist())
    groups = prices.group_of.tolist()
    due = {g: prices.surcharge[prices.group_of == g].max() for g in groups}
    return named | {
        i for i, g in enumerate(groups) if g >= 0 and groups.count(g) > 1 and due[g] > 0
    }
