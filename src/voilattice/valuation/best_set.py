r"""The set of highest benefit (paper, Equation 7).

    L(X | e) = argmax over S of  Benefit(S | e) = EVI(S | e) - C(S | e)

Branch and bound finds the set (`set_search`). If the search is stopped early, the result is the
best set so far and a bound on the benefit of all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from voilattice.budgets import Deadline, TimeLimit
from voilattice.engines import check_engine
from voilattice.lattice.independence import graph_of
from voilattice.lattice.lattice import Lattice
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.ties import Offer
from voilattice.valuation.set_search import Node, SetSearch
from voilattice.valuation.tables import Root
from voilattice.valuation.valuation import emc, expected_emc

__all__ = ["Best", "BestMask", "best_in_table", "best_mask", "best_set"]

# The lattice is grown to count its sets only if that takes at most this many floods.
MAX_COUNTED_FLOODS = 50_000


@dataclass(frozen=True, slots=True)
class Best:
    """The set of highest benefit, and how much of the search was done."""

    features: frozenset[str]
    evi: float
    cost: float
    benefit: float
    exact: bool
    bound: float  # no set has a higher benefit
    n_evaluated: int  # sets whose EVI was computed
    n_sets: int | None  # irreducible sets in all; None: not enumerated
    short_of: str | None  # if not exact, what is missing: "time", "memory" or "costs"
    feasible: bool = True  # only sets that can be acquired are considered


class BestMask(NamedTuple):
    """The best set found, as a mask, and what was missing to prove it: "time" or "memory"."""

    mask: int
    short_of: str | None


def best_set(
    problem: Problem,
    evidence: Evidence | None = None,
    *,
    time_limit: TimeLimit = None,
    engine: str = "auto",
    progress: Callable[[int, float], None] | None = None,
) -> Best:
    """Return the set of features whose EVI exceeds its cost by most (Eq. 7).

    Only sets that can be acquired now, and that keep to the limits, are considered.
    Ties go to fewer features, then to the lower price, then to the problem's order of features.

    Parameters
    ----------
    time_limit
        Stop after this many seconds and return the best set so far and a bound on all others.
    engine
        ``"python"`` (NumPy), ``"compiled"``, or ``"auto"``: by the estimated work.
    progress
        Called repeatedly with the number of sets evaluated and the gap to the bound, infinite while
        there is no bound.

    >>> import voilattice
    >>> found = best_set(voilattice.load_problem("asia"))
    >>> sorted(found.features), round(found.benefit, 2), found.exact
    (['dysp', 'smoke', 'tub', 'xray'], 29.37, True)
    """
    check_problem(problem)
    check_engine(engine)
    deadline = Deadline.of(time_limit)
    known = problem.merge_evidence(evidence)
    search = SetSearch(
        problem, known, emc(problem, evidence), deadline, engine, progress, problem.limits
    )
    short_of = search.run()
    bound = max(search.open_bound(), search.best.benefit)
    if not search.check.proved:  # any set could be cheap, so only the EVI is bounded
        bound, short_of = max(bound, search.worth_bound()), "costs"
    best = search.best
    exact = bound <= best.benefit + search.tol
    return Best(
        problem.feature_names(best.mask),
        best.benefit + best.cost,
        best.cost,
        best.benefit,
        exact,
        best.benefit if exact else bound,
        search.n_evaluated,
        None if deadline.is_over else _count_sets(problem, known),
        None if exact else short_of,
    )


def best_in_table(
    problem: Problem,
    known: Mapping[str, str],
    features: Sequence[int],
    root: Root,
    *,
    deadline: Deadline | None = None,
    limits: PathLimits = NO_LIMITS,
) -> BestMask:
    """Return the best set of `features` from their table.

    Parameters
    ----------
    features
        The features of the axes of `root`, by number.
    deadline
        When to stop and return the best set so far.
    limits
        What is left of the limits.
    """
    stake = expected_emc(
        root.table.reshape(len(problem.classes), -1).sum(axis=1), problem.misclassification
    )
    search = SetSearch(
        problem, known, stake / root.probability, deadline or Deadline(), "auto", None, limits
    )
    places = [features.index(k) for k in sorted(features, key=search.decided_at)]
    ordered = root.reorder(places)
    axes = tuple(features[place] for place in places)
    is_done = search.search_below(Node(-math.inf, 0, axes), axes, ordered)
    return BestMask(search.best.mask, None if is_done else "time")


def best_mask(
    problem: Problem,
    known: Mapping[str, str],
    stake: float,
    singles: Sequence[Offer],
    *,
    deadline: Deadline,
    limits: PathLimits = NO_LIMITS,
) -> BestMask:
    """Return the best set at some evidence, without a table over all features.

    Parameters
    ----------
    stake
        EMC(e).
    singles
        What each feature alone is worth.
    limits
        What is left of the limits.
    """
    search = SetSearch(problem, known, stake, deadline, "auto", None, limits)
    short_of = search.run(singles)
    is_proved = search.open_bound() <= search.best.benefit + search.tol
    return BestMask(search.best.mask, None if is_proved else short_of)


def _count_sets(problem: Problem, known: Mapping[str, str]) -> int | None:
    """Return the size of the lattice if it can be grown quickly, else None."""
    n = graph_of(problem).relevant(problem.feature_mask(known)).bit_count()
    if n << n > MAX_COUNTED_FLOODS:
        return None
    return len(Lattice(problem, problem.further(known)))
