"""Solvers: one interface to every policy, and a registry of solvers by name.

A solver answers three questions about a problem, each with as little work as possible:

    build       the whole policy
    cost        what the policy costs
    next_step   what the policy does at some evidence

Each answer has a `Certificate`: a bound that no policy can beat, whether the policy is what its
name says, and which limit stopped the work early. A `RuleSolver` builds the policy of a rule
(`policy.rules`). The `OptimalSolver` solves exactly if the states fit (`optimal.exact`), and
searches otherwise (`optimal.anytime`).

`register` takes a solver of anybody's own: it is then known to `build_policy`, `advise` and
`compare`. A package whose entry points name its solvers makes them known to the command line and
the server too. `voilattice.testing.check_solver` checks that a solver behaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol, TypeAlias, runtime_checkable

from voilattice.budgets import Deadline, TimeLimit, memory_budget
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.lattice.independence import acquirable_core
from voilattice.model.costs import price_set
from voilattice.model.problem import Problem, check_problem
from voilattice.policy import rules
from voilattice.policy.optimal.anytime import Found, search_optimum
from voilattice.policy.optimal.exact import ExactSolution, find_states, solve_exactly
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.rules import Rule
from voilattice.policy.situations import (
    MAX_POLICY_STATES,
    SEARCHED_CELLS,
    PolicyBuilder,
    Situation,
    situation_at,
)
from voilattice.policy.sweep import Sweep
from voilattice.valuation.streaming import bracket_expected_emc
from voilattice.wording import format_amount, nearest, quote

__all__ = [
    "TIME_LIMIT",
    "Cost",
    "Limits",
    "OptimalSolver",
    "RuleSolver",
    "Solver",
    "Step",
    "build_policy",
    "describe_search",
    "policy_from_rule",
    "policy_names",
    "register",
    "solver_of",
    "unregister",
]

TIME_LIMIT = 60.0  # seconds
PLUGINS = "voilattice.solvers"  # the entry points of packages that bring solvers along
SHARE_OF_EXACT = 0.25  # of the time, for the exact solver; after that the search begins

# Called with the number of states so far and the interval of the optimum; None: a rule has none.
Progress: TypeAlias = Callable[[int, tuple[float, float] | None], None]


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


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy does at some evidence."""

    features: frozenset[str]  # to acquire together; empty: decide
    cost_to_go: float | None = None  # what is still to be paid from here on; None: not known
    certificate: Certificate = field(default_factory=Certificate)
    target_set: frozenset[str] | None = None  # the set that the policy looks ahead to


@runtime_checkable
class Solver(Protocol):
    """Anything that makes policies: a rule, an exact solver, a search."""

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
        """Return what the policy does at some evidence, in addition to the problem's own."""
        ...


