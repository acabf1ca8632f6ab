r"""States: all that a policy can see at some evidence, and how it goes on from there.

Let R be the features that can still matter at evidence e, and K the part of the evidence that does:
flood from Y and R together, keep the members of E that touch the flood, and repeat with what was
kept. Then E \ K is d-separated from Y and R given K, so the posterior and every future distribution
depend on e_K alone. What a rule sees, and with it all that follows, is a function of (e_K, R,
groups already paid for). States that agree in these are one node of the policy. A feature in the
condition of a price of a member of R belongs to R itself while it is unknown, with what tells
something about it, and to K once known.

Tables. The root has one table P(Y, R). Acquiring a feature is a slice of the table, and a feature
that no longer matters is summed out: along a path the tables only shrink. A *lazy* builder goes on
where a table does not fit the memory budget: such a state asks variable elimination instead.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, Remedy, TooLargeError, count_noun
from voilattice.feature_sets import Words, bits, to_mask, to_words
from voilattice.lattice.independence import graph_of
from voilattice.lattice.lattice import Lattice
from voilattice.model.costs import FeatureCosts, check_monotone_at, priced, set_costs, stakes_scale
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.policy.optimal.blocks import conditions_of
from voilattice.policy.optimal.solution import Solution, StateSpace
from voilattice.policy.policy import Acquisition, Branch, Leaf, Node, Policy
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.best_set import best_in_table, best_set
from voilattice.valuation.tables import Root, expected_emcs_in, root_table
from voilattice.valuation.valuation import Value, expected_emc

__all__ = ["LAZY_CELLS", "MAX_STATES", "Builder", "State", "Sweep", "state_at"]

MAX_STATES = 1_000_000

# A state with more irreducible sets is searched by branch and bound at each point of a sweep.
MAX_SWEPT_SETS = 20_000

SHARE_OF_TIME = 0.1
LAZY_CELLS = 1 << 22  # a lazy builder makes no larger tables: each takes a moment only


def state_at(problem: Problem, evidence: Mapping[str, str] | None = None) -> State:
    """Return what a rule sees at this evidence."""
    return Builder(problem.with_evidence(evidence), MAX_STATES, lazy=True).start()


@dataclass(frozen=True)
class State:
    """What is known at a place of the policy, and the table P(Y, axes) there, up to a factor."""

    builder: Builder
    known: Mapping[str, str]
    axes: tuple[int, ...]  # the features that can still matter
    table: Table | None  # [Y, axes ...]; None: too large
    found: Table | None = None  # P(Y | e), where it is known without the table

    @cached_property
    def probability(self) -> float:
        return 1.0 if self.table is None else float(self.table.sum())

    @cached_property
    def posterior(self) -> Table:
        return self.joint(0) if self.found is None else self.found

    @cached_property
    def emc(self) -> float:
        return expected_emc(self.posterior, self.builder.problem.misclassification)

    @cached_property
    def tol(self) -> float:
        return tolerance(self.emc)

    @property
    def decision(self) -> str:
        """The class of lowest risk; ties to the first."""
        problem = self.builder.problem
        risk = problem.misclassification @ self.posterior
        return problem.classes[int(np.flatnonzero(risk <= risk.min() + self.tol)[0])]

    def joint(self, chosen: int) -> Table:
        """Return P(Y, S | e), one axis for each feature of S in the problem's order."""
        if self.table is None:
            table = root_table(self.builder.problem, self.known, tuple(bits(chosen))).shaped
            normalised: Table = table / table.sum()
            return normalised
        keep = [0, *(1 + self.axes.index(k) for k in bits(chosen))]
        summed = self.table.sum(axis=tuple(i for i in range(self.table.ndim) if i not in keep))
        rest = sorted(keep)
        ordered: Table = summed.transpose([rest.index(i) for i in keep]) / self.probability
        return ordered

    def value(self, chosen: int) -> Value:
        """Return what acquiring a set now is worth, and what it costs."""
        problem = self.builder.problem
        if (swept := self._swept_worth(chosen)) is not None:
            worth, after = swept, self.emc - swept
        else:
            after = expected_emc(self.joint(chosen), problem.misclassification)
            worth = max(self.emc - after, 0.0)
        price = self.builder.cost(chosen, self.known)
        names = problem.feature_names(chosen)
        return Value(names, self.emc, after, worth, price, worth - price)

    def _swept_worth(self, chosen: int) -> float | None:
        """Return the EVI of one feature as the sweep has it; None: it has not."""
        sweep = self.builder.sweep
        if sweep is None or chosen.bit_count() != 1 or (found := sweep.values(self)) is None:
            return None
        rows, unit = found
        # The empty set and the sets of one feature stand first; what is not there is worth 0.
        first = rows[1 : 1 + len(self.axes)]
        same = np.flatnonzero((first == to_words([chosen], rows.shape[1])).all(axis=1))
        return self.builder.scale * float(unit[1 + same[0]]) if len(same) else 0.0

    def single(self, candidates: int) -> int | None:
        """Return the candidate of highest benefit: ties to the cheaper, then to the first."""
        values = {k: self.value(1 << k) for k in bits(candidates)}
        if not values:
            return None
        return winner(values, lambda k: Offer(values[k].benefit, values[k].cost, 1 << k), self.tol)

    def best(self) -> int:
        """Return the set of highest benefit (Eq. 7)."""
        problem, sweep = self.builder.problem, self.builder.sweep
        if sweep is not None and (found := sweep.values(self)) is not None:
            rows, unit = found
            scale = self.builder.scale
            price = set_costs(problem.costs, problem.features, rows, self.known)
            benefit = scale * unit - price
            near = np.flatnonzero(benefit >= benefit.max() - self.tol).tolist()
            best = winner(
                near,
                lambda i: Offer(float(benefit[i]), float(price[i]), to_mask(rows[i])),
                self.tol,
            )
            return to_mask(rows[best])
        if self.table is None and (table := self.builder.table(self.known, self.axes)) is not None:
            return replace(self, table=table).best()
        if self.table is None:
            more = {f: v for f, v in self.known.items() if f not in problem.evidence}
            seconds = self.builder.seconds_left
            return problem.feature_mask(best_set(problem, more, time_limit=seconds).features)
        return best_in_table(
            problem, self.known, self.axes, self.root, time_limit=self.builder.seconds_left
        )

    @property
    def root(self) -> Root:
        """The table, as one to walk down from."""
        assert self.table is not None
        flat = np.ascontiguousarray(self.table).reshape(-1)
        return Root(flat, self.table.shape[1:], self.probability)


