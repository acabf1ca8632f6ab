"""Policies side by side: what each costs and saves, at one point or along a sweep.

A sweep goes over *variants* of a problem, such as other prices. A sweep of stakes varies the
a-priori EMC, the expected misclassification cost of deciding at once, as in Figures 4 to 8 of the
paper. Variants that differ only in prices and in the scale of their stakes share their valuations
(`policy.sweep`), so processes work on parts of a sweep and not on single points.

A time limit is for the whole comparison. The policies of rules come first, each with a part of the
time that is left, and what they leave is for the optimum. Every policy has a row: one that did not
finish says so, with what is known about its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from voilattice import time_plan
from voilattice.budgets import Deadline, TimeLimit
from voilattice.errors import InputError, TooLargeError
from voilattice.html import html_table, paragraph
from voilattice.model.problem import Evidence, Problem, check_problem
from voilattice.parallel import Workers, run_in_order
from voilattice.policy.interface import TIME_LIMIT, Cost, Limits, Solver, is_proving, is_quick
from voilattice.policy.policy import Certificate
from voilattice.policy.solvers import policy_names, solver_of
from voilattice.policy.sweep import Sweep
from voilattice.valuation.valuation import emc
from voilattice.wording import count_noun, format_amount, in_currency

__all__ = [
    "AS_GIVEN",
    "Comparison",
    "ComparisonRow",
    "Settings",
    "Variant",
    "compare",
    "compare_variants",
    "costs_above_best",
]

# What a policy that is not exact is called, by what ended the work.
_DOUBTS = {"ok": "not proved", "time": "not finished in time", "memory": "not all worked out"}


AS_GIVEN = "given"  # the kind of stakes that are the problem's own


# Places of the problem file, and the numbers that stand there in a variant.
Settings: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """One point of a sweep: a problem, and what sets it apart.

    Parameters
    ----------
    settings
        The numbers that were changed, by their places in the problem file.
    kind
        Of the misclassification costs; "given": the problem's own.
    expected
        The a-priori expected misclassification cost, if the sweep is over that.
    """

    problem: Problem
    settings: Settings = ()
    kind: str = AS_GIVEN
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """What one policy costs at one point of a sweep."""

    kind: str  # of the misclassification costs; "given": the problem's own
    expected: float  # the a-priori expected misclassification cost
    policy: str
    expected_total_cost: float | None  # None: not known
    savings: float | None  # over deciding at once
    certificate: Certificate
    at_least: float | None = None  # bounds on what the policy costs, where it is not known
    at_most: float | None = None
    settings: Settings = ()  # the numbers that were changed in the problem file
    first: frozenset[str] | None = None  # what it acquires first; empty: it decides; None: not told
    uses: bool | None = None  # whether it uses the feature that was asked about; None: not told

    @property
    def point(self) -> tuple[str, float, Settings]:
        """What is equal in all rows of one point of a sweep, and in no others."""
        return self.kind, self.expected, self.settings

    @property
    def exact(self) -> bool:
        """Whether the policy is what its name promises."""
        return self.certificate.exact

    @property
    def status(self) -> str:
        """``"ok"``, or the limit that stopped the work early: ``"time"`` or ``"memory"``."""
        return self.certificate.status

    @property
    def cost_text(self) -> str:
        """The cost as people read it: an amount, an interval, or a question mark."""
        if self.expected_total_cost is not None:
            return format_amount(self.expected_total_cost)
        if self.at_least is None or self.at_most is None:
            return "?"
        return f"{format_amount(self.at_least)} to {format_amount(self.at_most)}"

    @property
    def doubt(self) -> str:
        """What keeps the row from being exact, in a word or two."""
        return "" if self.exact else _DOUBTS[self.status]


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Sequence[ComparisonRow]):
    """What policies cost, point by point."""

    title: str
    rows: tuple[ComparisonRow, ...]
    currency: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        points = len({row.point for row in self.rows})
        policies = len({row.policy for row in self.rows})
        return (
            f"<Comparison {self.title!r}: {count_noun(policies, 'policy')} at "
            f"{count_noun(points, 'point')}>"
        )

    def __str__(self) -> str:
        lines = [
            f"{row.kind:<12}{format_amount(row.expected):>12}  {row.policy:<18}"
            f"{row.cost_text:>14}{'' if row.exact else f'  {row.doubt}'}"
            for row in self.rows
        ]
        heading = f"{'stakes':<12}{'prior EMC':>12}  {'policy':<18}{'total cost':>14}"
        heading += f"  in {self.currency}" if self.currency else ""
        return "\n".join([heading, *lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                row.kind,
                row.policy,
                format_amount(row.expected),
                row.cost_text,
                "" if row.savings is None else format_amount(row.savings),
                row.doubt,
            )
            for row in self.rows
        ]
        amounts = ("prior EMC", "expected total cost", "savings")
        heading = ("stakes", "policy", *(in_currency(name, self.currency) for name in amounts), "")
        return paragraph(self.title, strong=True) + html_table(heading, rows, n_text=2)


def costs_above_best(rows: Sequence[ComparisonRow]) -> list[float | None]:
    """Return how much more each row costs than the cheapest policy at its point; None: not known.

    >>> import voilattice
    >>> rows = compare(voilattice.load_problem("asia"), policies=["none", "greedy-la", "optimal"])
    >>> [round(above, 2) for above in costs_above_best(rows)]
    [47.54, 5.41, 0.0]
    """
    least: dict[tuple[str, float, Settings], float] = {}
    for row in rows:
        if row.expected_total_cost is not None:
            known = least.get(row.point, row.expected_total_cost)
            least[row.point] = min(known, row.expected_total_cost)
    return [
        None if row.expected_total_cost is None else row.expected_total_cost - least[row.point]
        for row in rows
    ]


def compare(
    problem: Problem,
    expected: Sequence[float] | None = None,
    *,
    kinds: Sequence[str] = ("symmetric", "asymmetric"),
    policies: Sequence[str] | None = None,
    evidence: Evidence | None = None,
    n_jobs: int = -1,
    dask: str | None = None,
    time_limit: TimeLimit | Literal["by points"] = "by points",
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Return what each policy costs, at the problem's own stakes or along a sweep of stakes.

    Parameters
    ----------
    expected
        The a-priori expected misclassification costs of the sweep; None: the problem's own costs.
    kinds
        Of the misclassification costs of the sweep: the scaled kinds, and "given" for the problem's
        own costs, multiplied.
    policies
        Names of policies; by default all registered policies.
    n_jobs
        How many processes of this machine work on a sweep; -1: one for each core. The results do
        not depend on it.
    dask
        The address of a Dask scheduler, whose workers take the place of these processes, or
        ``local:N`` (`voilattice.parallel`).
    time_limit
        Seconds for the whole comparison; None: no limit. A policy that is not finished then has a
        row with what is known. By default a minute for each point.
    progress
        Called with the number of rows done and of all rows, or in a sweep with numbers of points.

    >>> import voilattice
    >>> figure1 = voilattice.load_problem("figure1")
    >>> for row in voilattice.compare(figure1, policies=["none", "greedy", "optimal"]):
    ...     print(row.policy, round(row.expected_total_cost, 2))
    none 17.6
    greedy 17.6
    optimal 17.6
    """
    check_problem(problem)
    if expected is None:
        variants = [Variant(problem)]
    else:
        variants = [
            Variant(_staked(problem, kind, x), (), kind, float(x))
            for kind in kinds
            for x in expected
        ]
    return compare_variants(
        variants, policies=policies, evidence=evidence, n_jobs=n_jobs, dask=dask,
        time_limit=time_limit, progress=progress, title=problem.title,
    )  # fmt: skip