@dataclass(frozen=True, slots=True)
class RuleSolver:
    """The policy of a rule.

    Parameters
    ----------
    rule
        What to acquire in a situation, as a mask of features; 0: decide.
    why_decide
        Why it acquires nothing more, in a sentence.
    why_acquire
        Why it acquires a set, with ``{names}`` in it; empty: what the set is worth.
    looks_ahead
        Whether it acquires features of the set of highest benefit.
    forgets
        Whether the rule uses only what still matters. A user-defined rule may use all evidence.
    at_once
        For a rule that acquires only at the start: what it acquires. One valuation then gives the
        cost, and no policy is built.
    """

    name: str
    rule: Rule
    why_decide: str = "The rule of this policy acquires nothing more."
    why_acquire: str = ""
    looks_ahead: bool = False
    forgets: bool = True
    at_once: Callable[[Problem], Iterable[str]] | None = None

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the policy, situation by situation, the most probable ones first."""
        builder = PolicyBuilder(
            problem, max_states=limits.max_states, sweep=sweep, forgets=self.forgets,
            deadline=limits.deadline, max_cells=SEARCHED_CELLS if self.looks_ahead else None,
        )  # fmt: skip
        needs_table = self.at_once is None or bool(set(self.at_once(problem)))
        return builder.build(
            self.name, self.rule, needs_table=needs_table,
            progress=None if progress is None else lambda n: progress(n, None),
        )  # fmt: skip

    def cost(self, problem: Problem, limits: Limits, *, sweep: Sweep | None = None) -> Cost:
        """Return what the policy costs: by one valuation, or by building it."""
        if self.at_once is not None:
            return _cost_at_once(problem, frozenset(self.at_once(problem)), limits.deadline)
        policy = self.build(problem, limits, sweep=sweep)
        # A rule that looks ahead may have gone another way where a best set is not proved.
        at_least = None if policy.exact or self.looks_ahead else policy.least_cost
        return Cost(policy.expected_total_cost, policy.certificate, at_least)

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the rule says."""
        situation = situation_at(problem, evidence, deadline=limits.deadline)
        chosen = self.rule(situation)
        shortfalls = situation.builder.shortfalls
        certificate = Certificate()
        if shortfalls:
            status = "time" if "time" in shortfalls else "memory"
            certificate = Certificate(None, False, status)
        ahead = situation.best() if self.looks_ahead and chosen else 0
        return Step(
            problem.feature_names(chosen),
            None,
            certificate,
            problem.feature_names(ahead) if ahead else None,
        )


def _cost_at_once(problem: Problem, features: frozenset[str], deadline: Deadline) -> Cost:
    """Return what it costs to acquire some features at once and then to decide."""
    price = price_set(problem.costs, features, problem.evidence)
    found = bracket_expected_emc(problem, features, deadline=deadline)
    if found.exact:
        return Cost(price + found.upper, Certificate())
    note = (
        f"Too much to compute: the cost is between {format_amount(price + found.lower)} and "
        f"{format_amount(price + found.upper)}."
    )
    certificate = Certificate(None, False, "time", note)
    return Cost(None, certificate, price + found.lower, price + found.upper)


