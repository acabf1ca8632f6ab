"""Policies by name: the registry of solvers, and the policy of a rule of one's own.

All solvers have one interface (`policy.interface`). A `RuleSolver` builds the policy of a rule
(`policy.rules`), and the `OptimalSolver` the one of least expected total cost (`optimal`).

`register` takes a solver of anybody's own: it is then known to `build_policy`, `advise` and
`compare`. A package whose entry points name its solvers makes them known to the command line and
the server too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pkgutil import resolve_name
from threading import RLock

from voilattice.budgets import TimeLimit
from voilattice.errors import InputError, UnknownNameError
from voilattice.lattice.independence import acquirable_core
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.policy import rules
from voilattice.policy.interface import (
    MAX_POLICY_STATES,
    TIME_LIMIT,
    Cost,
    Limits,
    Progress,
    Solver,
    Step,
    describe_search,
)
from voilattice.policy.policy import Policy
from voilattice.policy.rule_solver import RuleSolver
from voilattice.policy.situation import Situation
from voilattice.policy.sweep import Sweep
from voilattice.wording import nearest, quote

# Whoever writes a solver finds its interface here too.
__all__ = [
    "TIME_LIMIT",
    "Cost",
    "Limits",
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

OPTIMAL = "voilattice.optimal.solver:OptimalSolver"
PLUGINS = "voilattice.solvers"  # the entry points of packages that bring solvers along

_registry: dict[str, Solver] = {}
_loading = RLock()  # a plugin may ask for names while it is loaded


def register(solver: Solver) -> None:
    """Make a solver known by its name, in this process.

    A package makes its solvers known in every process, those of the command line and the server
    included, by an entry point of the group ``voilattice.solvers``.

    >>> import voilattice
    >>> from voilattice.feature_sets import bits
    >>> from voilattice.policy.solvers import RuleSolver, register, unregister
    >>> def cheapest(situation):  # buy the cheapest feature if it costs less than 7
    ...     costs = {k: situation.value(1 << k).cost for k in bits(situation.alone)}
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
    with _loading:
        _load_optimal()
        if solver.name in _registry:
            raise InputError(
                f"there is a policy {solver.name!r} already; choose another name", "name"
            )
        _registry[solver.name] = solver


def unregister(name: str) -> None:
    """Remove a solver from the registry."""
    solver_of(name)
    del _registry[name]


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies, in the order of their registration."""
    with _loading:  # one thread loads, the others wait
        _load_optimal()
        _load_plugins()
    return tuple(_registry)


@cache
def _load_optimal() -> None:
    """Register the optimum, by its name: the room `optimal` is above this one."""
    solver: Solver = resolve_name(OPTIMAL)()
    _registry[solver.name] = solver


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


_rules: tuple[Solver, ...] = (
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
)
_registry.update((solver.name, solver) for solver in _rules)


def build_policy(
    problem: Problem,
    name: str,
    evidence: Evidence | None = None,
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
        optimum or None. It may return True to end the search with what was found.

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

    if name in policy_names():
        raise InputError(f"{name!r} is the name of a registered policy; choose another", "name")
    limits = Limits(max_states, None)
    return RuleSolver(name, choose, forgets=False).build(problem, limits)