def _staked(problem: Problem, kind: str, expected: float) -> Problem:
    """Return the problem with costs of a kind that have this a-priori expected cost."""
    if kind != AS_GIVEN:
        return problem.with_expected(kind, expected)
    stake = float((problem.misclassification @ problem.prior).min())
    if stake <= 0:
        raise InputError(
            "the problem's own costs have no multiple to sweep: with nothing known, deciding "
            "costs nothing; take symmetric or asymmetric",
            "kinds",
        )
    return replace(problem, misclassification=problem.misclassification * (expected / stake))


def compare_variants(
    variants: Sequence[Variant],
    *,
    policies: Sequence[str] | None = None,
    evidence: Evidence | None = None,
    feature: str | None = None,
    n_jobs: int = -1,
    dask: str | None = None,
    time_limit: TimeLimit | Literal["by points"] = "by points",
    progress: Callable[[int, int], None] | None = None,
    title: str | None = None,
) -> Comparison:
    """Return what each policy costs for each variant of a problem.

    The parameters are those of `compare`. Where settings were changed, the row of the optimal
    policy also says what that policy acquires first.

    Parameters
    ----------
    variants
        `voilattice.files.variants.load_variants` makes them from a problem file.
    feature
        Say of the optimal policy whether it uses this feature.
    title
        By default that of the first variant.

    >>> from voilattice.files.variants import load_variants
    >>> variants = load_variants("asia", {"costs.xray": [0, 20, 40]})
    >>> for row in compare_variants(variants, policies=["optimal"], feature="xray", n_jobs=1):
    ...     print(dict(row.settings), round(row.expected_total_cost, 2), set(row.first), row.uses)
    {'costs.xray': 0} 54.46 {'xray'} True
    {'costs.xray': 20} 71.49 {'smoke'} True
    {'costs.xray': 40} 77.02 {'smoke'} True
    """
    names = policy_names() if policies is None else policies
    # Solvers, not names, travel to other processes: what is registered here is not known there.
    solvers = tuple(solver_of(name) for name in names)
    deadline = Deadline.of(TIME_LIMIT * len(variants) if time_limit == "by points" else time_limit)
    where = Workers.of(n_jobs, dask)
    known = [replace(v, problem=v.problem.with_evidence(evidence)) for v in variants]
    if feature is not None:
        for variant in known:
            variant.problem.check_acquirable([feature], variant.problem.evidence)
    if title is None:
        title = variants[0].problem.title if variants else ""
    currency = variants[0].problem.currency if variants else ""
    if len(known) == 1:
        rows = _point(known[0], solvers, deadline, None, None, feature, progress=progress)
    else:
        rows = list(_swept(known, solvers, feature, where, deadline, progress))
    return Comparison(title, tuple(rows), currency)