class Builder:
    """Makes the states of a problem, one after another, and the policy of a rule."""

    def __init__(
        self,
        problem: Problem,
        max_states: int,
        *,
        merge: bool = True,
        sweep: Sweep | None = None,
        lazy: bool = False,
    ) -> None:
        self.problem, self._max_states = problem, max_states
        self.sweep, self._lazy = sweep, lazy
        self.deadline: float | None = None  # when the search for best sets ends, on time's clock
        self.numbers: dict[object, int] = {}  # the node of each state of the policy built last
        self._merge = merge and isinstance(problem.costs, FeatureCosts)
        self._graph = graph_of(problem)
        self._matters: dict[int, tuple[int, int]] = {}

    @cached_property
    def scale(self) -> float:
        """How many times the unit stakes of the sweep these are."""
        assert self.sweep is not None
        return stakes_scale(self.problem.misclassification, self.sweep.unit)

    @property
    def seconds_left(self) -> float | None:
        """A share of the time that is left, for one best set; None: all the time it takes."""
        if self.deadline is None:
            return None
        return max(self.deadline - time.monotonic(), 0.0) * SHARE_OF_TIME

    def check_sweep(self, sweep: Sweep) -> None:
        """Raise `InputError` unless only the scale of the stakes, and prices, may differ."""
        mine, theirs = self.problem, sweep.problem
        if (mine.network, mine.target, mine.features) != (
            theirs.network,
            theirs.target,
            theirs.features,
        ):
            raise InputError("the sweep is one of another problem")
        stakes_scale(mine.misclassification, sweep.unit)

    def cost(self, chosen: int, known: Mapping[str, str]) -> float:
        return priced(self.problem.costs, self.problem.feature_names(chosen), known)

    def build(self, name: str, choose: Callable[[State], int]) -> Policy:
        nodes: list[Node] = []
        numbers = self.numbers = {}

        def visit(state: State) -> int:
            key = self.key(state.known)
            if key not in numbers:
                node = self._node(state, choose(state), visit)
                nodes.append(node)
                numbers[key] = len(nodes) - 1
                if len(nodes) > self._max_states:
                    raise TooLargeError(
                        f"policy {name}: more than {count_noun(self._max_states, 'state')}",
                        remedies=(
                            Remedy("raise the budget", "max_states"),
                            Remedy("choose fewer features"),
                            Remedy("give more evidence"),
                        ),
                    )
            return numbers[key]

        # Deciding at once needs no feature's table.
        visit(self.start(() if name == "none" else None))
        return Policy(self.problem, name, tuple(nodes))

    def start(self, axes: tuple[int, ...] | None = None) -> State:
        """Return the state to begin with, with a table over these features, or all that matter."""
        problem = self.problem
        if axes is None:
            relevant, _ = self._what_matters(problem.feature_mask(problem.evidence))
            axes = tuple(bits(relevant))
        return State(self, dict(problem.evidence), axes, self.table(problem.evidence, axes))

    def at(self, known: Mapping[str, str]) -> State:
        """Return the state at any evidence, the problem's own included."""
        problem, start = self.problem, self._start
        relevant, _ = self._what_matters(problem.feature_mask(known))
        axes = tuple(bits(relevant))
        if start.table is None or not set(axes) <= set(start.axes):
            return State(self, known, axes, self.table(known, axes))
        where: list[int | slice] = [slice(None)]
        gone = []
        for k in start.axes:
            name = problem.features[k]
            if name in known:
                where.append(problem.states(name).index(known[name]))
                continue
            if not relevant >> k & 1:
                gone.append(sum(isinstance(part, slice) for part in where))
            where.append(slice(None))
        return self._state(known, axes, start.table[tuple(where)].sum(axis=tuple(gone)))

    @cached_property
    def _start(self) -> State:
        return self.start()

    def table(self, known: Mapping[str, str], axes: tuple[int, ...]) -> Table | None:
        """Return P(Y, axes, e), or None where that is too large for a lazy builder."""
        if self._lazy:
            sizes = [len(self.problem.states(self.problem.features[k])) for k in axes]
            if len(self.problem.classes) * math.prod(sizes) > LAZY_CELLS:
                return None
        try:
            return root_table(self.problem, known, axes).shaped
        except TooLargeError:
            if not self._lazy:
                raise
            return None

    def _node(self, state: State, chosen: int, visit: Callable[[State], int]) -> Node:
        problem = self.problem
        if not chosen:
            return Leaf(state.decision, tuple(state.posterior.tolist()), state.emc)
        names = tuple(problem.features[k] for k in bits(chosen))
        branches = tuple(
            Branch(tuple(child.known[name] for name in names), probability, visit(child))
            for probability, child in self._outcomes(state, chosen)
        )
        return Acquisition(names, self.cost(chosen, state.known), branches)

    def _outcomes(self, state: State, chosen: int) -> Iterator[tuple[float, State]]:
        """Return the joint outcomes of positive probability, and the state after each."""
        problem = self.problem
        names = [problem.features[k] for k in bits(chosen)]
        after = problem.feature_mask(state.known) | chosen
        relevant, _ = self._what_matters(after)
        if state.table is None:
            joint = state.joint(chosen)
            axes = tuple(bits(relevant))
            for outcome in np.ndindex(joint.shape[1:]):
                here = joint[:, *outcome]
                if (p := float(here.sum())) > 0:
                    known = {**state.known, **self._found(names, outcome)}
                    # No table yet: what only decides here needs none.
                    yield p, State(self, known, axes, None, here / p)
            return
        places = [1 + state.axes.index(k) for k in bits(chosen)]
        left = tuple(k for k in state.axes if not chosen >> k & 1)
        gone = tuple(1 + i for i, k in enumerate(left) if not relevant >> k & 1)
        axes = tuple(k for k in left if relevant >> k & 1)
        for outcome in np.ndindex(*(state.table.shape[place] for place in places)):
            where: list[int | slice] = [slice(None)] * state.table.ndim
            for place, value in zip(places, outcome, strict=True):
                where[place] = value
            table = state.table[tuple(where)].sum(axis=gone)
            probability = float(table.sum()) / state.probability
            if probability > 0:
                known = {**state.known, **self._found(names, outcome)}
                yield probability, self._state(known, axes, table)

    def _state(self, known: Mapping[str, str], axes: tuple[int, ...], table: Table) -> State:
        """Return a state with a part of a larger table, or with one of its own where it is rare."""
        if float(table.sum()) < LEAST_MASS:
            return State(self, known, axes, self.table(known, axes))
        return State(self, known, axes, table)

    def _found(self, names: Sequence[str], outcome: tuple[int, ...]) -> dict[str, str]:
        return {name: self.problem.states(name)[v] for name, v in zip(names, outcome, strict=True)}

    def key(self, known: Mapping[str, str]) -> object:
        """Return what states that are one have in common."""
        if not self._merge:
            return tuple(sorted(known.items()))
        problem, costs = self.problem, self.problem.costs
        assert isinstance(costs, FeatureCosts)
        relevant, kept = self._what_matters(problem.feature_mask(known))
        names = problem.feature_names(relevant)
        values = tuple((k, known[problem.features[k]]) for k in bits(kept))
        paid = tuple(
            place
            for place, group in enumerate(costs.groups)
            if any(f in known for f in group.features) and names.intersection(group.features)
        )
        return relevant, values, paid

    def relevant(self, known: Mapping[str, str]) -> int:
        """Return R, the features that can still matter."""
        return self._what_matters(self.problem.feature_mask(known))[0]

    def _what_matters(self, e: int) -> tuple[int, int]:
        """Return R and K: the features and the evidence that still matter when E is known."""
        if e not in self._matters:
            if self._merge:
                self._matters[e] = self._graph.what_matters(e, conditions_of(self.problem))
            else:
                self._matters[e] = (self._graph.all & ~e, e)
        return self._matters[e]


