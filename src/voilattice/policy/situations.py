r"""Situations: what a rule sees at some evidence, and how a policy continues from there.

A situation has a table P(Y, R, e) over the features that can still matter (`policy.relevance`). The
first table comes from variable elimination. Acquiring a feature takes a slice of the table, and a
feature that no longer matters is summed out, so tables only shrink along a path. Situations with
the same state key are one node of the policy.

A *lazy* builder continues if a table does not fit the memory budget. A situation without a table
uses variable elimination for each value it needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Floats
from voilattice.errors import InputError, Remedy, TooLargeError
from voilattice.feature_sets import Words, bits, to_mask, to_words
from voilattice.model.costs import price_set, set_costs
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.network import Table
from voilattice.model.problem import Problem
from voilattice.policy.policy import Acquisition, Branch, Certificate, Leaf, Node, Policy
from voilattice.policy.relevance import Relevance, StateKey
from voilattice.policy.sweep import Sweep
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.best_set import best_in_table, best_set
from voilattice.valuation.tables import Root, root_table
from voilattice.valuation.valuation import Value, expected_emc
from voilattice.wording import count_noun, quote

__all__ = ["LAZY_CELLS", "MAX_POLICY_STATES", "PolicyBuilder", "Situation", "situation_at"]

MAX_POLICY_STATES = 1_000_000

SHARE_OF_TIME = 0.1  # of the time left, for the best set of one situation
LAZY_CELLS = 1 << 22  # a lazy builder makes no larger tables, so that each is quick to compute


def situation_at(problem: Problem, evidence: Mapping[str, str] | None = None) -> Situation:
    """Return what a rule sees at this evidence."""
    return PolicyBuilder(problem.with_evidence(evidence), lazy=True).start()


@dataclass(frozen=True)
class Situation:
    """What is known at one point of the policy, and the table P(Y, axes) there, up to a factor."""

    builder: PolicyBuilder
    known: Mapping[str, str]
    axes: tuple[int, ...]  # the features that can still matter
    table: Table | None  # [Y, axes ...]; None: too large
    belief: Table | None = None  # P(Y | e), where it is known without the table

    @cached_property
    def probability(self) -> float:
        """P(e), on the scale of the table."""
        return 1.0 if self.table is None else float(self.table.sum())

    @cached_property
    def posterior(self) -> Table:
        """P(Y | e)."""
        return self.joint(0) if self.belief is None else self.belief

    @cached_property
    def emc(self) -> float:
        """EMC(e)."""
        return expected_emc(self.posterior, self.builder.problem.misclassification)

    @cached_property
    def tol(self) -> float:
        """The difference below which amounts are equal here."""
        return tolerance(self.emc)

    @property
    def decision(self) -> str:
        """The class of lowest risk; the first one wins a tie."""
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
        if chosen.bit_count() != 1 or (swept := self._swept) is None:
            return None
        rows, unit = swept
        # The empty set and the sets of one feature come first; a set that is missing is worth 0.
        first = rows[1 : 1 + len(self.axes)]
        same = np.flatnonzero((first == to_words([chosen], rows.shape[1])).all(axis=1))
        return self.builder.scale * float(unit[1 + same[0]]) if len(same) else 0.0

    @cached_property
    def _swept(self) -> tuple[Words, Floats] | None:
        """Return the sets of the lattice and their EVI at unit stakes; None: not available."""
        builder = self.builder
        if builder.sweep is None or self.table is None:
            return None
        key = builder.relevance.key(self.known)
        return builder.sweep.values(key, builder.problem, self.known, self.axes, self.root)

    def best_single(self, candidates: int) -> int | None:
        """Return the candidate of highest benefit: ties to the cheaper, then to the first."""
        values = {k: self.value(1 << k) for k in bits(candidates)}
        if not values:
            return None
        return winner(values, lambda k: Offer(values[k].benefit, values[k].cost, 1 << k), self.tol)

    def best(self) -> int:
        """Return the set of highest benefit (Eq. 7)."""
        problem = self.builder.problem
        if (swept := self._swept) is not None:
            rows, unit = swept
            price = set_costs(problem.costs, problem.features, rows, self.known)
            benefit = self.builder.scale * unit - price
            near = np.flatnonzero(benefit >= benefit.max() - self.tol).tolist()
            best = winner(
                near,
                lambda i: Offer(float(benefit[i]), float(price[i]), to_mask(rows[i])),
                self.tol,
            )
            return to_mask(rows[best])
        if self.table is None and (table := self.builder.table(self.known, self.axes)) is not None:
            return replace(self, table=table).best()
        seconds = self.builder.deadline.share(SHARE_OF_TIME).seconds_left
        if self.table is None:
            found = best_set(problem, problem.further(self.known), time_limit=seconds)
            return problem.feature_mask(found.features)
        return best_in_table(problem, self.known, self.axes, self.root, time_limit=seconds)

    @cached_property
    def root(self) -> Root:
        """The table as the root of a trie of sets."""
        assert self.table is not None
        flat = np.ascontiguousarray(self.table).reshape(-1)
        return Root(flat, self.table.shape[1:], self.probability)


class PolicyBuilder:
    """Builds the situations of a problem and the policy of a rule.

    Parameters
    ----------
    max_states
        Raise `TooLargeError` if a policy has more different states than this.
    forgets
        Whether situations that differ only in what no longer matters are one state.
    lazy
        Whether to continue without a table if it does not fit.
    deadline
        When to stop the search for best sets.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        max_states: int = MAX_POLICY_STATES,
        forgets: bool = True,
        sweep: Sweep | None = None,
        lazy: bool = False,
        deadline: Deadline | None = None,
    ) -> None:
        self.problem, self._max_states = problem, max_states
        self.sweep, self._lazy = sweep, lazy
        self.scale = 1.0 if sweep is None else sweep.scale(problem)
        self.deadline = deadline or Deadline()
        self.relevance = Relevance(problem, forgets=forgets)

    def cost(self, chosen: int, known: Mapping[str, str]) -> float:
        """Return C(S | e)."""
        return price_set(self.problem.costs, self.problem.feature_names(chosen), known)

    def build(
        self,
        name: str,
        choose: Callable[[Situation], int],
        *,
        needs_table: bool = True,
        certificate: Certificate | None = None,
    ) -> Policy:
        """Return the policy that acquires the mask that `choose` returns; 0 decides.

        `needs_table` is False for a rule that uses no feature.
        """
        policy, _ = self.build_keyed(name, choose, needs_table=needs_table)
        return policy if certificate is None else replace(policy, certificate=certificate)

    def build_keyed(
        self, name: str, choose: Callable[[Situation], int], *, needs_table: bool = True
    ) -> tuple[Policy, dict[StateKey, int]]:
        """Return the policy, and the number of the node of each of its states."""
        nodes: list[Node] = []
        numbers: dict[StateKey, int] = {}

        def visit(situation: Situation) -> int:
            key = self.relevance.key(situation.known)
            if key not in numbers:
                node = self._node(situation, choose(situation), visit)
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

        visit(self.start(None if needs_table else ()))
        return Policy(self.problem, name, tuple(nodes)), numbers

    def start(self, axes: tuple[int, ...] | None = None) -> Situation:
        """Return the first situation, with a table over `axes`, or over all that matters."""
        problem = self.problem
        if axes is None:
            relevant, _ = self.relevance.what_matters(problem.feature_mask(problem.evidence))
            axes = tuple(bits(relevant))
        return Situation(self, dict(problem.evidence), axes, self.table(problem.evidence, axes))

    def at(self, known: Mapping[str, str]) -> Situation:
        """Return the situation at any evidence, which includes the problem's own."""
        problem, start = self.problem, self._start
        relevant, _ = self.relevance.what_matters(problem.feature_mask(known))
        axes = tuple(bits(relevant))
        if start.table is None or not set(axes) <= set(start.axes):
            return Situation(self, known, axes, self.table(known, axes))
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
        return self._situation(known, axes, start.table[tuple(where)].sum(axis=tuple(gone)))

    @cached_property
    def _start(self) -> Situation:
        return self.start()

    def table(self, known: Mapping[str, str], axes: tuple[int, ...]) -> Table | None:
        """Return P(Y, axes, e), or None if it is too large for a lazy builder."""
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

    def _node(self, situation: Situation, chosen: int, visit: Callable[[Situation], int]) -> Node:
        problem = self.problem
        self._check_chosen(situation, chosen)
        if not chosen:
            return Leaf(situation.decision, tuple(situation.posterior.tolist()), situation.emc)
        names = tuple(problem.features[k] for k in bits(chosen))
        branches = tuple(
            Branch(tuple(child.known[name] for name in names), probability, visit(child))
            for probability, child in self._outcomes(situation, chosen)
        )
        return Acquisition(names, self.cost(chosen, situation.known), branches)

    def _check_chosen(self, situation: Situation, chosen: object) -> None:
        """Raise `InputError` unless a rule has returned features that are not known yet."""
        if not isinstance(chosen, int) or isinstance(chosen, bool):
            raise InputError(
                f"a rule must return a mask of features (0 decides), got {quote(chosen)}"
            )
        if chosen < 0 or chosen & ~self.relevance.graph.all:
            raise InputError(
                f"a rule returned the mask {chosen}, but there are "
                f"{count_noun(len(self.problem.features), 'feature')}"
            )
        if known := self.problem.feature_names(chosen) & set(situation.known):
            raise InputError(f"a rule acquires {min(known)!r}, which is known already")

    def _outcomes(self, situation: Situation, chosen: int) -> Iterator[tuple[float, Situation]]:
        """Return the probability of each possible joint outcome, and the situation after it."""
        problem = self.problem
        names = [problem.features[k] for k in bits(chosen)]
        after = problem.feature_mask(situation.known) | chosen
        relevant, _ = self.relevance.what_matters(after)
        if situation.table is None:
            joint = situation.joint(chosen)
            axes = tuple(bits(relevant))
            for outcome in np.ndindex(joint.shape[1:]):
                here = joint[:, *outcome]
                known = {**situation.known, **self._found(names, outcome)}
                if (p := float(here.sum())) > 0:
                    # No table yet: a situation that only decides does not need it.
                    yield p, Situation(self, known, axes, None, here / p)
                elif self._is_possible(known):
                    yield 0.0, Situation(self, known, axes, self.table(known, axes))
            return
        places = [1 + situation.axes.index(k) for k in bits(chosen)]
        left = tuple(k for k in situation.axes if not chosen >> k & 1)
        gone = tuple(1 + i for i, k in enumerate(left) if not relevant >> k & 1)
        axes = tuple(k for k in left if relevant >> k & 1)
        for outcome in np.ndindex(*(situation.table.shape[place] for place in places)):
            where: list[int | slice] = [slice(None)] * situation.table.ndim
            for place, value in zip(places, outcome, strict=True):
                where[place] = value
            table = situation.table[tuple(where)].sum(axis=gone)
            probability = float(table.sum()) / situation.probability
            known = {**situation.known, **self._found(names, outcome)}
            if probability > 0 or self._is_possible(known):
                yield probability, self._situation(known, axes, table)

    def _is_possible(self, known: Mapping[str, str]) -> bool:
        """Return whether evidence with probability 0 in a table is only too rare for the table."""
        if not self._may_underflow:
            return False
        try:
            self.problem.check_possible(known)
        except InputError:
            return False
        return True

    @cached_property
    def _may_underflow(self) -> bool:
        """Whether a product of positive probabilities of the network can underflow in a table."""
        smallest = (table[table > 0].min() for table in self.problem.network.tables)
        return sum(math.log(p) for p in smallest) < math.log(LEAST_MASS)

    def _situation(
        self, known: Mapping[str, str], axes: tuple[int, ...], table: Table
    ) -> Situation:
        """Return a situation with this part of a larger table, or with a new table if rare."""
        if float(table.sum()) < LEAST_MASS:
            return Situation(self, known, axes, self.table(known, axes))
        return Situation(self, known, axes, table)

    def _found(self, names: Sequence[str], outcome: tuple[int, ...]) -> dict[str, str]:
        return {name: self.problem.states(name)[v] for name, v in zip(names, outcome, strict=True)}