class OptimalSolver:
    """The policy of least expected total cost."""

    name = "optimal"
    looks_ahead = False
    why_acquire = ""
    why_decide = "No further acquisitions are worth their price."

    # A search starts from these policies, which are quick to build.
    starts = (rules.greedy_la, rules.batch, rules.greedy)

    def __init__(self) -> None:
        self._kept: tuple[object, ExactSolution | None] | None = None  # a problem, and its optimum
        self._tried = 0.0  # seconds there were for it

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the policy, with its certificate."""
        deadline = limits.deadline
        if (solution := self._solve(problem, deadline, sweep)) is None:
            found = self._search(problem, limits, progress).policy(self.name)
            ended_by = "time" if found.status == "time" else "memory"
            return found.admit_open(ended_by) if found.open_share else found
        builder = PolicyBuilder(problem, max_states=limits.max_states, deadline=deadline)
        policy = builder.build(self.name, lambda situation: solution.choose(situation.known))
        # The two costs differ only by rounding, but a bound must not exceed the cost.
        bound = min(solution.expected_total_cost, policy.expected_total_cost)
        return policy.certify(replace(policy.certificate, lower_bound=bound))

    def cost(self, problem: Problem, limits: Limits, *, sweep: Sweep | None = None) -> Cost:
        """Return what the policy costs; the exact solver does not build the policy for this."""
        deadline = limits.deadline
        solution = self._solve(problem, deadline, sweep, choices=False)
        if solution is not None:
            found = solution.expected_total_cost
            return Cost(found, Certificate(found))
        search = self._search(problem, limits, writes=False)
        return Cost(search.upper, search.certificate)

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the policy acquires at some evidence.

        The exact solver solves the problem once and uses the solution for other evidence too. A
        search begins at the evidence.
        """
        deadline = limits.deadline
        if (solution := self._solve_once(problem, limits, deadline)) is not None:
            known = problem.merge_evidence(evidence)
            to_go = solution.cost_to_go(known)
            chosen = problem.feature_names(solution.choose(known))
            return Step(chosen, to_go, Certificate(to_go))
        search = self._search(problem.with_evidence(evidence), limits, writes=False)
        return Step(problem.feature_names(search.action), search.upper, search.certificate)

    def _search(
        self,
        problem: Problem,
        limits: Limits,
        progress: Progress | None = None,
        *,
        writes: bool = True,
    ) -> Found:
        return search_optimum(
            problem, self.starts, deadline=limits.deadline, max_states=limits.max_states,
            writes=writes, progress=progress,
        )  # fmt: skip

    def _solve_once(
        self, problem: Problem, limits: Limits, deadline: Deadline
    ) -> ExactSolution | None:
        """Return the exact optimum; that of the problem asked about last is kept."""
        # What a smaller budget could not hold, a larger one may: so the budget is part of the key.
        # Where the time was too short, a little more is too short as well.
        left = deadline.seconds_left
        seconds = math.inf if left is None else left
        key = (problem, memory_budget())
        kept = self._kept
        if kept is None or kept[0] != key or (kept[1] is None and seconds > 2 * self._tried):
            self._kept = None  # its memory is free before the next one is solved
            kept = self._kept = key, self._solve(problem, deadline)
            self._tried = seconds
        return kept[1]

    @staticmethod
    def _solve(
        problem: Problem,
        deadline: Deadline,
        sweep: Sweep | None = None,
        *,
        choices: bool = True,
    ) -> ExactSolution | None:
        """Return the exact optimum, or None if there are too many states for memory or time."""
        part = deadline.share(SHARE_OF_EXACT)
        try:
            if sweep is not None:
                return sweep.solve(problem, deadline=part, choices=choices)
            space = find_states(problem, deadline=part)
            return solve_exactly(space, problem, choices=choices, deadline=part)
        except TooLargeError:
            return None


_registry: dict[str, Solver] = {}


def register(solver: Solver) -> None:
    """Make a solver known by its name, in this process.

    A package makes its solvers known in every process, those of the command line and the server
    included, by an entry point of the group ``voilattice.solvers``.

    >>> import voilattice
    >>> from voilattice.policy.solvers import RuleSolver, register, unregister
    >>> def cheapest(situation):  # buy the cheapest feature if it costs less than 7
    ...     costs = {k: situation.value(1 << k).cost for k in situation.axes}
    ...     k = min(costs, key=costs.get, default=None)
    ...     return 0 if k is None or costs[k] >= 7 else 1 << k
    >>> register(RuleSolver("cheapest", cheapest))
    >>> voilattice.build_policy(voilattice.load_problem("asia"), "cheapest").root.features
    ('tub',)
    >>> unregister("cheapest")
    """
    if not isinstance(solver, Solver):
        raise InputError(
            f"a solver has name, looks_ahead, why_acquire, why_decide, build, cost and next_step; "
            f"got {quote(solver)}"
        )
    if not isinstance(solver.name, str) or not solver.name.strip():
        raise InputError(f"must be a text that is not empty, got {quote(solver.name)}", "name")
    if solver.name in _registry:
        raise InputError(f"there is a policy {solver.name!r} already; choose another name", "name")
    _registry[solver.name] = solver


def unregister(name: str) -> None:
    """Remove a solver from the registry."""
    solver_of(name)
    del _registry[name]


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies, in the order of their registration."""
    _load_plugins()
    return tuple(_registry)


@cache
def _load_plugins() -> None:
    """Register the solvers that installed packages bring along."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=PLUGINS):
        try:
            register(entry.load())
        except Exception as error:
            raise InputError(f"cannot be loaded: {error}", f"{PLUGINS}, {entry.value}") from error


