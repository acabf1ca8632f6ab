r"""AO* on the training cases, with Laplace's correction and statistical pruning (AO*-SP-L).

A diagnostic policy is a solution of a Markov decision process whose states are sets s of known
features. No network is learned. The n(s) training cases that agree with s say everything, with
Laplace's correction:

    P(x_i = v | s) = (n(s, v) + 1) / (n(s, any value of i) + |X_i|),
    P(y | s)       = (n(s, y) + 1) / (n(s) + |Y|),

    V(s) = min { EMC(s),  min_i C(i | s) + Σ_v P(x_i = v | s) V(s, x_i = v) }.

AO* (Nilsson, 1980) keeps two values of each state. The *optimistic* one is a lower bound: a state
that was not looked into costs at least its best decision, or its cheapest test and the best
decision of any state below it, where no count is higher. The *real* one is the value of a policy
that is known: a state that was not looked into decides. Each round follows the best optimistic
tests to the state that matters most, by its probability and the distance of its two values, looks
into it, and updates the states above. If the two values of the root meet, the real policy is
optimal. If `MAX_STATES` states were looked into before that, the best real policy so far is used;
this limit is work, not time.

The policy of least cost on the training cases overfits, so the search is pruned (*statistical
pruning*): if the optimistic value of a state lies inside the 95 % confidence interval of the cost
of deciding there, the state decides. At last the policy is pruned once more (*pessimistic
post-pruning*), from the leaves to the root: a state decides if the upper end of that interval is
not above what its tests cost with the upper ends below them.

If a cell is missing, the search goes on from the state without that feature.

Bayer-Zubek, "Learning diagnostic policies from examples by systematic search", UAI 2004.
Bayer-Zubek, Dietterich, "Integrating learning from examples into the search for diagnostic
policies", Journal of Artificial Intelligence Research 24, 2005.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voilattice.baselines.interface import Baseline
from voilattice.baselines.walks import (
    NEVER,
    NOTHING,
    UNKNOWN,
    Offer,
    Prices,
    Walker,
    code_cases,
    learn_walker,
)
from voilattice.learning.data_tables import DataTable
from voilattice.learning.recipes import Recipe
from voilattice.learning.rivals import Decider, Question
from voilattice.model.costs import pricing_of
from voilattice.model.stakes import CostMatrix

__all__ = ["Search", "SystematicSearch"]

RECIPE = Recipe(structure="naive", max_bins=3)  # the thesis has two or three levels
# States that are looked into, from the start of a case: fewer if there are many cases, because each
# state counts those that agree with it.
MAX_STATES, LEAST_STATES = 20_000, 4_000
MAX_LOOKS = 8_000_000  # states x cases
MAX_MORE = 300  # after a cell was missing
CONFIDENCE = 1.96  # standard errors in half a 95 % interval
SAME = 1e-9  # values that differ by less, relative to the stakes, are equal

Codes = NDArray[np.intp]
Table = NDArray[np.float64]


class SystematicSearch(Baseline):
    """Search for the best policy on the training cases: Bayer-Zubek, Dietterich (2005)."""

    name = "AO*"

    def learn(self, table: DataTable, question: Question, seed: int) -> Decider:
        def learn(inside: DataTable) -> Walker | None:
            if (found := code_cases(inside, question, RECIPE)) is None:
                return None
            coding, cases = found
            codes = np.stack([cases.codes[name] for name in coding.features], axis=1)
            prices = Prices(question.costs, coding)
            search = Search(
                codes, cases.codes[question.target], coding.n_states, question.cost, prices
            )
            return Walker(question, coding, _Chooser(search))

        return learn_walker(table, question, seed, learn, is_tuned=False)


@dataclass(frozen=True, slots=True)
class _Chooser:
    search: Search

    def offer(self, states: Codes, prices: Table) -> Offer:
        nodes = [self.search.find(state) for state in states]
        feature = np.array([node.choice for node in nodes], dtype=np.intp)
        worth = np.where(feature == NOTHING, NEVER, np.inf)
        return Offer(feature, worth, np.stack([node.posterior for node in nodes]))


@dataclass(slots=True, eq=False)
class _Node:
    """A state: what agrees with it, and the bounds of its value."""

    state: Codes
    rows: Codes  # the training cases that agree
    posterior: Table
    emc: float
    half: float  # half of the confidence interval of the EMC
    lower: float
    upper: float
    above: list[tuple[_Node, int, int]] = field(default_factory=list)  # with feature and value
    below: dict[tuple[int, int], _Node] = field(default_factory=dict)
    is_open: bool = True  # it was not looked into
    prices: Table = field(default_factory=lambda: np.zeros(0))
    shares: Table = field(default_factory=lambda: np.zeros((0, 0)))  # P(x_i = v | s)
    lowers: Table = field(default_factory=lambda: np.zeros((0, 0)))  # of the states below
    uppers: Table = field(default_factory=lambda: np.zeros((0, 0)))
    test_lowers: Table = field(default_factory=lambda: np.zeros(0))  # of the tests, with prices
    test_uppers: Table = field(default_factory=lambda: np.zeros(0))
    optimistic: int = NOTHING  # the test of the lower bound
    real: int = NOTHING  # the test of the upper bound
    is_leaf: bool = False  # it was pruned
    choice: int = NOTHING  # after pruning
    worst: float = math.inf  # the upper end of what it costs


class Search:
    """The states that were met, and the policy over them.

    Parameters
    ----------
    codes, classes
        The training cases; a negative code is a missing cell.
    n_states
        Of each feature.
    prices
        What each feature costs at a state.
    is_pruned
        False: no pruning, so that the policy is optimal on the training cases.
    """

    def __init__(
        self,
        codes: Codes,
        classes: Codes,
        n_states: list[int],
        cost: CostMatrix,
        prices: Prices,
        *,
        is_pruned: bool = True,
        max_states: int | None = None,
        max_more: int = MAX_MORE,
    ) -> None:
        self._codes, self._classes, self._cost, self._prices = codes, classes, cost, prices
        self._sizes = np.array(n_states)
        if max_states is None:
            max_states = max(min(MAX_LOOKS // max(len(classes), 1), MAX_STATES), LEAST_STATES)
        self._is_pruned, self._max_states, self._max_more = is_pruned, max_states, max_more
        self._n_classes, self._width = cost.shape[1], max(n_states)
        self._orders = cost.argsort(axis=1, kind="stable")  # of the classes, by each decision
        self._tolerance = SAME * max(float(cost.max()), 1e-300)
        # The place of each cell in a table [feature, value, class]; missing ones come last.
        d = len(n_states)
        self._n_places = d * self._width * self._n_classes
        offsets = np.arange(d) * self._width
        places = (offsets + codes) * self._n_classes + classes[:, None]
        self._places = np.where(codes < 0, self._n_places, places)
        self._is_value = np.arange(self._width) < self._sizes[:, None]
        self._floors = _find_floors(prices)
        self._everything = np.bincount(classes, minlength=self._n_classes).astype(np.float64)
        self._emc_of_all = float(self._decide(self._everything)[1])
        self._nodes: dict[bytes, _Node] = {}
        self._planned: set[bytes] = set()  # states that have their choice

    def find(self, state: Codes) -> _Node:
        """Return a state with its choice."""
        key = state.tobytes()
        if key not in self._planned:
            self._search(self._node(state), self._max_more if self._planned else self._max_states)
        return self._nodes[key]

    # -- the search

    def _search(self, root: _Node, limit: int) -> None:
        for _ in range(limit):
            if (node := self._most_urgent(root)) is None:
                break
            self._look_into(node)
            self._update_above(node)
        self._plan(root)

    def _most_urgent(self, root: _Node) -> _Node | None:
        """Follow the optimistic tests to a state that was not looked into; None: all is known."""
        node = root
        while root.upper - root.lower > self._tolerance:
            if node.is_open:
                return node
            k = node.optimistic
            gaps = node.shares[k] * (node.uppers[k] - node.lowers[k])
            value = int(gaps.argmax())
            below = self._below(node, k, value)
            if (below.lower, below.upper) == (node.lowers[k, value], node.uppers[k, value]):
                node = below
            else:  # it was reached in another order of tests, and is known better
                self._update_above(below)
                node = root
        return None

    def _below(self, node: _Node, k: int, value: int) -> _Node:
        found = node.below.get((k, value))
        if found is None:
            state = node.state.copy()
            state[k] = value
            rows = node.rows[self._codes[node.rows, k] == value]
            found = node.below[k, value] = self._node(state, rows)
            found.above.append((node, k, value))
        return found

    def _node(self, state: Codes, rows: Codes | None = None) -> _Node:
        key = state.tobytes()
        if (found := self._nodes.get(key)) is None:
            if rows is None:
                asked = np.flatnonzero(state >= 0)
                agrees = (self._codes[:, asked] == state[asked]).all(axis=1)
                rows = np.flatnonzero(agrees)
            counts = np.bincount(self._classes[rows], minlength=self._n_classes).astype(np.float64)
            posterior, emc, half = self._decide(counts)
            lower = self._least_price(state) + float(self._least_emc(counts))
            lower = min(float(emc), lower)
            found = self._nodes[key] = _Node(
                state, rows, posterior, float(emc), float(half), lower, float(emc)
            )
        return found

    def _decide(self, counts: Table) -> tuple[Table, Table, Table]:
        """Return P(y | s), EMC(s) and half of its confidence interval, from counts [.., class]."""
        n = counts.sum(axis=-1)
        # Where no case agrees, all cases speak.
        counts = np.where((n > 0)[..., None], counts, self._everything)
        n = np.where(n > 0, n, len(self._classes))
        posterior = (counts + 1) / (n + self._n_classes)[..., None]
        risks = posterior @ self._cost.T
        decision = risks.argmin(axis=-1)
        emc: Table = risks.min(axis=-1)
        square = (posterior * self._cost[decision] ** 2).sum(axis=-1)
        spread = np.sqrt(np.maximum(square - emc**2, 0.0))
        return posterior, emc, CONFIDENCE * spread / np.sqrt(n)

    def _look_into(self, node: _Node) -> None:
        """Find what all tests at a state lead to."""
        node.is_open = False
        node.prices = self._prices.at(node.state[None])[0]
        places = self._places[node.rows].reshape(-1)
        counts = np.bincount(places, minlength=self._n_places + 1)[:-1].astype(np.float64)
        counts = counts.reshape(len(self._sizes), self._width, self._n_classes)
        n = counts.sum(axis=2)
        shares = (n + 1) / (n.sum(axis=1) + self._sizes)[:, None]
        node.shares = np.where(self._is_value, shares, 0.0)
        _, node.uppers, _ = self._decide(counts)
        more = self._least_prices(node.state)[:, None] + self._least_emc(counts)
        node.lowers = np.minimum(node.uppers, more)
        node.test_lowers = node.prices + (node.shares * node.lowers).sum(axis=1)
        node.test_uppers = node.prices + (node.shares * node.uppers).sum(axis=1)
        self._bound(node)

    def _least_price(self, state: Codes) -> float:
        """Return a lower bound on the price of the next test at a state."""
        return float(self._floors[state == UNKNOWN].min(initial=np.inf))

    def _least_prices(self, state: Codes) -> Table:
        """Return the same for the states after each test."""
        order = np.flatnonzero(state == UNKNOWN)
        order = order[np.argsort(self._floors[order], kind="stable")]
        found = np.full(len(state), self._floors[order[0]])
        found[order[0]] = self._floors[order[1:2]].min(initial=np.inf)
        return found

    def _least_emc(self, counts: Table) -> Table:
        """Return a lower bound on the EMC of all states below states with counts [.., class].

        The counts below are not higher. For a decision i, Σ_j c_ij (n_j + 1) / (n + |Y|) is least
        if the cases of its cheapest classes are all there and the others are not.
        """
        least = np.full(counts.shape[:-1], self._emc_of_all)
        for costs, order in zip(self._cost, self._orders, strict=True):
            kept = np.cumsum(counts[..., order], axis=-1)
            paid = np.cumsum(counts[..., order] * costs[order], axis=-1)
            risk = (paid + costs.sum()) / (kept + self._n_classes)
            least = np.minimum(least, risk.min(axis=-1))
        return least

    def _bound(self, node: _Node) -> None:
        """Find the bounds of a state from those of its tests."""
        if node.is_leaf:
            return
        lowers, uppers = node.test_lowers, node.test_uppers
        node.optimistic, real = int(lowers.argmin()), int(uppers.argmin())
        node.lower = min(node.emc, float(lowers[node.optimistic]))
        node.upper = min(node.emc, float(uppers[real]))
        node.real = real if uppers[real] < node.emc - self._tolerance else NOTHING
        if self._is_pruned and node.lower >= node.emc - node.half:
            node.is_leaf, node.real = True, NOTHING
            node.lower = node.upper = node.emc

    def _update_above(self, node: _Node) -> None:
        changed = [node]
        while changed:
            below = changed.pop()
            for above, k, value in below.above:
                before = above.lower, above.upper
                above.lowers[k, value], above.uppers[k, value] = below.lower, below.upper
                above.test_lowers[k] = above.prices[k] + above.shares[k] @ above.lowers[k]
                above.test_uppers[k] = above.prices[k] + above.shares[k] @ above.uppers[k]
                self._bound(above)
                if (above.lower, above.upper) != before:
                    changed.append(above)

    # -- the policy

    def _plan(self, node: _Node) -> float:
        """Choose at a state and at those that it leads to; return what it may cost at worst."""
        key = node.state.tobytes()
        if key not in self._planned:
            self._planned.add(key)
            node.choice, node.worst = NOTHING, node.emc + node.half
            if (k := node.real) != NOTHING:
                worst = node.prices[k] + sum(
                    node.shares[k, value] * self._plan(self._below(node, k, value))
                    for value in range(self._sizes[k])
                )
                if not self._is_pruned or worst < node.worst:
                    node.choice, node.worst = k, worst
        return node.worst


def _find_floors(prices: Prices) -> Table:
    """Return a lower bound on the price of each feature at any state."""
    least = pricing_of(prices.costs).least_own_price
    return np.array([least(name, {}) for name in prices.coding.features])
