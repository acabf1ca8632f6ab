r"""The set of highest benefit (paper, Equation 7), by branch and bound.

    L(X | e) = argmax over S of  Benefit(S | e) = EVI(S | e) - C(S | e)

A node of the search is a pair (K, U): the features kept and those still undecided. The sets below
it are those with K ⊆ S ⊆ K ∪ U, and because EVI and C never fall for larger sets,

    Benefit(S | e) <= EVI(K ∪ U | e) - C(K | e)                                (the bound)

for all of them. Deciding a feature gives two nodes: with it, the same table and a higher price;
without it, a table summed over it (Section 3.2.3) and a lower EVI. K ∪ U is itself a set below the
node, so every table that is made also values a candidate. Dear features are decided first: keeping
one lowers the bound most.

Where the table over all features does not fit the memory budget, the nodes on top have none. There

    EVI(S | e) <= EVI(W | e)   and   EVI(S | e) <= EMC(e) - sum_j P(y_j | e) min_i c_ij

serve as bounds: W is any set of nodes, hidden ones included, that separates Y from the features
(Proposition 2), and the second is the value of knowing Y. The open node of the highest bound is
split, and features that alone cost more than its bound leaves over the best set are dropped, until
a table fits; below it the search goes on as above. Stopped early, the search returns the best set
it has, and the highest bound that is still open.

Costs of a user's own that are not monotone bound nothing: C(K) is replaced by 0, and S need not be
irreducible.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from voilattice.costs import TOLERANCE, FeatureCosts, priced
from voilattice.errors import TooLargeError, UnknownNameError
from voilattice.growth import ENGINES
from voilattice.independence import bits, graph_of, markov_blanket, separator
from voilattice.inference import memory_budget, scaled_joint_table
from voilattice.lattice import Lattice
from voilattice.network import MAX_AXES, Table
from voilattice.problem import Problem
from voilattice.tables import TABLES_AT_ONCE, Root, root_table
from voilattice.valuation import expected_emc, value

__all__ = ["Best", "best_in_table", "best_set"]

# The compiled search is left after so many cells, to look at the clock and the keyboard.
CELLS_AT_ONCE = 200_000_000

# A table over all features is made while it has no more cells than this. Beyond, many small tables
# are searched sooner than few large ones: the nodes on top grow in number by far less than their
# tables shrink.
WHOLE_CELLS = 1 << 24
SPLIT_CELLS = 1 << 19

# The lattice is grown for its size where that takes no more floods.
MAX_COUNTED_FLOODS = 50_000

# Below so many cells in all tables of a problem NumPy is done before the compiled search is loaded.
COMPILED_FROM_CELLS = 100_000


@dataclass(frozen=True, slots=True)
class Best:
    """The set of highest benefit, and how far the search came."""

    features: frozenset[str]
    evi: float
    cost: float
    benefit: float
    optimal: bool
    bound: float  # no set has a higher benefit
    n_evaluated: int  # sets whose EVI was computed
    n_sets: int | None  # irreducible sets in all; None: not enumerated


def best_set(
    problem: Problem,
    evidence: Mapping[str, str] | None = None,
    *,
    time_limit: float | None = None,
    engine: str = "auto",
    progress: Callable[[int, float], None] | None = None,
) -> Best:
    """Return the set of features whose EVI exceeds its cost by most (Eq. 7).

    Ties go to fewer features, then to the lower price, then to the problem's order of features.

    Parameters
    ----------
    time_limit
        Stop after so many seconds with the best set found and a bound on all others.
    engine
        ``"python"`` (NumPy), ``"compiled"``, or ``"auto"``: by the estimated work.
    progress
        Called now and then with the number of sets evaluated and the gap to the bound.

    >>> import voilattice
    >>> found = best_set(voilattice.load_problem("asia"))
    >>> sorted(found.features), round(found.benefit, 2), found.optimal
    (['dysp', 'smoke', 'tub', 'xray'], 29.37, True)
    """
    if engine not in ENGINES:
        raise UnknownNameError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    known = problem.known(evidence)
    search = _Search(problem, known, time_limit, engine, progress)
    optimal = search.run()
    found = value(problem, problem.feature_names(search.best.mask), evidence)
    bound = found.benefit if optimal else max(search.open_bound(), found.benefit)
    return Best(
        found.features,
        found.evi,
        found.cost,
        found.benefit,
        optimal,
        bound,
        search.n_evaluated,
        _count_sets(problem, known),
    )


def best_in_table(
    problem: Problem, known: Mapping[str, str], features: Sequence[int], root: Root
) -> int:
    """Return the best set of `features`, whose table is at hand, as a bitmask.

    Parameters
    ----------
    features
        The features of the axes of `root`, by their numbers.
    """
    search = _Search(problem, known, None, "auto", None)
    places = [features.index(k) for k in sorted(features, key=search.decided_at)]
    shape = (len(problem.classes), *root.sizes)
    table = root.table.reshape(shape).transpose([0, *(1 + place for place in places)])
    ordered = Root(
        np.ascontiguousarray(table).reshape(-1),
        tuple(root.sizes[place] for place in places),
        root.probability,
    )
    axes = tuple(features[place] for place in places)
    search.search_below(_Node(-math.inf, 0, axes), axes, ordered)
    return search.best.mask


def _count_sets(problem: Problem, known: Mapping[str, str]) -> int | None:
    """Return the size of the lattice when it is quickly grown."""
    n = graph_of(problem).relevant(problem.feature_mask(known)).bit_count()
    if n << n > MAX_COUNTED_FLOODS:
        return None
    return len(Lattice(problem, set(known) - set(problem.evidence)))


@dataclass(slots=True)
class _Incumbent:
    """The best set so far; a set replaces it by the rule of ties."""

    mask: int = 0
    benefit: float = 0.0
    cost: float = 0.0

    def offer(self, mask: int, benefit: float, cost: float) -> None:
        mine = (-self.benefit, self.mask.bit_count(), self.cost)
        theirs = (-benefit, mask.bit_count(), cost)
        for a, b in zip(theirs, mine, strict=True):
            if abs(a - b) > TOLERANCE:
                if a < b:
                    break
                return
        else:
            differ = mask ^ self.mask
            if not mask & differ & -differ:  # the first feature that only one of them has
                return
        self.mask, self.benefit, self.cost = mask, benefit, cost

    def is_beyond(self, bound: float, n_kept: int) -> bool:
        """Return whether no set below a node of that bound can replace it."""
        if bound < self.benefit - TOLERANCE:
            return True
        return bound <= self.benefit + TOLERANCE and n_kept > self.mask.bit_count()


@dataclass(order=True, slots=True)
class _Node:
    """A node without a table; sorted by its bound, the highest first."""

    priority: float
    kept: int = field(compare=False)
    undecided: tuple[int, ...] = field(compare=False)  # in the order of decision


class _Search:
    def __init__(
        self,
        problem: Problem,
        known: Mapping[str, str],
        time_limit: float | None,
        engine: str,
        progress: Callable[[int, float], None] | None,
    ) -> None:
        self.problem, self.known = problem, known
        self.best, self.n_evaluated = _Incumbent(), 0
        self._engine, self._progress = engine, progress
        self._deadline = math.inf if time_limit is None else time.monotonic() + time_limit
        self._sizes = [len(problem.states(name)) for name in problem.features]
        self._max_cells = memory_budget() // (TABLES_AT_ONCE * np.dtype(np.float64).itemsize)
        self._open: list[_Node] = []
        self._unsearched = -math.inf  # the highest bound of a set whose own table does not fit
        self._below = -math.inf  # the highest bound open in the tables of the current node
        relevant = graph_of(problem).relevant(problem.feature_mask(known))
        if not problem.cost_check.monotone:
            relevant = graph_of(problem).all & ~problem.feature_mask(known)
        self._undecided = tuple(sorted(bits(relevant), key=self.decided_at))

    def decided_at(self, k: int) -> tuple[float, int]:
        """Return where a feature stands in the order of decision: the dearest first."""
        return -self.cost(1 << k), k

    def cost(self, mask: int) -> float:
        """Return C(S | e)."""
        return priced(self.problem.costs, self.problem.feature_names(mask), self.known)

    def cost_at_least(self, mask: int) -> float:
        """Return a lower bound on the cost of S and of all its supersets."""
        return self.cost(mask) if self.problem.cost_check.monotone else 0.0

    def open_bound(self) -> float:
        """Return the highest bound among what was not searched."""
        on_top = max((-node.priority for node in self._open), default=-math.inf)
        return max(self._below, self._unsearched, on_top)

    def run(self) -> bool:
        """Search until all is done; return whether the best set is certain to be the best."""
        limit = min(self._max_cells, WHOLE_CELLS)
        if not self._fits(self._undecided, limit):
            limit = min(limit, SPLIT_CELLS)
            self._climb(limit)
        self._open = [_Node(-math.inf, 0, self._undecided)]
        worth = math.inf
        while self._open:
            node = heapq.heappop(self._open)
            if self.best.is_beyond(-node.priority, node.kept.bit_count()):
                continue
            spent = self.cost_at_least(node.kept)
            if math.isfinite(worth) and self.problem.cost_check.monotone:
                left = worth - spent - self.best.benefit + TOLERANCE
                prices = self._own_prices(node)
                node.undecided = tuple(k for k in node.undecided if prices[k] <= left)
            axes = (*bits(node.kept), *node.undecided)
            root = self._root(axes, limit if node.undecided else self._max_cells)
            if root is not None:
                if not self.search_below(node, axes, root):
                    return False
                continue
            if not math.isfinite(worth):
                worth = self._worth_bound()
            if node.undecided:
                self._split(node, worth)
            else:
                self._unsearched = max(self._unsearched, worth - spent)
            self._report()
            if time.monotonic() > self._deadline:
                return False
        return self._unsearched <= self.best.benefit + TOLERANCE

    def _root(self, axes: Sequence[int], limit: int) -> Root | None:
        if not self._fits(axes, limit):
            return None
        try:
            return root_table(self.problem, self.known, axes)
        except TooLargeError:  # on the way to it
            return None

    def _fits(self, axes: Sequence[int], limit: int) -> bool:
        cells = len(self.problem.classes) * math.prod(self._sizes[k] for k in axes)
        return cells <= limit and len(axes) < MAX_AXES

    def _own_prices(self, node: _Node) -> dict[int, float]:
        """Return what each undecided feature adds to the cost of K at least."""
        spent = self.cost(node.kept)
        return {k: self.cost(node.kept | 1 << k) - spent for k in node.undecided}

    def _split(self, node: _Node, worth: float) -> None:
        first, rest = node.undecided[0], node.undecided[1:]
        for kept in (node.kept | 1 << first, node.kept):
            bound = worth - self.cost_at_least(kept)
            if not self.best.is_beyond(bound, kept.bit_count()):
                heapq.heappush(self._open, _Node(-bound, kept, rest))

    def _worth_bound(self) -> float:
        """Return an upper bound on the EVI of any set of features."""
        problem, network = self.problem, self.problem.network
        y = network.index(problem.target)
        evidence = problem.node_states(self.known)
        posterior = scaled_joint_table(network, [y], evidence).table
        posterior = posterior / posterior.sum()
        now = expected_emc(posterior, problem.misclassification)
        perfect = now - float(posterior @ problem.misclassification.min(axis=0))
        features = [network.index(problem.features[k]) for k in self._undecided]
        blanket = [network.index(name) for name in markov_blanket(problem)]
        between = separator(network, y, features, blanket, list(evidence))
        cells = len(problem.classes) * math.prod(network.n_states[node] for node in between)
        if cells > self._max_cells or len(between) >= MAX_AXES:
            return perfect
        try:
            table = scaled_joint_table(network, [y, *between], evidence).table
        except TooLargeError:
            return perfect
        after = expected_emc(table, problem.misclassification) / float(table.sum())
        return min(perfect, now - after)

    def _climb(self, limit: int) -> None:
        """Find a good set to begin with: add the best feature, or take one away, while it pays."""
        mask, improved = 0, True
        while improved and time.monotonic() < self._deadline:
            improved = False
            before = self.best.mask
            for k in self._undecided:
                changed = mask ^ 1 << k
                if self._fits(tuple(bits(changed)), limit):
                    self._try(changed)
            if self.best.mask != before:
                mask, improved = self.best.mask, True

    def _try(self, mask: int) -> None:
        try:
            found = value(self.problem, self.problem.feature_names(mask), self._given())
        except TooLargeError:
            return
        self.n_evaluated += 1
        self.best.offer(mask, found.benefit, found.cost)

    def _given(self) -> dict[str, str]:
        return {f: v for f, v in self.known.items() if f not in self.problem.evidence}

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self.n_evaluated, self.open_bound() - self.best.benefit)

    # -- below a table

    def search_below(self, node: _Node, axes: tuple[int, ...], root: Root) -> bool:
        compiled = isinstance(self.problem.costs, FeatureCosts) and (
            self._engine == "compiled"
            or (self._engine == "auto" and len(root.table) << 4 > COMPILED_FROM_CELLS)
        )
        below = _search_compiled if compiled else _search_numpy
        for bound in below(self, node.kept.bit_count(), axes, root):
            self._below = bound
            self._report()
            if time.monotonic() > self._deadline:
                return False
        self._below = -math.inf
        return True


def _search_numpy(
    search: _Search, n_kept: int, axes: tuple[int, ...], root: Root
) -> Iterator[float]:
    """Search below a node, its first `n_kept` axes kept; tell the bound that is open now and then.

    The readable twin of `voilattice._kernels.search`, and the one for a user's own costs.
    """
    matrix, scale = search.problem.misclassification, 1 / root.probability
    y_kept = len(matrix) * math.prod(root.sizes[:n_kept])
    first = root.table.reshape(y_kept, -1)
    now = expected_emc(root.table.reshape(len(matrix), -1).sum(axis=1), matrix)

    def mask_of(chosen: Sequence[int]) -> int:
        return sum(1 << k for k in chosen)

    def evaluate(table: Table, whole: int) -> float:
        after = expected_emc(table, matrix)
        search.n_evaluated += 1
        price = search.cost(whole)
        search.best.offer(whole, (now - after) * scale - price, price)
        return after

    kept = mask_of(axes[:n_kept])
    stack = [(n_kept, kept, first, evaluate(first, mask_of(axes)))]
    while stack:
        axis, kept, table, after = stack.pop()
        bound = (now - after) * scale - search.cost_at_least(kept)
        if axis == len(axes) or search.best.is_beyond(bound, kept.bit_count()):
            continue
        size = root.sizes[axis]
        stack.append(
            (axis + 1, kept | 1 << axes[axis], table.reshape(len(table) * size, -1), after)
        )
        whole = kept | mask_of(axes[axis + 1 :])
        dropped = table.reshape(len(table), size, -1).sum(axis=1)
        stack.append((axis + 1, kept, dropped, evaluate(dropped, whole)))
        yield max((now - a) * scale - search.cost_at_least(k) for _, k, _, a in stack)


def _search_compiled(
    search: _Search, n_kept: int, axes: tuple[int, ...], root: Root
) -> Iterator[float]:
    """Do the same with the compiled kernel, in portions."""
    from voilattice import _kernels

    problem, costs = search.problem, search.problem.costs
    assert isinstance(costs, FeatureCosts)
    names = [problem.features[k] for k in axes]
    open_groups = [g for g in costs.groups if not any(f in search.known for f in g.features)]
    group_of = {f: place for place, g in enumerate(open_groups) for f in g.features}
    matrix, scale = problem.misclassification, 1 / root.probability
    now = expected_emc(root.table.reshape(len(matrix), -1).sum(axis=1), matrix)
    after = expected_emc(root.table.reshape(len(matrix), -1), matrix)
    whole = sum(1 << k for k in axes)
    search.n_evaluated += 1
    price = search.cost(whole)
    search.best.offer(whole, (now - after) * scale - price, price)

    m = len(axes)
    frames = np.zeros((2 * m + 2, 5), dtype=np.int64)
    keeps = np.zeros(2 * m + 2, dtype=np.uint64)
    amounts = np.zeros((2 * m + 2, 2))
    outer = len(matrix) * math.prod(root.sizes[:n_kept])
    frames[0] = (n_kept, -1, outer, len(root.table) // outer, 0)
    keeps[0] = (1 << n_kept) - 1
    kept = sum(1 << k for k in axes[:n_kept])
    amounts[0] = (search.cost(kept), after)
    best, best_key = _exported(search.best, axes)
    arguments = (
        root.table,
        np.array(root.sizes, dtype=np.int64),
        np.array(axes, dtype=np.int64),
        matrix,
        now,
        scale,
        np.array([costs.price(name, search.known) for name in names], dtype=np.float64),
        np.array([group_of.get(name, -1) for name in names], dtype=np.int64),
        np.array([g.overhead for g in open_groups], dtype=np.float64),
    )
    room = np.empty(len(root.table))
    height = 1
    while height:
        height, evaluated = _kernels.search(
            *arguments,
            frames,
            keeps,
            amounts,
            height,
            best,
            best_key,
            TOLERANCE,
            room,
            CELLS_AT_ONCE,
        )
        search.n_evaluated += evaluated
        if best_key[0] != _NOT_HERE:
            mask = sum(1 << k for place, k in enumerate(axes) if int(best_key[0]) >> place & 1)
            search.best = _Incumbent(mask, float(best[0]), float(best[2]))
        if height:
            open_frames = amounts[:height]
            yield float(((now - open_frames[:, 1]) * scale - open_frames[:, 0]).max())


# The key of an incumbent that is no set of the axes at hand: it wins no tie by order.
_NOT_HERE = np.uint64((1 << 64) - 1)


def _exported(
    best: _Incumbent, axes: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
    """Return the incumbent as the kernel wants it."""
    amounts = np.array([best.benefit, best.mask.bit_count(), best.cost])
    here = best.mask & ~sum(1 << k for k in axes) == 0
    key = sum(1 << place for place, k in enumerate(axes) if best.mask >> k & 1)
    return amounts, np.array([key if here else _NOT_HERE], dtype=np.uint64)
