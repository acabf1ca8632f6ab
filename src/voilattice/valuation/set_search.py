r"""Branch and bound over sets of features, for the set of highest benefit (`best_set`).

A node of the search is a pair (K, U): the features kept and the features still undecided. The sets
below the node are all S with K ⊆ S ⊆ K ∪ U. Larger sets never have lower EVI or C, so

    Benefit(S | e) <= EVI(K ∪ U | e) - C(K | e)                                (the bound)

for all of them. Deciding a feature gives two nodes. With the feature, the table is the same and the
price is higher. Without it, the table is summed over the feature (Section 3.2.3) and the EVI is
lower. K ∪ U is itself a set below the node, so every table also values a candidate. Expensive
features are decided first, because keeping one of them lowers the bound most.

If the table over all features does not fit the memory budget, the top nodes have no table. There

    EVI(S | e) <= EVI(W | e)   and   EVI(S | e) <= EMC(e) - sum_j P(y_j | e) min_i c_ij

are the bounds. In the first, W is any set of nodes, hidden nodes included, that separates Y from
the features (Proposition 2). The second is the value of knowing Y. The search splits the open node
of the highest bound. It drops features that cost more than the difference between the bound and the
best benefit so far. It continues until a table fits; below this node it works as above. If it is
stopped early, it returns the best set so far and the highest bound that is still open.

Discounts. A set may be cheaper than its subsets, because one of its features opens a discount for
less than it saves (`model.costs`). So the features to decide are those that can tell something
about Y and, of each discount, the cheapest opener that tells nothing (with constraints, all of
these openers). All their sets are candidates, each at its price. In the bounds, C(K) is replaced by
the cost of the cheapest superset of K, which is monotone.

Constraints and limits. Only feasible sets are candidates (`model.acquisition`), at a price and with
a number of features that the limits allow. The bounds hold for them as for all sets. The features
to decide are open at e, and those that must come before others are among them, even if they tell
nothing. A node that keeps a feature without one that must come before it is not searched.

User-defined costs that are not monotone at e give no bound: C(K) is replaced by 0, and S need not
be irreducible. With many features, not every set can be priced to check this. Then the costs are
assumed to be monotone, and the result is not marked as exact.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Frames, Incumbent, Offers
from voilattice.engines import choose_engine, is_loaded
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.lattice.independence import graph_of
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.costs import (
    price_set,
)
from voilattice.model.monotonicity import check_monotone_at
from voilattice.model.network import MAX_AXES
from voilattice.model.problem import Problem
from voilattice.ties import Offer, tolerance
from voilattice.valuation.bounds import evi_bound
from voilattice.valuation.tables import (
    Root,
    cells_in_time,
    largest_table,
    max_table_cells,
    root_table,
)
from voilattice.valuation.valuation import expected_emc, value

__all__ = ["MAX_CHECKED_PAIRS", "Node", "SetSearch"]

# The compiled search returns after this many cells, to check the time limit and Ctrl-C.
CELLS_AT_ONCE = 50_000_000

# One table over all features is used up to this many cells. Beyond that, many small tables are
# faster than few large ones: the number of top nodes grows far less than the tables shrink.
WHOLE_CELLS = 1 << 24
SPLIT_CELLS = 1 << 19


SECONDS_TO_LOAD = 3.0  # of the compiled engine, with some time to use it

# If there are too many sets to check user-defined costs, this many pairs of sets are compared.
MAX_CHECKED_PAIRS = 500


@dataclass(order=True, slots=True)
class Node:
    """A node without a table; sorted by its bound, the highest first."""

    priority: float
    kept: int = field(compare=False)
    undecided: tuple[int, ...] = field(compare=False)  # in the order of decision


class SetSearch:
    """A search for the set of highest benefit at some evidence; `best` is the best one so far."""

    def __init__(
        self,
        problem: Problem,
        known: Mapping[str, str],
        stake: float,
        deadline: Deadline,
        engine: str,
        progress: Callable[[int, float], None] | None,
        limits: PathLimits = NO_LIMITS,
    ) -> None:
        self.limits, self._after = limits, problem.feasibility.after
        self._e, self.closed = problem.feature_mask(known), ~problem.feasibility.largest(known)
        self.problem, self.known, self.tol = problem, known, tolerance(stake)
        self.best, self.n_evaluated = Offer(0.0, 0.0, 0), 0
        self._engine, self._progress = engine, progress
        self._deadline = deadline
        self._sizes = [len(problem.states(name)) for name in problem.features]
        self._max_cells = max_table_cells()
        self._open: list[Node] = []
        self._unsearched = -math.inf  # the highest bound of a set whose own table does not fit
        self._below = -math.inf  # the highest bound open in the tables of the current node
        # Costs that are monotone at the problem's own evidence may not be monotone here.
        self.check = check_monotone_at(
            problem.pricing, problem.features, known, max_pairs=MAX_CHECKED_PAIRS
        )
        graph, e = graph_of(problem), problem.feature_mask(known)
        useful = graph.relevant(e)
        self.least_costs = problem.pricing.superset_costs(known)
        if self.least_costs is None:
            if self.check.monotone:
                self.least_costs = problem.pricing
            else:
                useful = graph.all & ~e
        useful, before = useful & ~self.closed, -1
        while useful != before:  # what comes before a feature may be cheaper with an opener
            before, useful = useful, problem.feasibility.closure(useful, e)
            useful |= _openers(problem, known, useful) & ~self.closed
            if not problem.constraints:
                break  # one opener of each discount is enough
        self._undecided = tuple(sorted(bits(useful), key=self.decided_at))

    def decided_at(self, k: int) -> tuple[float, int]:
        """Return the sort key of a feature: the most expensive are decided first."""
        return -self.cost(1 << k), k

    def offer(self, mask: int, benefit: float, cost: float) -> None:
        """Make a set the best one if it beats the best one so far."""
        made = Offer(benefit, cost, mask)
        if made.beats(self.best, self.tol) and self._is_allowed(mask, cost):
            self.best = made

    def _is_allowed(self, mask: int, cost: float) -> bool:
        """Return whether a set is feasible and keeps to the limits."""
        return (
            not mask & self.closed
            and not any(self.needs(k) & ~mask for k in bits(mask))
            and self.limits.allows(cost, mask.bit_count())
        )

    def needs(self, k: int) -> int:
        """Return the unknown features that must come before a feature, or with it."""
        return self._after.get(k, 0) & ~self._e

    def may_keep(self, k: int, kept: int, left: int) -> bool:
        """Return whether an allowed set can have K and a feature, and else only some of `left`."""
        with_it = kept | 1 << k
        return (
            not self.closed >> k & 1
            and not self.needs(k) & ~(with_it | left)
            and self.limits.allows(self.cost_at_least(with_it), with_it.bit_count())
        )

    def is_beyond(self, bound: float, kept: int) -> bool:
        """Return whether a node with this bound and this K has no set that can be the best."""
        if bound < self.best.benefit - self.tol:
            return True
        only_ties = bound <= self.best.benefit + self.tol
        return only_ties and kept.bit_count() > self.best.mask.bit_count()

    def cost(self, mask: int) -> float:
        """Return C(S | e)."""
        return price_set(self.problem.costs, self.problem.feature_names(mask), self.known)

    def cost_at_least(self, mask: int) -> float:
        """Return a lower bound on the cost of S and of all its supersets."""
        if self.least_costs is None:
            return 0.0
        return price_set(self.least_costs, self.problem.feature_names(mask), self.known)

    def open_bound(self) -> float:
        """Return the highest bound of all nodes that were not searched."""
        on_top = max((-node.priority for node in self._open), default=-math.inf)
        return max(self._below, self._unsearched, on_top)

    def run(self, singles: Sequence[Offer] = ()) -> str:
        """SetSearch; return what is missing if a bound is still open: "time" or "memory".

        `singles` are what each feature alone is worth, where that is known.
        """
        limit = self._table_limit(WHOLE_CELLS)
        if not self._fits(self._undecided, limit):
            limit = min(limit, SPLIT_CELLS)
            for single in singles:
                self.offer(single.mask, single.benefit, single.cost)
            self._climb(limit)
        self._open = [Node(-math.inf, 0, self._undecided)]
        worth, in_time = math.inf, True
        while self._open:
            node = heapq.heappop(self._open)
            if self.is_beyond(-node.priority, node.kept):
                continue
            spent = self.cost_at_least(node.kept)
            if math.isfinite(worth):
                left = worth - spent - self.best.benefit + self.tol
                prices = self._added_costs(node)
                node.undecided = tuple(k for k in node.undecided if prices[k] <= left)
            axes = (*bits(node.kept), *node.undecided)
            most = limit if node.undecided else self._max_cells
            root = self._root(axes, self._table_limit(most))
            if root is not None:
                if not self.search_below(node, axes, root):
                    return "time"
                continue
            if not math.isfinite(worth):
                worth = self.worth_bound()
            if node.undecided:
                self._split(node, worth)
            else:
                in_time = in_time and self._fits(axes, self._in_time())
                self._unsearched = max(self._unsearched, worth - spent)
            self._report()
            if self._deadline.is_over:
                return "time"
        return "memory" if in_time else "time"

    def _table_limit(self, cells: int) -> int:
        """Return how many cells a table may have, within memory and the time left."""
        return int(min(cells, self._max_cells, self._in_time()))

    def _in_time(self) -> float:
        """Return how many cells a table may have within the time left."""
        return time_plan.SET_TABLE * cells_in_time(self._deadline)

    def _root(self, axes: Sequence[int], limit: int) -> Root | None:
        if not self._fits(axes, limit):
            return None
        try:
            with largest_table(self._in_time()):
                return root_table(self.problem, self.known, axes)
        except TooLargeError:  # an intermediate table does not fit
            return None

    def _fits(self, axes: Sequence[int], limit: float) -> bool:
        cells = len(self.problem.classes) * math.prod(self._sizes[k] for k in axes)
        return cells <= limit and len(axes) < MAX_AXES

    def _added_costs(self, node: Node) -> dict[int, float]:
        """Return the least that each undecided feature adds to the cost of K."""
        spent = self.cost_at_least(node.kept)
        return {k: self.cost_at_least(node.kept | 1 << k) - spent for k in node.undecided}

    def _split(self, node: Node, worth: float) -> None:
        first, rest = node.undecided[0], node.undecided[1:]
        for kept in (node.kept | 1 << first, node.kept):
            bound = worth - self.cost_at_least(kept)
            if not self.is_beyond(bound, kept):
                heapq.heappush(self._open, Node(-bound, kept, rest))

    def worth_bound(self) -> float:
        """Return an upper bound on the EVI of any set of features."""
        in_time = time_plan.SET_BOUND * cells_in_time(self._deadline)
        most = min(in_time, self._max_cells)
        bound = evi_bound(self.problem, self.known, self._undecided, most)
        if bound.reached_by is not None:  # a candidate itself, with the highest EVI
            price = self.cost(bound.reached_by)
            self.n_evaluated += 1
            self.offer(bound.reached_by, bound.worth - price, price)
        return bound.worth

    def _climb(self, limit: int) -> None:
        """Find a good first set: add or remove the best feature as long as that pays."""
        mask, improved = self.best.mask, True
        while improved:
            improved = False
            before = self.best.mask
            for k in self._undecided:
                if self._deadline.is_over:
                    return
                changed = mask ^ 1 << k
                if self._fits(tuple(bits(changed)), self._table_limit(limit)):
                    self._try(changed)
                    if self._progress is not None:
                        self._progress(self.n_evaluated, math.inf)  # no bound yet
            if self.best.mask != before:
                mask, improved = self.best.mask, True

    def _try(self, mask: int) -> None:
        try:
            names = self.problem.feature_names(mask)
            with largest_table(self._table_limit(WHOLE_CELLS)):
                found = value(self.problem, names, self.problem.further(self.known))
        except TooLargeError:
            return
        self.n_evaluated += 1
        self.offer(mask, found.benefit, found.cost)

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self.n_evaluated, max(self.open_bound() - self.best.benefit, 0.0))

    # -- the search with a table

    def search_below(self, node: Node, axes: tuple[int, ...], root: Root) -> bool:
        """SetSearch all sets between K and K ∪ U of a node with a table; K's axes come first."""
        engine = choose_engine(self._engine, "best_set", len(root.table))
        left = self._deadline.seconds_left
        if self._engine == "auto" and left is not None and left < SECONDS_TO_LOAD:
            engine = engine if is_loaded() else "python"
        if not self.problem.pricing.is_sum or self.problem.pricing.order:
            engine = "python"  # the compiled twin needs prices that do not depend on an order
        matrix = self.problem.misclassification
        table = root.table.reshape(matrix.shape[1], -1)
        below = _Below(
            axes,
            node.kept.bit_count(),
            root,
            expected_emc(table.sum(axis=1), matrix),
            expected_emc(table, matrix),
        )
        whole = mask_of(k for k in axes)
        self.n_evaluated += 1
        self.offer(whole, below.worth(below.after) - self.cost(whole), self.cost(whole))
        for bound in _TWINS[engine](self, below):
            self._below = bound
            self._report()
            if self._deadline.is_over:
                return False
        self._below = -math.inf
        return True


