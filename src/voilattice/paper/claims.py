"""The paper's sentences about its experiments, measured.

A claim is a list of cases, each of which holds or does not; its verdict is the count. Nothing here
is worded by the outcome: the same code would say "holds" of other numbers.

    holds               in every case
    holds in k of n     in some
    does not hold       in none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voilattice.constraints import perfect_ordering
from voilattice.costs import FeatureCosts, set_costs
from voilattice.lattice import Lattice
from voilattice.lattice_values import value_lattice
from voilattice.paper.experiment import SEEDS, Point, priced_problem
from voilattice.paper.published import TABLE_1
from voilattice.paper.summary import Curves, curves_of, table_3
from voilattice.problem import Problem
from voilattice.ties import TOLERANCE

__all__ = ["Case", "Claim", "measured_claims"]

IMBALANCED = ("diabetes", "hepatitis", "thyroid")  # as Section 4.2 names them


@dataclass(frozen=True, slots=True)
class Case:
    """One place where a claim holds or does not, with what was found there."""

    where: str
    found: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, and its cases."""

    text: str
    place: str  # in the paper
    measure: str  # what makes a case hold
    cases: tuple[Case, ...]

    @property
    def n_holding(self) -> int:
        return sum(case.holds for case in self.cases)

    @property
    def verdict(self) -> str:
        if not self.cases:
            return "not measured"
        if self.n_holding == len(self.cases):
            return "holds"
        if self.n_holding == 0:
            return "does not hold"
        return f"holds in {self.n_holding} of {len(self.cases)}"


def measured_claims(problems: Mapping[str, Problem], points: Sequence[Point]) -> list[Claim]:
    """Return the paper's claims, measured on the problems and points at hand."""
    curves = curves_of(points)
    # "Never" means never: not in the mean over seeds, but with each seed.
    each = curves_of(points, average=False)
    return [
        Claim(
            "The number of irreducible subsets is substantially fewer than all possible subsets.",
            "Section 4.1, Table 1",
            "our lattice leaves out at least the share of subsets that Table 1 prints",
            tuple(_reductions(problems)),
        ),
        Claim(
            "A perfect ordering was possible in four of the five data sets.",
            "Section 3.3.1",
            "a perfect ordering exists for our network",
            tuple(_orderings(problems)),
        ),
        Claim(
            "Most of the features were assigned the same cost.",
            "Section 4.2",
            "the most frequent own price belongs to more than half of the features",
            tuple(_equal_prices(problems)),
        ),
        Claim(
            "Greedy often stops prematurely, performing even worse than Markov Blanket.",
            "Section 4.2",
            "greedy costs more than markov-blanket somewhere along the sweep",
            tuple(_panels(curves, _below_blanket)),
        ),
        Claim(
            "Greedy-LA never performs worse than any other strategy under any setting.",
            "Section 4.2",
            "at no point does none, markov-blanket or greedy cost less than greedy-la",
            tuple(_panels(each, _never_worse)),
        ),
        Claim(
            "Greedy-LA never loses compared to the Markov Blanket policy.",
            "Section 4.2, Table 3",
            "at no point does markov-blanket cost less than greedy-la",
            tuple(_panels(each, lambda c: _loses(c, ("markov-blanket",)))),
        ),
        Claim(
            "Greedy-LA wins over Greedy for most of the cases, and it never loses.",
            "Section 4.2, Table 3",
            "the mean savings of greedy-la in an interval of Table 3 are not below greedy's",
            tuple(_intervals(curves)),
        ),
        Claim(
            "On imbalanced classes the strategies start acquiring earlier for asymmetric costs.",
            "Section 4.2",
            "the EMC at which the first set pays is lower for asymmetric than for symmetric costs",
            tuple(_starts_earlier(problems)),
        ),
        Claim(
            "The slope of the savings is much higher for the asymmetric case.",
            "Section 4.2",
            "the savings at the highest EMC are larger for asymmetric than for symmetric costs",
            tuple(_pairs(curves, _saves_faster, IMBALANCED, ("greedy", "greedy-la"))),
        ),
        Claim(
            "For Diabetes, Greedy performs worse when the misclassification costs are symmetric.",
            "Section 4.2, Figures 5(a) and 5(c)",
            "greedy's mean loss to greedy-la is larger for symmetric than for asymmetric costs",
            tuple(_pairs(curves, _loses_more_if_symmetric, ("diabetes",), ("greedy",))),
        ),
        Claim(
            "For Hepatitis, Greedy performs worse when they are asymmetric.",
            "Section 4.2, Figures 7(b) and 7(d)",
            "greedy's mean loss to greedy-la is larger for asymmetric than for symmetric costs",
            tuple(_pairs(curves, _loses_more_if_asymmetric, ("hepatitis",), ("greedy",))),
        ),
        Claim(
            "Greedy is sometimes erratic: it hits a local minimum, gets out, and hits one again.",
            "Section 4.2, Figures 6 and 8(d)",
            "greedy's loss to greedy-la rises, falls and rises again, by 1 % of the EMC each time",
            tuple(_panels([c for c in curves if _is_called_erratic(c)], _erratic)),
        ),
        Claim(
            "For Thyroid with real and symmetric costs, Greedy starts only above an EMC of 600.",
            "Section 4.2, Figure 8(a)",
            "no feature pays up to 600",
            tuple(_thyroid_starts(problems, "real", ("greedy",), 600)),
        ),
        Claim(
            "For Thyroid with synthetic and symmetric costs, nothing is ever acquired.",
            "Section 4.2, Figure 8(c)",
            "no feature (greedy) and no set (greedy-la) pays up to 4000",
            tuple(_thyroid_starts(problems, "synthetic", ("greedy", "greedy-la"), 4000)),
        ),
    ]


