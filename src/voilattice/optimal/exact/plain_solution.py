r"""The exact optimal policy, solved over a plain table of all partial assignments (`plain`).

The digits of the table are the features of R, those that can matter at the problem's own evidence.
Nothing is merged, so the table needs no blocks. It is the better choice if blocks would merge
little (`exact`).

The table holds V alone. At evidence e, P(Y, e) is the sum of the joint table P(Y, R) over the
unknown features. It gives P(e), so v(e) = V(e) / P(e), and the risk of deciding now. What to do
follows from V of the children. Only features that can still matter at e compete (`relevance`): a
free feature that says nothing must not win a tie because it is cheaper.

The table may be on a GPU (engine ``"cuda"``) and stays there: whoever follows the policy asks for
the values of one state and its children at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from voilattice.budgets import Deadline, memory_budget
from voilattice.compiled.arrays import DigitPrices, Floats, Ints
from voilattice.engines import preferred_engine
from voilattice.errors import TooLargeError
from voilattice.feature_sets import bits, mask_of
from voilattice.model.acquisition import INFEASIBLE, NO_LIMITS, PathLimits
from voilattice.model.elimination import LEAST_MASS
from voilattice.model.problem import Problem
from voilattice.model.stakes import CostMatrix, stakes_scale
from voilattice.optimal.exact.plain import (
    count_states,
    digit_prices,
    scratch_bytes,
    solve_cuda,
    solve_plain,
)
from voilattice.optimal.exact.space import BufferPool, Deeper, check_same_states, check_supported
from voilattice.policy.relevance import Relevance, step_conditions
from voilattice.ties import TOLERANCE
from voilattice.valuation.tables import TABLES_AT_ONCE, root_table
from voilattice.wording import format_bytes

if TYPE_CHECKING:
    from voilattice.compiled.plain_cuda import DeviceValues

__all__ = [
    "PlainSolution",
    "PlainSpace",
    "feature_prices",
    "in_order",
    "joint_bytes",
    "plain_bytes",
]

MAX_PRICES = 100_000  # of one feature


class PlainSpace:
    """All partial assignments of a problem, for any prices and any scale of the stakes.

    Parameters
    ----------
    unit
        The misclassification costs at scale 1; those of the problem by default.

    Raises
    ------
    TooLargeError
        The table does not fit the memory budget, or its prices are not supported.
    """

    def __init__(
        self, problem: Problem, unit: CostMatrix | None = None, *, engine: str = "auto"
    ) -> None:
        check_supported(problem)
        self.problem, self.engine = problem, preferred_engine(engine)
        self.unit = problem.misclassification if unit is None else unit
        self.relevance = Relevance(problem)
        relevant, _ = self.relevance.what_matters(problem.feature_mask(problem.evidence))
        self.features = in_order(self.relevance, relevant)
        self.sizes = tuple(len(problem.states(problem.features[k])) for k in self.features)
        on_host = joint_bytes if self.engine == "cuda" else plain_bytes
        if (needed := on_host(self.sizes, len(problem.classes))) > memory_budget():
            raise TooLargeError(
                f"{self.n_states:,} states need {format_bytes(needed)}, "
                f"and the memory budget is {format_bytes(memory_budget())}"
            )
        root = root_table(problem, problem.evidence, self.features)
        self.joint, self.probability = root.shaped, root.probability
        self.buffers = BufferPool(self.n_states)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return count_states(self.sizes)

    def prices(self, problem: Problem) -> DigitPrices:
        """Return what each digit costs with the prices of a problem."""
        return feature_prices(problem, self.relevance, self.features)


class PlainSolution:
    """The optimum of a problem, as in `solution.Solution`, over a plain table.

    Parameters
    ----------
    problem
        May differ from the problem of the space only in prices and in the scale of the stakes.
    deadline
        Raise `TooLargeError` if the table is not solved before this.
    """

    def __init__(
        self, space: PlainSpace, problem: Problem, *, deadline: Deadline | None = None
    ) -> None:
        check_same_states(space.problem, problem)
        stakes_scale(problem.misclassification, space.unit)  # checks the shape of the stakes
        self.space, self.problem = space, problem
        self._values: Floats | DeviceValues
        engine, joint = space.engine, space.joint.reshape(len(space.joint), -1)
        self._deeper = Deeper(problem, lambda p: PlainSolution(PlainSpace(p, engine=engine), p))
        cost, prices = problem.misclassification, space.prices(problem)
        if engine == "cuda":
            values = solve_cuda(joint, space.sizes, cost, prices, deadline=deadline)
            self._values, self._error_of, least = values, values.error, values.least_mass
        else:
            self._values = space.buffers.lend(self)
            self._error_of, least = _no_error, 0.0
            solve_plain(
                joint, space.sizes, cost, prices,
                value=self._values, engine=engine, deadline=deadline,
            )  # fmt: skip
        self._least_mass = space.probability * max(least, LEAST_MASS)

    @property
    def expected_total_cost(self) -> float:
        """The least expected cost of all policies."""
        return self._value_at(self.space.n_states - 1) / self.space.probability

    def offers(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> None:
        """Return None: a step acquires a single feature."""

    def error(self, known: Mapping[str, str]) -> float:
        """Return by how much `cost_to_go` may be wrong at most: not 0 if V has 32 bits on a GPU."""
        if (found := self._locate(known)) is None:
            return self._deeper.at(known).error(known)
        place, belief = found
        return self._error_of(self._value_at(place)) / float(belief.sum())

    def choose(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> int:
        """Return the feature to acquire, as a mask, or 0: decide. There are no limits here.

        Deciding wins a tie, then the cheaper feature, then the first feature.
        """
        if (found := self._locate(known)) is None:
            return self._deeper.at(known).choose(known)
        place, belief = found
        space, problem, mass = self.space, self.problem, float(belief.sum())
        here, now = self._value_at(place), float((problem.misclassification @ belief).min())
        slack = TOLERANCE * max(mass, now) + 2 * self._error_of(here)
        if now <= here + slack:
            return 0
        known = {**problem.evidence, **known}
        relevant, _ = space.relevance.what_matters(problem.feature_mask(known))
        able = list(bits(relevant & problem.feasibility.alone(known)))
        children = [self._children(place, space.features.index(k)) for k in able]
        # One question for all of them: each takes a while if the table is on a GPU.
        values = iter(self._values[np.concatenate(children)].tolist())
        chosen, cheapest = 0, math.inf
        for k, places in zip(able, children, strict=True):
            price = problem.costs.cost(frozenset({problem.features[k]}), known)
            total = price * mass + sum(islice(values, len(places)))
            if total <= here + slack and price * mass < cheapest * mass - slack:
                chosen, cheapest = 1 << k, price
        return chosen

    def _value_at(self, place: int) -> float:
        return float(self._values[np.array([place])][0])

    def _children(self, place: int, axis: int) -> Ints:
        """Return the places of the states that follow if a digit becomes known."""
        sizes = self.space.sizes
        step = count_states(sizes[axis + 1 :])
        return place - step * np.arange(sizes[axis], 0, -1)

    def cost_to_go(self, known: Mapping[str, str], left: PathLimits = NO_LIMITS) -> float:
        """Return v(e), the least expected cost from some evidence on."""
        if (found := self._locate(known)) is None:
            return self._deeper.at(known).cost_to_go(known)
        place, belief = found
        return self._value_at(place) / float(belief.sum())

    def _locate(self, known: Mapping[str, str]) -> tuple[int, Floats] | None:
        """Return the place of some evidence in the table, and P(Y, e).

        None: the table has no such state. Either no policy would buy that evidence, because it only
        matters for overheads or locks a feature, or it is so rare that it underflowed in the table.
        """
        space, problem = self.space, self.problem
        digits = list(space.sizes)
        outside = problem.feature_mask(problem.evidence)
        for name, state in known.items():
            k = problem.features.index(name)
            if k in space.features:
                digits[space.features.index(k)] = problem.states(name).index(state)
            else:
                outside |= 1 << k
        inside = mask_of(
            k for k, d, size in zip(space.features, digits, space.sizes, strict=True) if d < size
        )
        relevance, own = space.relevance, problem.feature_mask(problem.evidence)
        relevant, _ = relevance.what_matters(inside | outside)
        paid = relevance.groups_paid(inside | outside, relevant)
        if paid != relevance.groups_paid(inside | own, relevant):
            return None
        if relevance.locking(relevant) & outside & ~own:
            return None
        where = [slice(None) if d == s else d for d, s in zip(digits, space.sizes, strict=True)]
        part = space.joint[:, *where]
        belief = part.reshape(len(part), -1).sum(axis=1)
        if float(belief.sum()) < self._least_mass:
            return None
        place = 0
        for digit, size in zip(digits, space.sizes, strict=True):
            place = place * (size + 1) + digit
        return place, belief


def plain_bytes(sizes: Sequence[int], n_classes: int) -> int:
    """Return how many bytes a plain table takes to solve, with all that is there at once."""
    tables = joint_bytes(sizes, n_classes) + scratch_bytes(sizes, n_classes)
    return 8 * count_states(sizes) + tables


def joint_bytes(sizes: Sequence[int], n_classes: int) -> int:
    """Return how many bytes the joint table P(Y, R) takes to compute."""
    return TABLES_AT_ONCE * 8 * n_classes * math.prod(sizes)


def _no_error(value: float) -> float:
    return 0.0


def feature_prices(
    problem: Problem, relevance: Relevance, features: Sequence[int], *, in_batches: bool = False
) -> DigitPrices:
    """Return what some features cost, each with a digit in a table of states.

    A step that is not feasible costs `INFEASIBLE`. In batches, what must come before a feature may
    come with it, so `after` is left out.
    """
    conditions, feasibility = step_conditions(problem), problem.feasibility
    axis_of = {k: a for a, k in enumerate(features)}
    own, named = [], []
    for k in features:
        named_by = conditions.get(k, 0) | feasibility.not_if.get(k, 0)
        if not in_batches:
            named_by |= feasibility.after.get(k, 0)
        others = [j for j in bits(named_by) if j in axis_of]  # not in evidence
        named.append([axis_of[j] for j in others])
        own.append(_own_prices(problem, k, others, in_batches=in_batches))
    groups = [next(bits(relevance.groups_touched(1 << k)), -1) for k in features]
    due = problem.pricing.surcharges(problem.evidence)
    surcharge = [due.get(problem.features[k], 0.0) for k in features]
    return digit_prices(own, named, groups, surcharge)


def in_order(relevance: Relevance, relevant: int) -> tuple[int, ...]:
    """Return the features of R, those that other prices depend on first.

    Then most prices are the same in a whole tile of the table.
    """
    named = 0
    for k in bits(relevant):
        named |= relevance.conditions.get(k, 0)
        mates = mask_of(
            j for members in relevance.groups if members >> k & 1 for j in bits(members & relevant)
        )
        named |= mates if mates.bit_count() > 1 else 0
    return (*bits(relevant & named), *bits(relevant & ~named))


def _own_prices(problem: Problem, k: int, named: Sequence[int], *, in_batches: bool) -> Floats:
    """Return the own price of a feature: an axis for each of `named`, its last entry "unknown"."""
    name, others = problem.features[k], [problem.features[j] for j in named]
    choices = [(*problem.states(other), None) for other in others]
    if math.prod(map(len, choices)) > MAX_PRICES:
        raise TooLargeError(f"the price of {name!r} depends on too many features for a plain table")
    prices = []
    for states in product(*choices):
        found = {f: state for f, state in zip(others, states, strict=True) if state is not None}
        known = {**problem.evidence, **found}
        rules = problem.feasibility
        is_feasible = (rules.open_features if in_batches else rules.alone)(known) >> k & 1
        prices.append(problem.pricing.own_price(name, known) if is_feasible else INFEASIBLE)
    return np.array(prices, dtype=np.float64).reshape([len(states) for states in choices])
