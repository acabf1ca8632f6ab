r"""An anytime search for the optimal policy, with bounds, for problems whose states do not fit.

Every state e has bounds on V(e) = P(e) v(e), where v(e) is the least cost from there on:

    lower(e) <= V(e) <= upper(e).

At first, the lower bound gives some features away for nothing (`reveal`), and the upper bound
decides at once. *Expanding* a state finds the outcomes of all its features: one upward and one
downward pass over a join tree gives P(Y, X_i | e) of all of them (`model.join_tree`). Then

    lower(e) <- max( lower(e), min( risk(e), min_i  C(X_i | e) P(e) + Σ_x lower(e, x_i = x) ) )
    upper(e) <- min( upper(e),               min_i  C(X_i | e) P(e) + Σ_x upper(e, x_i = x)   )

Both stay bounds by induction, and they only tighten. No step needs a table over all features.

A *trial* starts at the root. In each state it takes the feature of the lowest lower bound, and the
outcome with the widest gap upper - lower: because V is weighted by P(e), this is the outcome that
adds most to the gap of the root. It ends where the gap is 0, after expanding what was new, and
updates the bounds on the way back. Some trials follow the upper bounds first: they improve the best
policy found so far. Where the features given away are known, the table of `reveal` is exact, and a
trial ends there: only when to buy the cheap features is left to search.

The search starts from other policies too (`start_from`): all states on their paths are expanded, so
its policy costs no more than they do. It can stop at any time: the policy of the upper bounds costs
at most upper(root), and no policy costs less than lower(root).
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline, memory_budget
from voilattice.compiled.arrays import (
    KEY,
    LOWER,
    UPPER,
    Ints,
    RevealTable,
)
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits
from voilattice.model.join_tree import JoinTree
from voilattice.model.problem import Problem
from voilattice.optimal.exact.plain_solution import feature_prices
from voilattice.optimal.exact.space import check_supported
from voilattice.optimal.search.bounds.repeats import MAX_HUB_STATES, empty_tables, repeat_bound
from voilattice.optimal.search.bounds.reveal import no_reveal_table, reveal_table
from voilattice.optimal.search.bounds.screens import Plan, plan_reveal
from voilattice.optimal.search.packing import enter_state, search_room, search_space, state_rows
from voilattice.policy.open_states import OpenStates
from voilattice.policy.policy import Acquisition, Branch, Certificate, Leaf, Policy
from voilattice.policy.relevance import Relevance
from voilattice.ties import TOLERANCE, tolerance
from voilattice.valuation.valuation import expected_emc
from voilattice.wording import count_noun, join_names

__all__ = ["Search"]

FIRST_ROWS = 1 << 16
SMALL_HUB = 32  # values of a hub
SECONDS_AT_ONCE = 0.1  # of trials; then the time is checked and Ctrl-C is handled
ROWS_MOVED_PER_SECOND = 5_000_000  # into a larger table of states: a cautious estimate
MAX_START_STATES = 50_000  # of a policy to start from
SHARE_OF_TABLE = 0.5  # of the memory budget, for the table of revealed features
TABLE_PARTS_PER_SECOND = 100_000_000  # states times classes: an estimate for two cores


class Search:
    """A search for the optimal policy of a problem: `reveal`, `start_from`, then `run`.

    Raises
    ------
    TooLargeError
        The prices or probabilities are not supported, or the join tree does not fit the memory
        budget.
    """

    def __init__(self, problem: Problem) -> None:
        check_supported(problem)
        self.problem = problem
        relevance = Relevance(problem)
        relevant, _ = relevance.what_matters(problem.feature_mask(problem.evidence))
        self.features = tuple(bits(relevant))
        names = [problem.features[k] for k in self.features]
        self._place = {name: i for i, name in enumerate(names)}
        self._codes = [{s: v for v, s in enumerate(problem.states(name))} for name in names]
        network = problem.network
        nodes = [network.index(name) for name in names]
        known = problem.node_states(problem.evidence)
        self._tree = JoinTree(network, network.index(problem.target), nodes, known)
        if self._tree.is_extreme:
            raise TooLargeError("the search does not support probabilities below 1e-60")
        self._messages = self._tree.new_messages()
        nothing = self._tree.posteriors(np.full(len(names), -1))
        self._log_probability = float(nothing.log_probability)
        self.now = expected_emc(nothing.belief, problem.misclassification)
        self._space = search_space(
            [len(codes) for codes in self._codes],
            problem.misclassification,
            feature_prices(problem, relevance, self.features),
            self.now,
        )
        self._room = search_room(self._space)
        self._table: RevealTable = no_reveal_table(len(names))
        self._repeats = empty_tables(len(names))
        self.hub: tuple[str, ...] | None = None  # what the other lower bound gives away
        self.revealed: frozenset[str] = frozenset()  # what the lower bound gives away
        self.best_start: Policy | None = None
        self._start_cost = math.inf
        self._rows = state_rows(FIRST_ROWS, len(self._room.key))
        self._add_root()
        self.is_full = False

    @property
    def lower(self) -> float:
        """No policy costs less."""
        return min(float(self._rows.amounts[self._root(), LOWER]), self.upper)

    @property
    def upper(self) -> float:
        """The best policy found costs no more."""
        return min(float(self._rows.amounts[self._root(), UPPER]), self._start_cost)

    @property
    def n_states(self) -> int:
        """The number of states that have bounds."""
        return int(self._rows.counts[0])

    @property
    def n_expanded(self) -> int:
        """The number of states whose outcomes were found."""
        return int(self._rows.counts[1])

    @property
    def is_settled(self) -> bool:
        """Whether the bounds meet: no policy costs less than the best one found."""
        return self.upper - self.lower <= tolerance(self.now)

    @property
    def action(self) -> int:
        """What the best policy found acquires first, as a mask; 0: it decides."""
        start = self.best_start
        mine = float(self._rows.amounts[self._root(), UPPER])
        if start is not None and self._start_cost < mine - tolerance(self.now):
            features = start.root.features if isinstance(start.root, Acquisition) else ()
            return self.problem.feature_mask(features)
        return self.choose(self.problem.evidence)

    @property
    def certificate(self) -> Certificate:
        """What is known about the best policy found, and where the bound comes from."""
        if self.is_settled:
            return Certificate(self.lower)
        status = "memory" if self.is_full else "time"
        return Certificate(self.lower, False, status, f"{self._source}.")

    @property
    def _source(self) -> str:
        """Where the lower bound comes from, in words."""
        ways = []
        if cheap := self.revealed & set(self.problem.features):
            ways.append(f"{count_noun(len(cheap), 'cheap feature')} could be had for nothing")
        if hidden := self.revealed - set(self.problem.features):
            ways.append(f"{join_names(hidden, 'and')} would be known for nothing")
        if self.hub is not None:
            known = f", with {join_names(self.hub, 'and')} known for nothing" if self.hub else ""
            ways.append(f"most features could be bought again and again{known}")
        if ways:
            return f"The bound is of a search as if {', or '.join(ways)}"
        return "The bound knows only that any feature costs at least its price"

    def reveal(self, deadline: Deadline, *, max_states: int | None = None) -> None:
        """Compute the table of revealed features, as large as memory and time allow.

        `max_states` limits the entries of the table in addition.
        """
        room = int(SHARE_OF_TABLE * memory_budget()) // 8
        room = room if max_states is None else min(room, max_states)
        # A table that is not solved in time is tried again, a tenth as large.
        for time_share, size_share in ((0.7, 1.0), (1.0, 0.1)):
            part, limit = deadline.share(time_share), room
            if (seconds := part.seconds_left) is not None:
                parts = size_share * min(seconds, 1e6) * TABLE_PARTS_PER_SECOND
                limit = min(room, int(parts) // len(self.problem.classes))
            try:
                plan = self._solve_table(part, limit)
            except TooLargeError:
                continue
            if plan is not None:
                names = self.problem.network.names
                self.revealed = frozenset(names[node] for node in plan.revealed)
                self._raise_root(self._revealed_at_root(plan))
            return

    def _solve_table(self, deadline: Deadline, max_states: int) -> Plan | None:
        """Compute a table of revealed features; None: none fits."""
        problem, prices = self.problem, self._space.prices
        plan = plan_reveal(
            problem, self.features, prices, max_states=max_states, max_bytes=memory_budget(),
            deadline=deadline.share(time_plan.REVEALED_PLAN),
        )  # fmt: skip
        if plan is not None:
            self._table = reveal_table(problem, self.features, prices, plan, deadline=deadline)
        return plan

    def _revealed_at_root(self, plan: Plan) -> float:
        """Return the bound of the table at the root."""
        room = self._room = self._room._replace(
            odometer=np.zeros((5, len(self.features) + len(plan.revealed) + 1), np.int64)
        )
        sizes = self._space.sizes
        return float(self._kernels.revealed(self._table, sizes, room.digits, room.odometer))

    def repeat(self, deadline: Deadline) -> None:
        """Compute the bound "once or repeatedly", if it applies and says more at the root.

        With a small hub, both bounds are used at each state. A large hub makes every state slow,
        so then the better bound of the two is kept.
        """
        is_tight = bool(self.revealed) and self.revealed <= set(self.problem.features)
        bound = repeat_bound(
            self.problem,
            deadline=deadline,
            max_hub_states=SMALL_HUB if is_tight else MAX_HUB_STATES,
        )
        if bound is None:
            return
        tables, mine, lower = bound.tables, list(self.features), bound.lower()
        shape = tables.prior.shape
        if shape[0] > SMALL_HUB and self.revealed:
            if lower <= self.lower:
                return
            self._table, self.revealed = no_reveal_table(len(mine)), frozenset()
        self._repeats = tables._replace(
            likelihood=np.ascontiguousarray(tables.likelihood[mine]),
            stride=np.ascontiguousarray(tables.stride[:, mine]),
        )
        self.hub = bound.hub
        self._room = self._room._replace(hub=np.zeros(shape), bought=np.zeros(shape[0], np.int64))
        self._raise_root(lower)

    def start_from(self, policy: Policy, deadline: Deadline | None = None) -> None:
        """Expand the states on the paths of a policy, the most probable first.

        Then the policy of the upper bounds costs no more, unless there are too many states, or
        buying features together costs less. So the best such policy is kept too.
        """
        cost, kernels = policy.expected_total_cost, self._kernels
        if cost < self._start_cost:
            self.best_start, self._start_cost = policy, cost
        if deadline is not None and deadline.is_over:
            return
        states = self._states_of(policy)
        done, step = 0, 1
        while done < len(states) and not (deadline is not None and deadline.is_over):
            began = time.monotonic()
            n_expanded = kernels.expand_states(
                states[done : done + step], self._rows, self._space, self._passes,
                self._tree.arrays, self._messages, self._table, self._repeats, self._room,
            )  # fmt: skip
            done += n_expanded
            if n_expanded == 0 and not self._grow(deadline):
                break
            step = 2 * step if time.monotonic() - began < SECONDS_AT_ONCE else max(step // 2, 1)
        kernels.tighten_states(states[:done], self._rows, self._space, self._room)

    def run(
        self,
        deadline: Deadline,
        *,
        max_expansions: int | None = None,
        progress: Callable[[int, tuple[float, float]], bool | None] | None = None,
    ) -> None:
        """Make trials until the bounds meet, or until the time or the memory is used up."""
        kernels, n_trials = self._kernels, 1
        while not self.is_settled and not self.is_full and not deadline.is_over:
            if max_expansions is not None and self.n_expanded >= max_expansions:
                break
            began, goal = time.monotonic(), self._goal()
            ended = kernels.run_trials(
                n_trials, goal, self._rows, self._space, self._passes, self._tree.arrays,
                self._messages, self._table, self._repeats, self._room,
            )  # fmt: skip
            if ended == kernels.FULL and not self._grow(deadline):
                break
            is_quick = time.monotonic() - began < SECONDS_AT_ONCE
            n_trials = 2 * n_trials if is_quick else max(n_trials // 2, 1)
            if progress is not None and progress(self.n_expanded, (self.lower, self.upper)):
                break

    def choose(self, known: Mapping[str, str]) -> int:
        """Return the feature that the policy of the upper bounds acquires, as a mask; 0: decide."""
        digits = self._space.sizes.copy()
        for name, state in known.items():
            if name in self._place:
                digits[self._place[name]] = self._codes[self._place[name]][state]
        i = self._step_at(digits)
        return 0 if i < 0 else 1 << self.features[i]

    def policy(self, name: str, deadline: Deadline, max_states: int) -> Policy:
        """Return the policy of the upper bounds; what is not written in time is left open."""
        room, sizes, problem = self._room, self._space.sizes, self.problem
        states: OpenStates[bytes, Ints] = OpenStates()
        states.add(sizes.tobytes(), 1.0, sizes.copy())
        status = "ok"
        while (popped := states.pop()) is not None:
            number, reach, digits = popped
            if deadline.is_over:
                states.put_back(number, digits)
                status = "time"
                break
            i = self._step_at(digits)
            if i < 0:
                states.decide(number, Leaf.at(problem, room.belief))
                continue
            if len(states) + int(sizes[i]) > max_states:
                states.put_back(number, digits)
                status = "memory"
                continue
            branches = []
            for state, v in self._codes[i].items():
                below = digits.copy()
                below[i] = v
                if (p := float(room.pairs[i, v].sum())) > 0:
                    child = states.add(below.tobytes(), reach * p, below)
                    branches.append(Branch((state,), p, child))
            feature = problem.features[self.features[i]]
            states.acquire(number, (feature,), float(room.price[i]), tuple(branches))
        nodes, _ = states.nodes(self._open_leaf)
        return Policy(problem, name, nodes, Certificate(exact=status == "ok", status=status))

    def _step_at(self, digits: Ints) -> int:
        """Return what the policy of the upper bounds acquires at some digits; -1: it decides.

        `room` then holds P(Y | e), all P(Y, X_i | e) and the prices there.
        """
        room = self._room
        self._enter(digits)
        log_probability = self._propagate()
        mass = math.exp(log_probability - self._log_probability)
        now = mass * expected_emc(room.belief, self.problem.misclassification)
        i = int(
            self._kernels.best_step(
                mass, now, TOLERANCE, self._rows, self._space, self._table, room
            )
        )
        self._enter(self._space.sizes)
        return i

    def _open_leaf(self, digits: Ints) -> Leaf:
        self._enter(digits)
        self._propagate()
        self._enter(self._space.sizes)
        return Leaf.at(self.problem, self._room.belief, is_open=True)

    def _propagate(self) -> float:
        """Write P(Y | e) and all P(Y, X_i | e) of the current state; return log P(e)."""
        from voilattice.compiled.join_tree import propagate

        room = self._room
        return float(
            propagate(self._tree.arrays, self._messages, room.known, room.belief, room.pairs)
        )

    @cached_property
    def _passes(self) -> Any:
        """The passes over the join tree, for the kernels."""
        from voilattice.compiled.join_tree import propagate
        from voilattice.compiled.pointers import Pointer

        room = self._room
        return Pointer(
            propagate, self._tree.arrays, self._messages, room.known, room.belief, room.pairs
        )

    @cached_property
    def _kernels(self) -> Any:
        from voilattice.compiled import search

        return search

    def _goal(self) -> float:
        """Return the gap of the root at which the bounds meet.

        If a policy to start from costs less than the policy of the upper bounds, it is wider.
        """
        row = self._rows.amounts[self._root()]
        return max(tolerance(self.now) + float(row[UPPER]) - self.upper, 0.0)

    def _root(self) -> int:
        return int(self._kernels.find_state(self._rows, self._room.key))

    def _add_root(self) -> None:
        at, rows = self._root(), self._rows
        rows.counts[0] = 1
        rows.amounts[at, :KEY] = 1.0, min(self._space.least_price, self.now), self.now
        rows.words[at, KEY:] = self._room.key

    def _raise_root(self, lower: float) -> None:
        """Tighten the bounds of the root by a lower bound."""
        row = self._rows.amounts[self._root()]
        row[LOWER] = max(row[LOWER], min(lower, row[UPPER]))

    def _enter(self, digits: Ints) -> None:
        """Make these digits the current state."""
        enter_state(digits, self._space, self._room)

    def _grow(self, deadline: Deadline | None) -> bool:
        """Double the table of states; False: memory or time do not allow it."""
        n_rows = 2 * len(self._rows.amounts)
        seconds = None if deadline is None else deadline.seconds_left
        if seconds is not None and seconds < n_rows / ROWS_MOVED_PER_SECOND:
            return False
        bytes_per_row = self._rows.amounts.strides[0] + 1
        tables = (self._table.value, self._table.likelihoods, self._repeats.values)
        left = memory_budget() - sum(table.nbytes for table in tables)
        if 3 * len(self._rows.amounts) * bytes_per_row > left:  # both tables exist at once
            self.is_full = True
            return False
        rows = state_rows(n_rows, len(self._room.key))
        self._kernels.move_rows(self._rows, rows)
        self._rows = rows
        return True

    def _states_of(self, policy: Policy) -> Ints:
        """Return the states on the paths of a policy as rows of digits, parents first.

        Features that a policy buys together are bought one after the other here.
        """
        sizes, order = self._space.sizes, count()
        found: dict[bytes, Ints] = {}
        heap = [(-1.0, next(order), len(policy.nodes) - 1, sizes.copy())]
        while heap and len(found) < MAX_START_STATES:
            p, _, number, digits = heapq.heappop(heap)
            found.setdefault(digits.tobytes(), digits)
            node = policy.nodes[number]
            if not isinstance(node, Acquisition):
                continue
            for branch in node.branches:
                below = digits
                for name, state in zip(node.features, branch.states, strict=True):
                    found.setdefault(below.tobytes(), below)
                    if (i := self._place.get(name)) is not None:
                        below = below.copy()
                        below[i] = self._codes[i][state]
                heapq.heappush(heap, (p * branch.probability, next(order), branch.child, below))
        rows = np.array(list(found.values()), dtype=np.int64)
        return rows[np.argsort((rows < sizes).sum(axis=1), kind="stable")]
