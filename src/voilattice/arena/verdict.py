"""The verdict of the arena in words: who is best, and where our default is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voilattice.arena.methods import OUR_METHODS, OURS
from voilattice.arena.ranks import (
    ALPHA,
    bootstrap_means,
    critical_difference,
    friedman_test,
    rank_costs,
)
from voilattice.arena.tables import Comparison, Weakness
from voilattice.wording import count_noun

__all__ = ["find_intervals", "format_share", "judge"]

MAX_NAMED = 8  # methods in a sentence
LEAST_DATA_SETS = 5  # an interval from fewer would be too narrow


def find_intervals(found: Comparison) -> dict[str, tuple[float, float, float]]:
    """Return what our default costs more than each other method, by the bootstrap.

    Returns
    -------
    dict
        For each other method the mean difference of normalized costs, and the ends of its 95 %
        interval; below 0, our default costs less. Empty: there are too few data sets.
    """
    if OURS not in found.methods or len(set(found.data_sets)) < LEAST_DATA_SETS:
        return {}
    ours = found.methods.index(OURS)
    differences = found.normalized[:, [ours]] - found.normalized
    lower, upper = bootstrap_means(differences, found.data_sets)
    mean = differences.mean(axis=0)
    return {
        method: (float(mean[k]), float(lower[k]), float(upper[k]))
        for k, method in enumerate(found.methods)
        if k != ours
    }


def judge(found: Comparison, weaknesses: Sequence[Weakness]) -> list[str]:
    """Return the verdict, a paragraph each."""
    if len(found.methods) < 2 or not found.cells:
        return ["There are not yet two methods that can be compared."]
    said = [_judge_ranks(found)]
    if OURS in found.methods:
        said += [_judge_cells(found, weaknesses), _judge_costs(found)]
    return said


def format_share(share: float) -> str:
    """Return a share in percent, with three digits at most.

    >>> [format_share(share) for share in (0.00123, 0.0456, 0.789, 12.3)]
    ['0.12 %', '4.6 %', '79 %', '1,230 %']
    """
    percent = 100 * share
    digits = 2 if abs(percent) < 1 else 1 if abs(percent) < 10 else 0
    return f"{percent:,.{digits}f} %".replace("-", "−")


def _judge_ranks(found: Comparison) -> str:
    ranks = found.ranks.mean(axis=0)
    k = len(ranks)
    said = [f"{found.methods[0]} has the best mean rank, {ranks[0]:.2f} of {k} methods"]
    if OURS in found.methods[1:]:
        ours = found.methods.index(OURS)
        said[0] += f". Our default, {OURS}, is at place {ours + 1} with {ranks[ours]:.2f}."
    else:
        said[0] += f". {found.methods[1]} follows with {ranks[1]:.2f}."
    said += _judge_default_alone(found)
    test = friedman_test(found.ranks)
    if test.p_value >= ALPHA:
        said.append(
            f"By Friedman's test the methods do not differ significantly (p = {test.p_value:.2f})."
        )
        return " ".join(said)
    p = "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"
    difference = critical_difference(k, len(found.cells))
    said.append(
        f"The methods differ (Friedman's test, {p}). Two mean ranks differ significantly if they "
        f"are at least {difference:.2f} apart."
    )
    if OURS in found.methods:
        away = ranks - ranks[found.methods.index(OURS)]
        worse, better = int((away >= difference).sum()), int((away <= -difference).sum())
        said.append(
            f"By this, our default ranks better than {count_noun(worse, 'method')}"
            f" and worse than {better or 'none'}; {k - 1 - worse - better} are too close to tell."
        )
    return " ".join(said)


def _judge_default_alone(found: Comparison) -> list[str]:
    """Say how our default ranks without our quick policies, which share its network."""
    others = [k for k, method in enumerate(found.methods) if method not in OUR_METHODS]
    if OURS not in found.methods or not others or len(others) == len(found.methods) - 1:
        return []
    kept = [found.methods.index(OURS), *others]
    ranks = rank_costs(found.total_cost[:, kept]).mean(axis=0)
    place = 1 + int((ranks < ranks[0]).sum())
    return [
        f"Without our quick policies, our default is at place {place} of {len(kept)}, with a mean "
        f"rank of {ranks[0]:.2f}."
    ]


def _judge_cells(found: Comparison, weaknesses: Sequence[Weakness]) -> str:
    n = len(found.cells)
    ours = found.methods.index(OURS)
    won = found.is_won[:, ours]
    n_shared = int((won & (found.is_won.sum(axis=1) > 1)).sum())
    said = f"Our default costs least in {int(won.sum())} of {count_noun(n, 'cell')}"
    if n_shared:
        said += f", in {n_shared} of them together with others"
    said += "."
    if weaknesses:
        worst = weaknesses[0]
        middle = float(np.median([row.ratio for row in weaknesses])) - 1
        said += (
            f" In {len(weaknesses)} another method costs less: our default costs "
            f"{format_share(middle)} more than the best there (the median), and "
            f"{format_share(worst.ratio - 1)} more at worst ({worst.data_set}, {worst.level}, "
            f"where {worst.best} is best).{_weigh(weaknesses)} {_blame(weaknesses)}"
        )
    return said


def _weigh(weaknesses: Sequence[Weakness]) -> str:
    """Say how many differences are more than chance; nothing if there is one split."""
    errors = [row.standard_error for row in weaknesses]
    if np.isnan(errors).any():
        return ""
    n = sum(row.total_cost[0] - row.total_cost[1] > 2 * row.standard_error for row in weaknesses)
    return f" In {n or 'none'} of these the difference is more than twice its standard error."


def _blame(weaknesses: Sequence[Weakness]) -> str:
    """Say what makes our default dearer in these cells: spending, or decisions."""
    spends = sum(row.extra_spending > row.extra_errors for row in weaknesses)
    return (
        f"In {spends} of these cells most of the difference is spent on features, in "
        f"{len(weaknesses) - spends} it is lost by decisions."
    )


def _judge_costs(found: Comparison) -> str:
    intervals = find_intervals(found)
    if not intervals:
        n = count_noun(len(set(found.data_sets)), "data set")
        return f"To say whether costs differ, {LEAST_DATA_SETS} data sets are needed; this is {n}."
    cheaper = [method for method, (_, _, upper) in intervals.items() if upper < 0]
    dearer = [method for method, (_, lower, _) in intervals.items() if lower > 0]
    close = [method for method in intervals if method not in cheaper and method not in dearer]
    ours = float(found.normalized[:, found.methods.index(OURS)].mean())
    parts = [f"the normalized cost of our default is {ours:.3f} on average"]
    for methods, said in (
        (cheaper, "less than that of"),
        (dearer, "more than that of"),
        (close, "too close to tell from that of"),
    ):
        if methods:
            is_few = len(methods) <= MAX_NAMED
            shown = ", ".join(methods) if is_few else count_noun(len(methods), "method")
            parts.append(f"{said} {shown}")
    return (
        f"Over data sets, by the 95 % interval of a paired bootstrap for one method at a time: "
        f"{'; '.join(parts)}."
    )
