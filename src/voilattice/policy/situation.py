r"""A situation: what a rule sees at some evidence.

A situation with few features that can still matter (`policy.relevance`) has a table P(Y, R, e). The
first table comes from variable elimination. Acquiring a feature takes a slice of the table, and a
feature that no longer matters is summed out, so tables only shrink along a path. A situation whose
table would be large has none: P(Y | e) and P(Y, X_i | e) of all features come from two passes over
a join tree (`valuation.pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.compiled.arrays import Floats
from voilattice.errors import InputError, TooLargeError
from voilattice.feature_sets import Words, bits, mask_of, to_mask
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.costs import price_set
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.network import Table
from voilattice.model.problem import Evidence, Problem
from voilattice.policy.policy import Leaf
from voilattice.policy.relevance import Relevance
from voilattice.policy.sweep import Sweep
from voilattice.ties import Offer, tolerance, winner
from voilattice.valuation.best_set import BestMask, best_in_table, best_mask
from voilattice.valuation.pairs import PairInference, Pairs, inference_of, pairs_in_table
from voilattice.valuation.tables import Root, cells_in_time, largest_table, root_table
from voilattice.valuation.valuation import Value, expected_emc

__all__ = [
    "LAZY_CELLS",
    "SEARCHED_CELLS",
    "UNPROVED",
    "Situation",
    "SituationBuilder",
    "situation_at",
]

# A policy is built from one table of up to this many cells, because its slices serve all states.
LAZY_CELLS = 1 << 22
# For one situation, passes over the join tree are faster than a larger table.
STEP_CELLS = 1 << 18
# A search for the best set reads its table many times, so a larger one pays.
SEARCHED_CELLS = 1 << 24

WIDEST = 16  # how much larger the tables may be that an elimination makes on the way

LEAST_SECONDS = 0.02  # for the best set of a situation, while there is time at all
# A pause of the machine, such as a collection of garbage, must not end a search of milliseconds: so
# a situation with a table has this many seconds, unless that is a large part of the time left.
PAUSE_SECONDS = 0.25

# What a policy falls short of, besides "time" and "memory".
UNPROVED = "unproved"  # a best set is not proved to be one


def situation_at(
    problem: Problem,
    evidence: Evidence | None = None,
    *,
    deadline: Deadline | None = None,
) -> Situation:
    """Return what a rule sees at this evidence."""
    here = problem.with_evidence(evidence)
    builder = SituationBuilder(
        here, deadline=deadline, share=time_plan.BEST_SET_ALONE, max_cells=STEP_CELLS
    )
    return builder.start()


@dataclass(frozen=True)
class Situation:
    """What is known at one point of the policy, and the table P(Y, axes) there, up to a factor."""

    builder: SituationBuilder
    known: Mapping[str, str]
    axes: tuple[int, ...]  # the features that can still matter
    table: Table | None  # [Y, axes ...]; None: too large
    belief: Table | None = None  # P(Y | e), where it is known without the table
    reach: float = 1.0  # the probability of getting here
    left: PathLimits = NO_LIMITS  # what is left of the limits

    @cached_property
    def probability(self) -> float:
        """P(e), on the scale of the table."""
        return 1.0 if self.table is None else float(self.table.sum())

    @cached_property
    def posterior(self) -> Table:
        """P(Y | e)."""
        if self.belief is not None:
            return self.belief
        return self.joint(0)

    @cached_property
    def pairs(self) -> Pairs:
        """P(Y, X | e) of each feature that can still matter, in the order of the axes."""
        if self.table is not None:
            return pairs_in_table(self.table, self.probability)
        every = self.builder.inference.at(self.known)
        return Pairs(every.belief, every.pairs[list(self.axes)])

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
        return self.leaf().decision

    def leaf(self, *, is_open: bool = False) -> Leaf:
        """Return the leaf that decides here."""
        return Leaf.at(self.builder.problem, self.posterior, is_open=is_open)

    def joint(self, chosen: int) -> Table:
        """Return P(Y, S | e), one axis for each feature of S in the problem's order."""
        if self.table is None and not chosen:
            return self.pairs.belief
        if self.table is None and (place := self._places.get(chosen)) is not None:
            name = self.builder.problem.features[self.axes[place]]
            pair: Table = self.pairs.pairs[place, : len(self.builder.problem.states(name))].T
            return pair
        if self.table is None or chosen & ~mask_of(self.axes):
            table = root_table(self.builder.problem, self.known, tuple(bits(chosen))).shaped
            normalised: Table = table / table.sum()
            return normalised
        keep = [0, *(1 + self.axes.index(k) for k in bits(chosen))]
        summed = self.table.sum(axis=tuple(i for i in range(self.table.ndim) if i not in keep))
        rest = sorted(keep)
        ordered: Table = summed.transpose([rest.index(i) for i in keep]) / self.probability
        return ordered

    @cached_property
    def _places(self) -> dict[int, int]:
        """The place of each set of one feature among the axes."""
        return {1 << k: place for place, k in enumerate(self.axes)}

    def value(self, chosen: int) -> Value:
        """Return what acquiring a set now is worth, and what it costs."""
        problem = self.builder.problem
        if (place := self._places.get(chosen)) is not None:
            worth = self._worths[place]
            after = self.emc - worth
        else:
            after = expected_emc(self.joint(chosen), problem.misclassification)
            worth = max(self.emc - after, 0.0)
        return self.valued(chosen, after, worth)

    def valued(self, chosen: int, after: float, worth: float) -> Value:
        """Return a set with its price, and whether it can be acquired here."""
        return Value.of_set(
            self.builder.problem, chosen, self.known, emc=self.emc, expected_emc=after, evi=worth,
            cost=self.builder.cost(chosen, self.known), left=self.left,
        )  # fmt: skip

    @cached_property
    def _worths(self) -> list[float]:
        """The EVI of each feature alone, in the order of the axes."""
        if (swept := self._swept) is None:
            after = self.pairs.expected_emcs(self.builder.problem.misclassification)
            worths: list[float] = np.maximum(self.emc - after, 0.0).tolist()
            return worths
        rows, unit = swept
        # The empty set and the sets of one feature come first; a set that is missing is worth 0.
        first = {to_mask(row): 1 + i for i, row in enumerate(rows[1 : 1 + len(self.axes)])}
        places = (first.get(1 << k) for k in self.axes)
        return [0.0 if i is None else self.builder.scale * float(unit[i]) for i in places]

    @cached_property
    def _swept(self) -> tuple[Words, Floats] | None:
        """Return the sets of the lattice and their EVI at unit stakes; None: not available."""
        builder = self.builder
        if builder.sweep is None or self.table is None:
            return None
        key = builder.relevance.key(self.known)
        return builder.sweep.values(key, builder.problem, self.known, self.axes, self.root)

    @cached_property
    def alone(self) -> int:
        """The features that can matter and can be acquired by themselves, within the limits."""
        feasible = self.builder.problem.feasibility.alone(self.known) & mask_of(self.axes)
        if not self.left:
            return feasible
        costs = {k: self.builder.cost(1 << k, self.known) for k in bits(feasible)}
        return mask_of(k for k, price in costs.items() if self.left.allows(price, 1))

    def best_single(self, candidates: int) -> int | None:
        """Return the candidate of highest benefit: ties to the cheaper, then to the first."""
        offers = {k: self.offer(k) for k in bits(candidates)}
        return winner(offers, offers.__getitem__, self.tol) if offers else None

    def firsts(self, chosen: int) -> int:
        """Return the features of a set that can come first in a cheapest feasible order."""
        problem = self.builder.problem
        firsts = problem.pricing.firsts(problem.feature_names(chosen), self.known)
        if firsts is None:
            return problem.feasibility.firsts(chosen, problem.feature_mask(self.known))
        return problem.feature_mask(firsts)

    def offer(self, k: int) -> Offer:
        """Return what acquiring one feature now is worth, less its price."""
        price = self.builder.cost(1 << k, self.known)
        place = self._places.get(1 << k)
        worth = self.value(1 << k).evi if place is None else self._worths[place]
        return Offer(worth - price, price, 1 << k)

    def best(self) -> int:
        """Return the set of highest benefit (Eq. 7), or the best one found in its share of time."""
        return self._best.mask

    @cached_property
    def _best(self) -> BestMask:
        problem, builder = self.builder.problem, self.builder
        is_restricted = bool(problem.constraints or self.left)
        if not is_restricted and (swept := self._swept) is not None:
            rows, unit = swept
            price = problem.pricing.set_costs(problem.features, rows, self.known)
            benefit = builder.scale * unit - price
            near = np.flatnonzero(benefit >= benefit.max() - self.tol).tolist()
            best = winner(
                near,
                lambda i: Offer(float(benefit[i]), float(price[i]), to_mask(rows[i])),
                self.tol,
            )
            return BestMask(to_mask(rows[best]), None)
        deadline = builder.share_of(self.reach, has_table=self.table is not None)
        if self.table is not None:
            found = best_in_table(
                problem, self.known, self.axes, self.root, deadline=deadline, limits=self.left
            )
        else:
            found = self._best_without_table(deadline)
        if found.short_of is not None:
            builder.shortfalls |= {found.short_of, UNPROVED}
        return found

    def _best_without_table(self, deadline: Deadline) -> BestMask:
        problem, builder = self.builder.problem, self.builder
        if (table := builder.table(self.known, self.axes, SEARCHED_CELLS, deadline)) is not None:
            root = replace(self, table=table).root
            return best_in_table(
                problem, self.known, self.axes, root, deadline=deadline, limits=self.left
            )
        singles = [
            Offer(worth - price, price, 1 << k)
            for k, worth in zip(self.axes, self._worths, strict=True)
            for price in [builder.cost(1 << k, self.known)]
        ]
        return best_mask(
            problem, self.known, self.emc, singles, deadline=deadline, limits=self.left
        )

    @cached_property
    def root(self) -> Root:
        """The table as the root of a trie of sets."""
        assert self.table is not None
        flat = np.ascontiguousarray(self.table).reshape(-1)
        return Root(flat, self.table.shape[1:], self.probability)