@dataclass(frozen=True, slots=True)
class _Below:
    """A node with a table over its axes; the first `n_kept` axes are the kept features."""

    axes: tuple[int, ...]
    n_kept: int
    root: Root
    now: float  # EMC, on the scale of the table
    after: float  # expected EMC once all axes are known, on that scale

    def worth(self, after: Any) -> Any:
        """Return the EVI of a set with this expected EMC."""
        return (self.now - after) / self.root.probability

    @property
    def kept(self) -> int:
        return mask_of(k for k in self.axes[: self.n_kept])


def _search_numpy(search: SetSearch, below: _Below) -> Iterator[float]:
    """SetSearch below a node; yield the highest open bound repeatedly.

    The readable twin of `compiled.best_set.search`, and the one for a user's own costs.
    """
    axes, root, matrix = below.axes, below.root, search.problem.misclassification
    outer = matrix.shape[1] * math.prod(root.sizes[: below.n_kept])
    bound = below.worth(below.after) - search.cost_at_least(below.kept)
    stack = [(bound, below.n_kept, below.kept, root.table.reshape(outer, -1), below.after)]
    while stack:
        bound, axis, kept, table, after = stack.pop()
        if axis == len(axes) or search.is_beyond(bound, kept):
            continue
        size, with_it = root.sizes[axis], kept | 1 << axes[axis]
        same = table.reshape(len(table) * size, -1)
        if search.may_keep(axes[axis], kept, mask_of(k for k in axes[axis + 1 :])):
            dearer = below.worth(after) - search.cost_at_least(with_it)
            stack.append((dearer, axis + 1, with_it, same, after))
        if size == 1:
            dropped = same
        else:
            dropped = table.reshape(len(table), size, -1).sum(axis=1)
            after = expected_emc(dropped, matrix)
            search.n_evaluated += 1
        whole = kept | mask_of(k for k in axes[axis + 1 :])
        price = search.cost(whole)
        search.offer(whole, below.worth(after) - price, price)
        bound = below.worth(after) - search.cost_at_least(kept)
        stack.append((bound, axis + 1, kept, dropped, after))
        yield max((entry[0] for entry in stack), default=-math.inf)