def _reductions(problems: Mapping[str, Problem]) -> Iterator[Case]:
    for name, problem in problems.items():
        n, printed = len(Lattice(problem)), TABLE_1[name]
        share = 1 - n / 2 ** len(problem.features)
        yield Case(
            name,
            f"{n:,} sets, {share:.0%} left out (paper: {printed.n_nodes:,}, "
            f"{printed.reduction:.0%})",
            round(share, 2) >= round(printed.reduction, 2),
        )


def _orderings(problems: Mapping[str, Problem]) -> Iterator[Case]:
    for name, problem in problems.items():
        ordering = perfect_ordering(problem)
        waiting = ", ".join(ordering.conflict or ())
        found = f"{waiting} wait for each other" if waiting else "exists"
        yield Case(name, found, ordering.features is not None)


def _equal_prices(problems: Mapping[str, Problem]) -> Iterator[Case]:
    for name, problem in problems.items():
        assert isinstance(problem.costs, FeatureCosts)
        (price, count), *_ = Counter(problem.costs.prices.values()).most_common()
        n = len(problem.features)
        yield Case(name, f"{count} of {n} cost {price:g}", 2 * count > n)


def _panels(
    curves: Sequence[Curves], judge: Callable[[Curves], tuple[str, bool]]
) -> Iterator[Case]:
    for panel in curves:
        found, holds = judge(panel)
        yield Case(f"{panel.name}, {panel.scenario}, {panel.kind}", found, holds)


def _below_blanket(panel: Curves) -> tuple[str, bool]:
    worse = panel.is_worse("greedy", "markov-blanket")
    return f"at {worse.sum()} of {len(worse)} points", bool(worse.any())


def _never_worse(panel: Curves) -> tuple[str, bool]:
    return _loses(panel, ("none", "markov-blanket", "greedy"))


def _loses(panel: Curves, others: Sequence[str]) -> tuple[str, bool]:
    worse = np.any([panel.is_worse("greedy-la", other) for other in others], axis=0)
    if not worse.any():
        return f"at none of {len(worse)} points", True
    best = np.min([panel.total_cost[other] for other in others], axis=0)
    most = float((panel.total_cost["greedy-la"] - best)[worse].max())
    at = panel.expected[worse]
    return f"worse at {worse.sum()} of {len(worse)} points, by up to {most:.2f}, " + (
        f"EMC {at[0]:g} to {at[-1]:g}"
    ), False


def _intervals(curves: Sequence[Curves]) -> Iterator[Case]:
    for panel in curves:
        pairs = zip(table_3(panel, "greedy"), table_3(panel, "greedy-la"), strict=True)
        for k, (greedy, ahead) in enumerate(pairs):
            yield Case(
                f"{panel.name}, {panel.costs}, {panel.kind}, interval {k + 1}",
                f"greedy {greedy:.2f}, greedy-la {ahead:.2f}",
                ahead >= greedy - 1e-6,
            )


