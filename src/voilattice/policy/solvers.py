"""Solvers: one interface to every policy, and a registry of solvers by name.

A solver answers three questions about a problem, each with as little work as possible:

    build       the whole policy
    cost        what the policy costs
    next_step   what the policy does at some evidence

Each answer has a `Certificate`: a bound that no policy can beat, whether the policy is what its
name says, and which limit stopped the work early. A `RuleSolver` builds the policy of a rule
(`policy.rules`). The `OptimalSolver` solves exactly if the states fit (`optimal.exact`), and
searches otherwise (`optimal.ao_star`).

`register` takes a solver of anybody's own: it is then known to `build_policy`, `advise` and
`compare`. A package whose entry points name its solvers makes them known to the command line and
the server too. `voilattice.testing.check_solver` checks that a solver behaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol, TypeAlias, runtime_checkable

from voilattice.budgets import Deadline, memory_budget
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.lattice.independence import acquirable_core
from voilattice.model.problem import Problem, check_problem
from voilattice.policy import rules
from voilattice.policy.optimal.ao_star import Search
from voilattice.policy.optimal.exact import ExactSolution, find_states, solve_exactly
from voilattice.policy.policy import Certificate, Policy
from voilattice.policy.rules import Rule
from voilattice.policy.situations import (
    MAX_POLICY_STATES,
    PolicyBuilder,
    Situation,
    situation_at,
)
from voilattice.policy.sweep import Sweep
from voilattice.valuation.valuation import value
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

TIME_LIMIT = 60.0  # seconds, for a search
PLUGINS = "voilattice.solvers"  # the entry points of packages that bring solvers along
SHARE_OF_EXACT = 0.5  # of the time, for the exact solver; after that the search begins

# Called during a search with the number of expanded states and the interval so far.
Progress: TypeAlias = Callable[[int, tuple[float, float]], None]


def describe_search(n_states: int, interval: tuple[float, float]) -> str:
    """Return how far a search has come, in words."""
    lower, upper = map(format_amount, interval)
    return f"optimal: {n_states:,} states examined, the optimum is in [{lower}, {upper}]"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a solver.

    Parameters
    ----------
    max_states
        Raise `TooLargeError` if a policy has more different states than this.
    time_limit
        Seconds for a search, if the states do not fit the memory budget. None: until the optimum
        is proved.
    """

    max_states: int = MAX_POLICY_STATES
    time_limit: float | None = TIME_LIMIT

    def __post_init__(self) -> None:
        Deadline(self.time_limit)  # checks that it is a number of seconds
        is_whole = isinstance(self.max_states, int) and not isinstance(self.max_states, bool)
        if not is_whole or self.max_states < 1:
            raise InputError(
                f"must be a whole number >= 1, got {quote(self.max_states)}", "max_states"
            )


@dataclass(frozen=True, slots=True)
class Cost:
    """What a policy costs on average."""

    expected_total_cost: float
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy does at some evidence."""

    features: frozenset[str]  # to acquire together; empty: decide
    cost_to_go: float | None = None  # what is still to be paid from here on; None: not known
    certificate: Certificate = field(default_factory=Certificate)


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
        """Return the policy, situation by situation."""
        builder = PolicyBuilder(
            problem, max_states=limits.max_states, sweep=sweep, forgets=self.forgets
        )
        needs_table = self.at_once is None or bool(set(self.at_once(problem)))
        return builder.build(self.name, self.rule, needs_table=needs_table)

    def cost(self, problem: Problem, limits: Limits, *, sweep: Sweep | None = None) -> Cost:
        """Return what the policy costs: by one valuation, or by building it."""
        if self.at_once is not None:
            found = value(problem, self.at_once(problem))
            return Cost(found.cost + found.expected_emc, Certificate())
        policy = self.build(problem, limits, sweep=sweep)
        return Cost(policy.expected_total_cost, policy.certificate)

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the rule says."""
        return Step(problem.feature_names(self.rule(situation_at(problem, evidence))))


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

    def build(
        self,
        problem: Problem,
        limits: Limits,
        *,
        sweep: Sweep | None = None,
        progress: Progress | None = None,
    ) -> Policy:
        """Return the policy, with its certificate."""
        deadline = Deadline(limits.time_limit)
        if (solution := self._solve(problem, deadline, sweep)) is None:
            search = Search(
                problem, self.starts, deadline=deadline, max_states=limits.max_states,
                progress=progress,
            )  # fmt: skip
            return search.policy(self.name)
        builder = PolicyBuilder(problem, max_states=limits.max_states)
        policy = builder.build(self.name, lambda situation: solution.choose(situation.known))
        # The two costs differ only by rounding, but a bound must not exceed the cost.
        bound = min(solution.expected_total_cost, policy.expected_total_cost)
        return replace(policy, certificate=Certificate(bound))

    def cost(self, problem: Problem, limits: Limits, *, sweep: Sweep | None = None) -> Cost:
        """Return what the policy costs; the exact solver does not build the policy for this."""
        deadline = Deadline(limits.time_limit)
        solution = self._solve(problem, deadline, sweep, choices=False)
        if solution is not None:
            found = solution.expected_total_cost
            return Cost(found, Certificate(found))
        policy = Search(problem, self.starts, deadline=deadline).policy(self.name)
        return Cost(policy.expected_total_cost, policy.certificate)

    def next_step(
        self, problem: Problem, evidence: Mapping[str, str] | None, limits: Limits
    ) -> Step:
        """Return what the policy acquires at some evidence.

        The exact solver solves the problem once and uses the solution for other evidence too. A
        search begins at the evidence.
        """
        deadline = Deadline(limits.time_limit)
        if (solution := self._solve_once(problem, limits, deadline)) is not None:
            known = problem.merge_evidence(evidence)
            to_go = solution.cost_to_go(known)
            chosen = problem.feature_names(solution.choose(known))
            return Step(chosen, to_go, Certificate(to_go))
        here = problem.with_evidence(evidence)
        search = Search(here, self.starts, deadline=deadline)
        return Step(problem.feature_names(search.action), search.upper, search.certificate)

    def _solve_once(
        self, problem: Problem, limits: Limits, deadline: Deadline
    ) -> ExactSolution | None:
        """Return the exact optimum; that of the problem asked about last is kept."""
        # What a smaller budget could not hold, a larger one may: so the budget is part of the key.
        key = (problem, limits, memory_budget())
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # its memory is free before the next one is solved
            self._kept = key, self._solve(problem, deadline)
        return self._kept[1]

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
    time_limit: float | None = TIME_LIMIT,
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
        Raise `TooLargeError` if the policy has more different states than this.
    time_limit
        Seconds for the search, if the states of the optimum do not fit the memory budget. None:
        until the optimum is proved.
    sweep
        Values that the points of a sweep of stakes share (see `Sweep`).
    progress
        Called during a search with the number of expanded states and the interval so far.

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
    return RuleSolver(name, choose, forgets=False).build(problem, Limits(max_states))