def _search_compiled(search: SetSearch, below: _Below) -> Iterator[float]:
    """Do the same with the compiled kernel, `CELLS_AT_ONCE` cells per call."""
    from voilattice.compiled import best_set as compiled

    problem, pricing, least = search.problem, search.problem.pricing, search.least_costs
    assert least is not None  # the prices are a sum
    axes, root, matrix = below.axes, below.root, problem.misclassification
    names = [problem.features[k] for k in axes]
    unopened = pricing.unopened(search.known)
    group_of = {f: place for place, g in enumerate(unopened) for f in g.features}
    first, least_first = pricing.surcharges(search.known), least.surcharges(search.known)
    m = len(axes)
    frames = np.zeros((2 * m + 2, 5), dtype=np.int64)
    keeps = np.zeros(2 * m + 2, dtype=np.uint64)
    amounts = np.zeros((2 * m + 2, 2))
    outer = matrix.shape[1] * math.prod(root.sizes[: below.n_kept])
    frames[0] = (below.n_kept, -1, outer, len(root.table) // outer, 0)
    keeps[0] = (1 << below.n_kept) - 1
    amounts[0] = (search.cost_at_least(below.kept), below.after)
    # The best set so far may have features that are not among the axes. The first of these features
    # is enough to break a tie.
    others = search.best.mask & ~mask_of(k for k in axes)
    outside = next(bits(others), compiled.NOWHERE)
    held = search.best
    best = np.array([held.benefit, held.mask.bit_count(), held.cost, outside])
    key = mask_of(place for place, k in enumerate(axes) if held.mask >> k & 1)
    best_key = np.array([key], dtype=np.uint64)
    offers = Offers(
        np.array(root.sizes, dtype=np.int64),
        np.array(axes, dtype=np.int64),
        np.array([pricing.own_price(name, search.known) for name in names], dtype=np.float64),
        np.array([group_of.get(name, -1) for name in names], dtype=np.int64),
        np.array([first.get(name, 0.0) for name in names], dtype=np.float64),
        np.array([least_first.get(name, 0.0) for name in names], dtype=np.float64),
        np.zeros(len(unopened)),
        matrix,
        below.now,
        1 / root.probability,
        search.tol,
        pricing.round_cost,
        *_allowed_sets(search, axes),
    )
    stack, incumbent = Frames(frames, keeps, amounts), Incumbent(best, best_key)
    room = np.empty(len(root.table))
    height, quota = 1, CELLS_AT_ONCE
    while height:
        height, evaluated = compiled.search(
            root.table, offers, stack, height, incumbent, room, quota
        )
        search.n_evaluated += evaluated
        if not others or best[3] != outside:
            mask = mask_of(k for place, k in enumerate(axes) if int(best_key[0]) >> place & 1)
            search.best = Offer(float(best[0]), float(best[2]), mask)
        if height:
            left = amounts[:height]
            yield float((below.worth(left[:, 1]) - left[:, 0]).max())


def _allowed_sets(
    search: SetSearch, axes: tuple[int, ...]
) -> tuple[NDArray[np.uint64], np.uint64, int, float]:
    """Return what comes before each axis, the closed axes, and the limits, for the kernel."""
    inside = mask_of(axes)
    needs = [mask_of(a for a, k in enumerate(axes) if search.needs(j) >> k & 1) for j in axes]
    closed = mask_of(
        a for a, k in enumerate(axes) if search.closed >> k & 1 or search.needs(k) & ~inside
    )
    limits = search.limits
    n_features = len(axes) if limits.features is None else limits.features
    spend = math.inf if limits.spend is None else limits.spend + tolerance(limits.spend)
    if limits.rounds == 0:
        n_features = 0
    return np.array(needs, dtype=np.uint64), np.uint64(closed), n_features, spend


def _openers(problem: Problem, known: Mapping[str, str], useful: int) -> int:
    """Return, of each discount, the cheapest other feature that may save more than it costs.

    With constraints that feature may come too late, so all such features are returned.
    """
    found = 0
    for sharing in problem.pricing.unopened(known):
        if not sharing.counts_order:
            continue
        off = sharing.surcharges
        saved = [off[f] for f in off if problem.feature_mask({f}) & useful]
        others = problem.feature_mask(off) & ~useful
        prices = {k: problem.pricing.price(problem.features[k], known) for k in bits(others)}
        cheap = {k: price for k, price in prices.items() if saved and price < max(saved)}
        if cheap and not problem.constraints:
            cheap = {min(cheap, key=cheap.__getitem__): 0.0}
        found |= mask_of(cheap)
    return found


_TWINS = {"python": _search_numpy, "compiled": _search_compiled}