def _pairs(
    curves: Sequence[Curves],
    judge: Callable[[Curves, Curves, str], tuple[str, bool]],
    names: Sequence[str],
    policies: Sequence[str],
) -> Iterator[Case]:
    """Compare the symmetric with the asymmetric panel of the same data set and feature costs."""
    panels = {(panel.name, panel.costs, panel.kind): panel for panel in curves}
    for (name, costs, kind), symmetric in panels.items():
        if kind == "symmetric" and name in names:
            for policy in policies:
                found, holds = judge(symmetric, panels[name, costs, "asymmetric"], policy)
                yield Case(f"{name}, {costs}, {policy}", found, holds)


def _starts_earlier(problems: Mapping[str, Problem]) -> Iterator[Case]:
    for name in IMBALANCED:
        if name in problems:
            late, early = (_starts(problems[name], kind) for kind in ("symmetric", "asymmetric"))
            for (costs, policy), start in late.items():
                found = f"symmetric {_at(start)}, asymmetric {_at(early[costs, policy])}"
                yield Case(f"{name}, {costs}, {policy}", found, early[costs, policy] < start)


def _starts(problem: Problem, kind: str) -> dict[tuple[str, str], float]:
    """Return the a-priori EMC from which greedy and greedy-la acquire something.

    A set pays once EMC * EVI at unit stakes exceeds its cost. With synthetic costs: the mean.
    """
    values = value_lattice(problem.with_expected(kind, 1.0))
    rows = values.lattice.rows
    worth = np.where(values.evi > TOLERANCE, values.evi, np.nan)
    single = np.array([len(s) == 1 for s in values.lattice])
    found: dict[tuple[str, str], float] = {}
    for costs, seeds in (("real", (None,)), ("synthetic", SEEDS)):
        starts = []
        for seed in seeds:
            priced = priced_problem(problem, seed)
            pays = set_costs(priced.costs, priced.features, rows, {}) / worth
            starts.append([np.nanmin(np.append(p, np.inf)) for p in (pays[single], pays)])
        means = np.mean(starts, axis=0)
        found[costs, "greedy"], found[costs, "greedy-la"] = float(means[0]), float(means[1])
    return found


def _at(start: float) -> str:
    return f"from {start:.0f}" if np.isfinite(start) else "never"


def _saves_faster(symmetric: Curves, asymmetric: Curves, policy: str) -> tuple[str, bool]:
    slow, fast = symmetric.savings(policy)[-1], asymmetric.savings(policy)[-1]
    return f"symmetric {slow:.1f}, asymmetric {fast:.1f}", bool(fast > slow)


def _loses_more_if_symmetric(
    symmetric: Curves, asymmetric: Curves, policy: str
) -> tuple[str, bool]:
    first, second = _mean_loss(symmetric, policy), _mean_loss(asymmetric, policy)
    return f"symmetric {first:.2f}, asymmetric {second:.2f}", first > second


def _loses_more_if_asymmetric(
    symmetric: Curves, asymmetric: Curves, policy: str
) -> tuple[str, bool]:
    first, second = _mean_loss(symmetric, policy), _mean_loss(asymmetric, policy)
    return f"symmetric {first:.2f}, asymmetric {second:.2f}", second > first


def _mean_loss(panel: Curves, policy: str) -> float:
    return float(panel.savings("greedy-la", policy).mean())


def _is_called_erratic(panel: Curves) -> bool:
    return panel.name == "heart" or (
        (panel.name, panel.costs, panel.kind) == ("thyroid", "synthetic", "asymmetric")
    )


def _erratic(panel: Curves) -> tuple[str, bool]:
    loss = panel.savings("greedy-la", "greedy")
    turns = _turns(loss.tolist(), (0.01 * panel.expected).tolist())
    return f"{turns} turns, loss up to {loss.max():.1f}", turns >= 2


def _turns(amounts: Sequence[float], least: Sequence[float]) -> int:
    """Return how often a curve turns, by at least that much each time, after its first rise."""
    turns, rising, extreme = 0, False, amounts[0]
    for amount, step in zip(amounts, least, strict=True):
        if rising:
            extreme = max(extreme, amount)
            turned = amount < extreme - step
        else:
            extreme = min(extreme, amount)
            turned = amount > extreme + step
        if turned:
            turns, rising, extreme = turns + 1, not rising, amount
    return max(turns - 1, 0)  # the first rise is no turn


def _thyroid_starts(
    problems: Mapping[str, Problem], costs: str, policies: Sequence[str], until: float
) -> Iterator[Case]:
    if "thyroid" in problems:
        starts = _starts(problems["thyroid"], "symmetric")
        for policy in policies:
            start = starts[costs, policy]
            yield Case(f"thyroid, {costs}, symmetric, {policy}", _at(start), start > until)