class Sweep:
    """What policies of one problem share along a sweep of stakes of one shape.

    EVI is linear in a scaling of the misclassification costs. So the sets of a state's lattice are
    valued once, at stakes of 1, and at each point of the sweep only the choice is made anew.
    """

    def __init__(self, problem: Problem, kind: str) -> None:
        self.problem = problem
        self.unit = problem.with_expected(kind, 1.0).misclassification
        self._found: dict[object, tuple[Words, NDArray[np.float64]] | None] = {}
        self._space: StateSpace | None = None
        self._refused: TooLargeError | None = None

    def solve(self, problem: Problem, max_states: int | None = None) -> Solution:
        """Return the optimum at one point; the states are found at the first."""
        if self._refused is not None:  # once too large, always too large
            raise self._refused
        if self._space is None or self._space.problem.evidence != problem.evidence:
            try:
                self._space = StateSpace(problem, self.unit, max_states=max_states)
            except TooLargeError as error:
                self._refused = error
                raise
        return self._space.solve(problem)

    def values(self, state: State) -> tuple[Words, NDArray[np.float64]] | None:
        """Return the sets of a state's lattice and their EVI at unit stakes.

        None: they are too many, or prices that are not monotone ask for sets outside of it.
        """
        problem, key = state.builder.problem, state.builder.key(state.known)
        if key not in self._found:
            known = set(state.known) - set(problem.evidence)
            if not check_monotone_at(problem.costs, problem.features, state.known).monotone:
                self._found[key] = None
                return None
            try:
                rows = Lattice(problem, known, max_nodes=MAX_SWEPT_SETS).rows
            except TooLargeError:
                self._found[key] = None
            else:
                after = expected_emcs_in(state.root, state.axes, self.unit, rows)
                now = expected_emc(state.posterior, self.unit)
                self._found[key] = rows, np.maximum(now - after, 0.0)
        return self._found[key]