def solver_of(name: str) -> Solver:
    """Return the solver of that name, or raise `UnknownNameError`."""
    if not isinstance(name, str) or name not in policy_names():
        raise UnknownNameError(f"no policy {quote(name)}{nearest(name, policy_names())}")
    return _registry[name]


def _nothing(problem: Problem) -> tuple[str, ...]:
    return ()


_built_in: tuple[Solver, ...] = (
    RuleSolver("none", rules.none, "This policy acquires nothing.", at_once=_nothing),
    RuleSolver(
        "markov-blanket",
        rules.markov_blanket,
        "No other feature says more about the target.",
        "All that can be known about the target is in {names}",
        at_once=acquirable_core,
    ),
    RuleSolver("greedy", rules.greedy, "No feature alone is worth its price."),
    RuleSolver(
        "greedy-la",
        rules.greedy_la,
        "No feature, alone or together with others, is worth its price.",
        looks_ahead=True,
    ),
    RuleSolver(
        "batch",
        rules.batch,
        "No feature, alone or together with others, is worth its price.",
        looks_ahead=True,
    ),
    OptimalSolver(),
)
for _solver in _built_in:
    register(_solver)


def build_policy(
    problem: Problem,
    name: str,
    evidence: Mapping[str, str] | None = None,
    *,
    max_states: int = MAX_POLICY_STATES,
    time_limit: TimeLimit = TIME_LIMIT,
    sweep: Sweep | None = None,
    progress: Progress | None = None,
) -> Policy:
    """Return the policy of that name, starting at the evidence.

    Parameters
    ----------
    name
        A registered name: ``none``, ``markov-blanket``, ``greedy``, ``greedy-la``, ``batch``,
        ``optimal``, or one of your own.
    max_states
        The policy has at most this many different states. The most probable states come first;
        where the rest would begin, the policy decides (`Leaf.is_open`), and `Policy.status` is
        ``"memory"``.
    time_limit
        Seconds. At the limit the rest of the policy is left open in the same way, and a search for
        the optimum ends with the best policy found and a bound. None: no limit.
    sweep
        Values that the points of a sweep of stakes share (see `Sweep`).
    progress
        Called repeatedly with the number of states so far, and the interval of a search for the
        optimum or None.

    >>> import voilattice
    >>> p = build_policy(voilattice.load_problem("asia"), "optimal")
    >>> p.n_acquisitions, round(p.expected_total_cost, 2), round(p.lower_bound, 2), p.exact
    (5, 62.46, 62.46, True)
    """
    check_problem(problem)
    solver = solver_of(name)
    # The evidence becomes part of the problem that the policy belongs to.
    here = problem.with_evidence(evidence)
    return solver.build(here, Limits(max_states, time_limit), sweep=sweep, progress=progress)


def policy_from_rule(
    problem: Problem,
    rule: Callable[[Mapping[str, str]], Iterable[str]],
    *,
    name: str = "rule",
    max_states: int = MAX_POLICY_STATES,
) -> Policy:
    """Return the policy that acquires what `rule` says at each evidence; the empty set decides.

    >>> import voilattice
    >>> p = voilattice.load_problem("figure1")  # Figure 2: X1, and X2 only if X1 is T
    >>> policy = policy_from_rule(
    ...     p, lambda e: {"X1"} if not e else {"X2"} if e == {"X1": "T"} else set()
    ... )
    >>> round(policy.expected_total_cost, 9), policy.n_paths
    (23.2, 3)
    """

    def choose(situation: Situation) -> int:
        chosen = rule(problem.further(situation.known))
        if not isinstance(chosen, Iterable):
            raise InputError(f"a rule must return a set of features, got {quote(chosen)}")
        return problem.feature_mask(problem.check_acquirable(chosen, situation.known))

    if name in _registry:
        raise InputError(f"{name!r} is the name of a registered policy; choose another", "name")
    limits = Limits(max_states, None)
    return RuleSolver(name, choose, forgets=False).build(problem, limits)
