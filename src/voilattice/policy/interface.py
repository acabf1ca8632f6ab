"""The interface of a solver: what it is asked, within which limits, and what it answers.

A solver answers three questions about a problem, each with as little work as possible:

    build       the whole policy
    cost        what the policy costs                                     (`Cost`)
    next_step   what the policy does at some evidence                     (`Step`)

Each answer has a `Certificate`: a bound that no policy can beat, whether the policy is what its
name says, and which limit stopped the work early. `voilattice.testing.check_solver` checks that a
solver behaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

from voilattice.budgets import Deadline, TimeLimit
from voilattice.errors import InputError
from voilattice.policy.certificate import Certificate
from voilattice.ties import tolerance
from voilattice.wording import format_amount, quote

if TYPE_CHECKING:
    from voilattice.model.problem import Problem
    from voilattice.policy.policy import Policy
    from voilattice.policy.sweep import Sweep

__all__ = [
    "MAX_POLICY_STATES",
    "TIME_LIMIT",
    "Cost",
    "Limits",
    "Progress",
    "ProvingSolver",
    "Solver",
    "Step",
    "describe_search",
    "is_proving",
    "is_quick",
]

MAX_POLICY_STATES = 1_000_000
TIME_LIMIT = 60.0  # seconds

# Called with the number of states so far and the interval of the optimum; None: a rule has none.
# It may return True to end a search for the optimum with what was found.
Progress: TypeAlias = Callable[[int, tuple[float, float] | None], bool | None]


def describe_search(n_states: int, interval: tuple[float, float] | None) -> str:
    """Return how far a policy has come, in words."""
    if interval is None:
        return f"policy: {n_states:,} states so far"
    lower, upper = map(format_amount, interval)
    return f"optimal: {n_states:,} states examined, the optimum is in [{lower}, {upper}]"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a solver.

    Parameters
    ----------
    max_states
        A policy has at most this many different states. The states beyond are left open.
    time_limit
        Seconds from now on, or a deadline. At the limit there is the best result so far. None: no
        limit.
    """

    max_states: int = MAX_POLICY_STATES
    time_limit: TimeLimit = TIME_LIMIT
    deadline: Deadline = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "deadline", Deadline.of(self.time_limit))
        is_whole = isinstance(self.max_states, int) and not isinstance(self.max_states, bool)
        if not is_whole or self.max_states < 1:
            raise InputError(
                f"must be a whole number >= 1, got {quote(self.max_states)}", "max_states"
            )


@dataclass(frozen=True, slots=True)
class Cost:
    """What a policy costs on average.

    The cost of a policy that was not worked out to the end is that of the policy so far, which is a
    policy too. The cost of one that was not worked out at all is None, with bounds.
    """

    expected_total_cost: float | None
    certificate: Certificate
    at_least: float | None = None  # what the whole policy costs at least; None: not computed
    at_most: float | None = None  # what the whole policy costs at most; None: not computed
    first: frozenset[str] | None = None  # what it acquires first; empty: it decides; None: not told

    def beats(self, other: Cost) -> bool | None:
        """Return whether the optimum costs less than that of another problem; None: not proved.

        The other problem lacks something, so its optimum costs as much or more. A tie counts as
        no: what the other problem lacks is not used.
        """
        mine, theirs = self.expected_total_cost, other.expected_total_cost
        least, their_least = self.certificate.lower_bound, other.certificate.lower_bound
        if mine is None or theirs is None or least is None or their_least is None:
            return None
        if mine < their_least - tolerance(their_least):
            return True
        return False if least >= theirs - tolerance(theirs) else None


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy does at some evidence."""

    features: frozenset[str]  # to acquire together; empty: decide
    cost_to_go: float | None = None  # what is still to be paid from here on; None: not known
    certificate: Certificate = field(default_factory=Certificate)
    target_set: frozenset[str] | None = None  # the set that the policy looks ahead to


@runtime_checkable
class Solver(Protocol):
    """Anything that makes policies: a rule, an exact solver, a search.

    A solver may also say how much time it needs where several share some: `is_quick` is true if it
    needs little, `proves` if it looks for the optimum and can use all there is (`ProvingSolver`).
    """

    @property
    def name(self) -> str:
        """The name of the policy."""
        ...

    @property
    def looks_ahead(self) -> bool:
        """Whether it acquires features of the set of highest benefit."""
        ...

    @property
    def why_acquire(self) -> str:
        """Why it acquires a set, with ``{names}`` in it; empty: what the set is worth."""
        ...

    @property
    def why_decide(self) -> str:
        """Why it acquires nothing more, in a sentence."""
        ...

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the whole policy."""
        ...

    def cost(self, problem: Problem, limits: Limits, *, sweep: Sweep | None = None) -> Cost:
        """Return what the policy costs."""
        ...

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the policy does at some evidence, in addition to the problem's own.

        The limits of the problem are what is left of them there.
        """
        ...


class ProvingSolver(Solver, Protocol):
    """A solver of the optimum: `proves` is true, and `cost` may tell the first step too."""

    proves: bool

    def cost(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        with_first: bool = False,
    ) -> Cost:
        """Return what the policy costs, and if asked what it acquires first (`Cost.first`)."""
        ...


def is_proving(solver: Any) -> TypeGuard[ProvingSolver]:
    """Return whether a solver looks for the optimum, and so can use all the time there is."""
    return bool(getattr(solver, "proves", False))


def is_quick(solver: Any) -> bool:
    """Return whether a solver says that it is quick (`is_quick`): it needs little of the time."""
    return bool(getattr(solver, "is_quick", False))