def _swept(
    variants: Sequence[Variant],
    solvers: Sequence[Solver],
    feature: str | None,
    where: Workers,
    deadline: Deadline,
    progress: Callable[[int, int], None] | None,
) -> Iterator[ComparisonRow]:
    # The points of a part share values (`Sweep`), so use as few parts as keep all workers busy.
    n_workers = where.count()
    kinds = list(dict.fromkeys(variant.kind for variant in variants))
    parts: list[list[Variant]] = []
    for kind in kinds:
        points = [variant for variant in variants if variant.kind == kind]
        size = max(1, -(-len(points) // -(-n_workers // len(kinds))))
        parts += [points[k : k + size] for k in range(0, len(points), size)]
    tasks = list(zip(parts, _deadlines(deadline, len(parts), n_workers), strict=True))
    done, shared = 0, (solvers, feature)
    with closing(run_in_order(_compare_part, tasks, where=where, shared=shared)) as results:
        for points, rows in zip(parts, results, strict=True):
            yield from rows
            done += len(points)
            if progress is not None:
                progress(done, len(variants))


def _deadlines(deadline: Deadline, n_parts: int, n_workers: int) -> list[Deadline]:
    """Return when each part must end, so that those that wait for a worker get time too."""
    seconds, n_rounds = deadline.seconds_left, -(-n_parts // n_workers)
    return [
        Deadline(None if seconds is None else seconds * (k // n_workers + 1) / n_rounds, deadline)
        for k in range(n_parts)
    ]


def _compare_part(
    shared: tuple[Sequence[Solver], str | None], task: tuple[Sequence[Variant], Deadline]
) -> list[ComparisonRow]:
    (solvers, feature), (variants, deadline) = shared, task
    sweep: Sweep | None = None
    without: Sweep | None = None  # as `sweep`, of the problem that lacks the feature
    rows: list[ComparisonRow] = []
    for done, variant in enumerate(variants):
        if sweep is None or not sweep.covers(variant.problem):
            kind = None if variant.kind == AS_GIVEN else variant.kind
            sweep = Sweep(variant.problem, kind)
            if feature is not None:
                without = Sweep(variant.problem.without({feature}))
        left = len(variants) - done
        part = deadline.share(max(1 / left, 2 / (left + 1) if done else time_plan.FIRST_POINT))
        rows += _point(variant, solvers, part, sweep, without, feature)
    return rows


def _point(
    variant: Variant,
    solvers: Sequence[Solver],
    deadline: Deadline,
    sweep: Sweep | None,
    without: Sweep | None,
    feature: str | None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[ComparisonRow]:
    """Return what each policy costs at one point, in the order of the solvers."""
    problem = variant.problem
    at_once = emc(problem)
    at = at_once if variant.expected is None else variant.expected
    # Rules are quick, and the optimum can use all the time there is: so rules come first.
    waiting = sorted(range(len(solvers)), key=lambda k: not is_quick(solvers[k]))
    weights = [1 if is_quick(s) else time_plan.SHARES_OF_SEARCH for s in solvers]
    rows: dict[int, ComparisonRow] = {}
    for done, k in enumerate(waiting):
        part = deadline.share(weights[k] / sum(weights[other] for other in waiting[done:]))
        solver, uses = solvers[k], None
        if is_proving(solver):
            lacking = None
            if feature is not None:
                half, other = (
                    Limits(time_limit=part.share(time_plan.WITHOUT_FEATURE)),
                    problem.without({feature}),
                )
                lacking = _cost(partial(solver.cost, sweep=without), other, half)
            ask = partial(solver.cost, sweep=sweep, with_first=bool(variant.settings))
            found = _cost(ask, problem, Limits(time_limit=part))
            uses = None if lacking is None else found.beats(lacking)
            found = _at_best(found, rows.values())
        else:
            found = _cost(partial(solver.cost, sweep=sweep), problem, Limits(time_limit=part))
        cost = found.expected_total_cost
        savings = None if cost is None else at_once - cost
        rows[k] = ComparisonRow(
            variant.kind, at, solver.name, cost, savings, found.certificate, found.at_least,
            found.at_most, variant.settings, found.first, uses,
        )  # fmt: skip
        if progress is not None:
            progress(done + 1, len(solvers))
    return [rows[k] for k in range(len(solvers))]


def _at_best(found: Cost, rows: Iterable[ComparisonRow]) -> Cost:
    """Return the cost of the best policy found so far, if the search found no better one."""
    costs = [
        (row.expected_total_cost, row.policy) for row in rows if row.expected_total_cost is not None
    ]
    mine = found.expected_total_cost
    if found.certificate.exact or mine is None or not costs or min(costs)[0] >= mine:
        return found
    cost, name = min(costs)
    note = f"The best policy found is {name}. {found.certificate.note}".strip()
    return replace(
        found, expected_total_cost=cost, certificate=replace(found.certificate, note=note)
    )


def _cost(cost: Callable[[Problem, Limits], Cost], problem: Problem, limits: Limits) -> Cost:
    """Return what a policy costs, or what stopped it."""
    try:
        return cost(problem, limits)
    except TooLargeError as error:
        return Cost(None, Certificate(None, False, "memory", f"{error.complaint}."))