class SituationBuilder:
    """Builds the situations of a problem.

    Parameters
    ----------
    forgets
        Whether situations that differ only in what no longer matters are one state.
    lazy
        Whether situations with many features have no table. A sweep needs tables to share values.
    deadline
        When to stop.
    share
        The part of the time left that the best sets of the most probable situations may take.
    max_cells
        Situations whose first table would have more cells have none; by default `LAZY_CELLS`.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        forgets: bool = True,
        sweep: Sweep | None = None,
        lazy: bool = True,
        deadline: Deadline | None = None,
        share: float = time_plan.BEST_SETS,
        max_cells: int | None = None,
    ) -> None:
        self.problem = problem
        self._max_cells = LAZY_CELLS if max_cells is None else max_cells
        self.sweep, self._lazy = sweep, lazy and sweep is None
        self.scale = 1.0 if sweep is None else sweep.scale(problem)
        self.deadline, self._share = deadline or Deadline(), share
        self.relevance = Relevance(problem, forgets=forgets)
        self.shortfalls: set[str] = set()  # what kept best sets from being proved
        self._sizes = [len(problem.states(name)) for name in problem.features]

    # -- situations

    def start(self, axes: tuple[int, ...] | None = None) -> Situation:
        """Return the first situation, with a table over `axes`, or over all that matters."""
        problem = self.problem
        if axes is None:
            relevant, _ = self.relevance.what_matters(problem.feature_mask(problem.evidence))
            axes = tuple(bits(relevant))
        table = self.table(problem.evidence, axes, deadline=self.deadline)
        return Situation(self, dict(problem.evidence), axes, table, left=problem.limits)

    def at(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> Situation:
        """Return the situation at any evidence, which includes the problem's own.

        `left` is what is left of the limits there.
        """
        problem, start = self.problem, self._start
        relevant, _ = self.relevance.what_matters(problem.feature_mask(known))
        axes = tuple(bits(relevant))
        if start.table is None or not set(axes) <= set(start.axes):
            return Situation(self, known, axes, self.table(known, axes), left=left)
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
        table = start.table[tuple(where)].sum(axis=tuple(gone))
        return replace(self._situation(known, axes, table), left=left)

    @cached_property
    def _start(self) -> Situation:
        return self.start()

    def _situation(
        self, known: Mapping[str, str], axes: tuple[int, ...], table: Table
    ) -> Situation:
        """Return a situation with this part of a larger table, or with a new table if rare."""
        if float(table.sum()) < LEAST_MASS:
            return Situation(self, known, axes, self.table(known, axes))
        return Situation(self, known, axes, table)

    # -- what all situations share

    @cached_property
    def inference(self) -> PairInference:
        """The join tree of the problem."""
        return inference_of(self.problem)

    def share_of(self, reach: float, *, has_table: bool) -> Deadline:
        """Return the time for the best set of a situation that is reached with a probability.

        The situations at one depth of a tree are reached with probability 1 together, so they
        share a part of the time.
        """
        part = max(self._share * reach, time_plan.BEST_SET_AT_LEAST)
        left = self.deadline.seconds_left
        if left is not None:
            part = max(part, LEAST_SECONDS / max(left, LEAST_SECONDS))
            if has_table:
                part = max(part, min(PAUSE_SECONDS / max(left, LEAST_SECONDS), time_plan.PAUSE))
        return self.deadline.share(part)

    def cost(self, chosen: int, known: Mapping[str, str]) -> float:
        """Return C(S | e)."""
        if not chosen & (chosen - 1):
            names = self._singles[chosen.bit_length()]
        else:
            names = self.problem.feature_names(chosen)
        return price_set(self.problem.costs, names, known)

    @cached_property
    def _singles(self) -> list[frozenset[str]]:
        """The empty set, and the set of each feature alone."""
        return [frozenset(), *(frozenset({name}) for name in self.problem.features)]

    def table(
        self,
        known: Mapping[str, str],
        axes: tuple[int, ...],
        max_cells: int | None = None,
        deadline: Deadline | None = None,
    ) -> Table | None:
        """Return P(Y, axes, e), or None if it has too many cells or takes too long."""
        cells = len(self.problem.classes) * math.prod(self._sizes[k] for k in axes)
        most = self._max_cells if max_cells is None else max_cells
        if self._lazy and cells > most:
            return None
        in_time = (
            math.inf if deadline is None else time_plan.BEST_SET_TABLE * cells_in_time(deadline)
        )
        on_the_way = min(in_time, WIDEST * most if self._lazy else math.inf)
        if cells > on_the_way:
            return None
        try:
            with largest_table(on_the_way):
                return root_table(self.problem, known, axes).shaped
        except TooLargeError:
            self._lazy = True  # values that need such tables are not shared
            return None

    # -- outcomes

    def children(
        self, situation: Situation, chosen: int
    ) -> Iterator[tuple[float, tuple[int, ...], Table | None, Table | None]]:
        """Return each possible joint outcome: its probability, its states, P(Y | e), its table.

        One of the last two is enough. Both are missing where the outcome is too rare for them.
        """
        problem = self.problem
        names = [problem.features[k] for k in bits(chosen)]

        def is_possible(outcome: tuple[int, ...]) -> bool:
            found = {name: problem.states(name)[v] for name, v in zip(names, outcome, strict=True)}
            return self._is_possible({**situation.known, **found})

        if situation.table is None or chosen & ~mask_of(situation.axes):
            joint = situation.joint(chosen)
            for outcome in np.ndindex(joint.shape[1:]):
                here = joint[:, *outcome]
                # No table yet: a situation that only decides does not need it.
                if (p := float(here.sum())) > LEAST_MASS:
                    yield p, outcome, here / p, None
                elif p > 0 or is_possible(outcome):
                    yield p, outcome, None, None
            return
        relevant, _ = self.relevance.what_matters(problem.feature_mask(situation.known) | chosen)
        places = [1 + situation.axes.index(k) for k in bits(chosen)]
        left = tuple(k for k in situation.axes if not chosen >> k & 1)
        gone = tuple(1 + i for i, k in enumerate(left) if not relevant >> k & 1)
        where: list[int | slice] = [slice(None)] * situation.table.ndim
        for outcome in np.ndindex(*(situation.table.shape[place] for place in places)):
            for place, value in zip(places, outcome, strict=True):
                where[place] = value
            table = situation.table[tuple(where)].sum(axis=gone)
            mass = float(table.sum())
            if mass >= LEAST_MASS:
                yield mass / situation.probability, outcome, None, table
            elif mass > 0 or is_possible(outcome):
                yield mass / situation.probability, outcome, None, None

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
