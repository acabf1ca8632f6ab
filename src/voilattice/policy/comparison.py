"""Policies side by side: what each costs and saves, at one point or along a sweep of stakes.

A sweep varies the a-priori EMC, the expected misclassification cost of deciding at once, as in
Figures 4 to 8 of the paper. Points whose stakes differ only in scale share their valuations
(`policy.sweep`), so processes work on parts of a sweep and not on single points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voilattice.budgets import memory_budget, memory_limit
from voilattice.errors import InputError
from voilattice.html import html_table, paragraph
from voilattice.model.problem import Problem, check_problem
from voilattice.policy.policy import Certificate
from voilattice.policy.solvers import TIME_LIMIT, Limits, Solver, policy_names, solver_of
from voilattice.policy.sweep import Sweep
from voilattice.valuation.valuation import emc
from voilattice.wording import count_noun, format_amount

__all__ = ["AS_GIVEN", "Comparison", "ComparisonRow", "compare"]

AS_GIVEN = "given"  # the kind of stakes that are the problem's own


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """What one policy costs at one point of a sweep."""

    kind: str  # of the misclassification costs; "given": the problem's own
    expected: float  # the a-priori expected misclassification cost
    policy: str
    expected_total_cost: float
    savings: float  # over deciding at once
    certificate: Certificate

    @property
    def exact(self) -> bool:
        """Whether the policy is what its name promises."""
        return self.certificate.exact


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Sequence[ComparisonRow]):
    """What policies cost, point by point."""

    title: str
    rows: tuple[ComparisonRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        points = len({(row.kind, row.expected) for row in self.rows})
        policies = len({row.policy for row in self.rows})
        return (
            f"<Comparison {self.title!r}: {count_noun(policies, 'policy')} at "
            f"{count_noun(points, 'point')}>"
        )

    def __str__(self) -> str:
        lines = [
            f"{row.kind:<12}{format_amount(row.expected):>12}  {row.policy:<18}"
            f"{format_amount(row.expected_total_cost):>14}{'' if row.exact else '  not proved'}"
            for row in self.rows
        ]
        heading = f"{'stakes':<12}{'prior EMC':>12}  {'policy':<18}{'total cost':>14}"
        return "\n".join([heading, *lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                row.kind,
                row.policy,
                format_amount(row.expected),
                format_amount(row.expected_total_cost),
                format_amount(row.savings),
                "" if row.exact else "not proved",
            )
            for row in self.rows
        ]
        heading = ("stakes", "policy", "prior EMC", "expected total cost", "savings", "")
        return paragraph(self.title, strong=True) + html_table(heading, rows, n_text=2)


def compare(
    problem: Problem,
    expected: Sequence[float] | None = None,
    *,
    kinds: Sequence[str] = ("symmetric", "asymmetric"),
    policies: Sequence[str] | None = None,
    evidence: Mapping[str, str] | None = None,
    n_jobs: int = -1,
    time_limit: float | None = TIME_LIMIT,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Return what each policy costs, at the problem's own stakes or along a sweep of stakes.

    Parameters
    ----------
    expected
        The a-priori expected misclassification costs of the sweep; None: the problem's own costs.
    policies
        Names of policies; by default all registered policies.
    n_jobs
        How many processes joblib may use; -1: one for each core. The results do not depend on it.
    time_limit
        Seconds at each point, if the optimum has to be searched.

    >>> import voilattice
    >>> figure1 = voilattice.load_problem("figure1")
    >>> for row in voilattice.compare(figure1, policies=["none", "greedy", "optimal"]):
    ...     print(row.policy, round(row.expected_total_cost, 2))
    none 17.6
    greedy 17.6
    optimal 17.6
    """
    check_problem(problem)
    names = policy_names() if policies is None else policies
    # Solvers, not names, travel to other processes: what is registered here is not known there.
    solvers = tuple(solver_of(name) for name in names)
    limits = Limits(time_limit=time_limit)
    if n_jobs == 0:
        raise InputError("must be a number of processes, or -1 for one per core, got 0", "n_jobs")
    if expected is None:
        here = problem.with_evidence(evidence)
        return Comparison(problem.title, tuple(_point(here, AS_GIVEN, solvers, limits, None)))
    return Comparison(
        problem.title,
        tuple(_swept(problem, expected, kinds, solvers, evidence, n_jobs, limits, progress)),
    )


def _swept(
    problem: Problem,
    expected: Sequence[float],
    kinds: Sequence[str],
    solvers: Sequence[Solver],
    evidence: Mapping[str, str] | None,
    n_jobs: int,
    limits: Limits,
    progress: Callable[[int, int], None] | None,
) -> Iterator[ComparisonRow]:
    from joblib import Parallel, cpu_count, delayed

    sweeps = [(kind, [float(x) for x in expected]) for kind in kinds]
    for kind, points in sweeps:
        for x in points:
            problem.with_expected(kind, x)
    # The points of a part share values (`Sweep`), so use as few parts as keep all workers busy.
    workers = cpu_count() if n_jobs < 0 else n_jobs
    size = max(1, -(-len(expected) // -(-workers // max(len(kinds), 1))))
    parts = [
        (kind, points[k : k + size]) for kind, points in sweeps for k in range(0, len(points), size)
    ]
    results = Parallel(n_jobs=min(n_jobs, len(parts) or 1), return_as="generator")(
        delayed(_compare_part)(problem, kind, points, solvers, evidence, limits, memory_budget())
        for kind, points in parts
    )
    done = 0
    for (_, points), found in zip(parts, results, strict=True):
        yield from found
        done += len(points)
        if progress is not None:
            progress(done, len(kinds) * len(expected))


def _compare_part(
    problem: Problem,
    kind: str,
    points: Sequence[float],
    solvers: Sequence[Solver],
    evidence: Mapping[str, str] | None,
    limits: Limits,
    memory_bytes: int,
) -> list[ComparisonRow]:
    sweep = Sweep(problem, kind)
    with memory_limit(memory_bytes):  # a new process does not inherit the budget
        return [
            row
            for x in points
            for staked in [problem.with_expected(kind, x).with_evidence(evidence)]
            for row in _point(staked, kind, solvers, limits, sweep, x)
        ]


def _point(
    problem: Problem,
    kind: str,
    solvers: Sequence[Solver],
    limits: Limits,
    sweep: Sweep | None,
    expected: float | None = None,
) -> Iterator[ComparisonRow]:
    """Return what each policy costs at one point."""
    at_once = emc(problem)
    for solver in solvers:
        found = solver.cost(problem, limits, sweep=sweep)
        cost = found.expected_total_cost
        at = at_once if expected is None else expected
        yield ComparisonRow(kind, at, solver.name, cost, at_once - cost, found.certificate)
