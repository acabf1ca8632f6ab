"""What a worker does: the functions of the command line, on problems that it keeps.

A worker is told a problem once, and keeps it, with its variants for other stakes and without some
features: what was solved for one request is there for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from voilattice.documents import (
    Document,
    advice_document,
    best_document,
    comparison_document,
    lattice_document,
    policy_document,
    value_document,
)
from voilattice.drawing.lattice import lattice_svg
from voilattice.drawing.plots import savings_svg
from voilattice.drawing.policy import policy_tree
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Problem
from voilattice.policy.advice import advise
from voilattice.policy.comparison import compare
from voilattice.policy.solvers import build_policy, describe_search
from voilattice.valuation.best_set import best_set
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.valuation import emc, value

__all__ = ["TASKS", "keep"]

MAX_LATTICE = 100_000
MAX_VALUED = 20_000
MAX_DRAWN_STATES = 200_000
TOP_SETS = 10

Progress = Callable[[str], None]

_problems: dict[str, Problem] = {}


def keep(name: str, problem: Problem) -> None:
    """Keep a problem under a name."""
    _problems[name] = problem
    with_stakes.cache_clear()


@lru_cache(maxsize=8)
def with_stakes(
    name: str,
    kind: str | None,
    expected: float | None,
    unavailable: tuple[str, ...],
    known: frozenset[str] = frozenset(),
) -> Problem:
    """Return a kept problem with other stakes, and without some features.

    Features that can be acquired only after these are left out too, unless they are `known`.
    """
    problem = _problems[name]
    if kind is not None and expected is not None:
        problem = problem.with_expected(kind, expected)
    return problem.without(unavailable, known) if unavailable else problem


def _advise(
    problem: Problem,
    given: Mapping[str, str],
    tell: Progress,
    policy: str,
    free: Mapping[str, str],
    unavailable: Sequence[str],
    together: Sequence[Sequence[str]],
    seconds: float,
) -> Document:
    advice = advise(
        problem, policy, given,
        given=free, unavailable=unavailable, together=together, time_limit=seconds,
    )  # fmt: skip
    return advice_document(advice)


def _value(
    problem: Problem, given: Mapping[str, str], tell: Progress, features: Sequence[str]
) -> Document:
    return value_document(value(problem, features, given))


def _best(problem: Problem, given: Mapping[str, str], tell: Progress, seconds: float) -> Document:
    return best_document(best_set(problem, given, time_limit=seconds))


def _lattice(problem: Problem, given: Mapping[str, str], tell: Progress) -> Document:
    lattice = Lattice(problem, given, max_nodes=MAX_LATTICE)
    values = None
    if len(lattice) <= MAX_VALUED:
        values = value_lattice(problem, given, lattice=lattice)
    document = lattice_document(lattice, None if values is None else values.top(TOP_SETS))
    if values is None:
        for key in ("sets", "feasible"):
            document.pop(key, None)
    return document | {"svg": lattice_svg(lattice, values)}


def _policy(
    problem: Problem, given: Mapping[str, str], tell: Progress, policy: str, seconds: float
) -> Document:
    built = build_policy(
        problem, policy, given, time_limit=seconds, max_states=MAX_DRAWN_STATES,
        progress=lambda n, interval: tell(describe_search(n, interval)),
    )  # fmt: skip
    return policy_document(built, emc(problem, given)) | {"tree": policy_tree(built)}


def _compare(
    problem: Problem,
    given: Mapping[str, str],
    tell: Progress,
    points: Sequence[float],
    seconds: float,
) -> Document:
    rows = compare(
        problem, points, evidence=given, n_jobs=1, time_limit=seconds,
        progress=lambda done, total: tell(f"{done} of {total} points"),
    )  # fmt: skip
    return {
        "rows": comparison_document(rows),
        "svg": savings_svg(rows, problem.title, problem.currency),
    }


TASKS: dict[str, Callable[..., Document]] = {
    "advise": _advise,
    "value": _value,
    "best": _best,
    "lattice": _lattice,
    "policy": _policy,
    "compare": _compare,
}
