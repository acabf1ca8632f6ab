"""What a worker does: the functions of the command line, on problems that it keeps.

A worker is told a problem once, and keeps it, with its variants for other prices and stakes and
without some features: what was solved for one request is there for the next. A task gets a
`ServedCase` (a problem, and what is known of a case), tells how far it is, and returns a document.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

from voilattice import time_plan
from voilattice.budgets import Deadline, memory_limit
from voilattice.cases.application import apply_policy
from voilattice.consultation.advice import advise, step_of_tree
from voilattice.consultation.first_steps import find_first_steps
from voilattice.consultation.standing import narrow_problem, standing_at, start_from
from voilattice.documents import Json, consultations, policies, sets
from voilattice.drawing.lattice import lattice_svg
from voilattice.drawing.network import network_svg
from voilattice.drawing.plots import savings_svg
from voilattice.drawing.report import report_html
from voilattice.errors import InputError, Remedy, TooLargeError, VoilatticeError, located
from voilattice.files.problems import load_problem
from voilattice.lattice.explanations import explain
from voilattice.lattice.lattice import Lattice
from voilattice.model.problem import Evidence, Problem
from voilattice.model.stakes import KINDS
from voilattice.model.what_if import change_problem
from voilattice.policy.comparison import compare
from voilattice.policy.solvers import build_policy, describe_search
from voilattice.valuation.best_set import best_set
from voilattice.valuation.lattice_values import value_lattice
from voilattice.valuation.valuation import value
from voilattice.web import schemas
from voilattice.web.cases import read_case
from voilattice.web.refusals import Broken, refusal_of
from voilattice.web.uploads import read_upload
from voilattice.web.workers import MAX_VARIANTS, Outcome, Request, Tell
from voilattice.what_if.advice_threshold import AdviceThreshold, find_advice_threshold
from voilattice.what_if.threshold import find_threshold

__all__ = ["TASKS", "ServedCase", "do_tasks", "keep"]

MAX_PROBLEMS = 32
MAX_LATTICE = 100_000
MAX_VALUED = 20_000
MAX_DRAWN = 100  # sets of a lattice
MAX_DRAWN_STATES = 200_000
TOP_SETS = 10


_problems: OrderedDict[str, Problem] = OrderedDict()


def keep(name: str, problem: Problem) -> None:
    """Keep a problem under a name."""
    _problems[name] = problem
    if len(_problems) > MAX_PROBLEMS:
        _problems.popitem(last=False)
    _variant.cache_clear()
    _narrowed.cache_clear()


@lru_cache(maxsize=MAX_VARIANTS)
def _variant(name: str, changes: str) -> Problem:
    """Return a kept problem with other numbers."""
    return change_problem(_problems[name], **json.loads(changes))


@lru_cache(maxsize=MAX_VARIANTS)
def _narrowed(
    name: str,
    changes: str,
    given: tuple[tuple[str, str], ...],
    unavailable: tuple[str, ...],
    known: tuple[tuple[str, str], ...],
) -> Problem:
    """Return the same with what is given for free, and without what cannot be acquired."""
    return narrow_problem(_variant(name, changes), dict(known), unavailable, dict(given))


@dataclass(frozen=True, slots=True)
class ServedCase:
    """A problem that a worker keeps, and what is known of a case."""

    name: str
    changes: str = "{}"
    evidence: Mapping[str, str] | None = None
    given: Mapping[str, str] | None = None
    unavailable: Sequence[str] = ()
    together: Sequence[Sequence[str]] = ()

    @property
    def problem(self) -> Problem:
        """The problem with its changes."""
        return _variant(self.name, self.changes)

    @property
    def narrowed(self) -> Problem:
        """The same with what is given for free, and without what cannot be acquired."""
        # Evidence matters if something is unavailable: what is known stays, though it needs that.
        known = tuple((self.evidence or {}).items()) if self.unavailable else ()
        given = tuple((self.given or {}).items())
        return _narrowed(self.name, self.changes, given, tuple(self.unavailable), known)

    @property
    def start(self) -> tuple[Problem, Evidence | None]:
        """From where the case goes on: a problem, and the evidence beyond that of the problem."""
        if not self.problem.limits:
            return self.narrowed, self.evidence  # this problem is kept, with what was solved for it
        # What was acquired has used up some of the limits.
        start = start_from(self.problem, **self.arguments)
        return start.problem, start.acquired

    @property
    def arguments(self) -> dict[str, Any]:
        """The case, as `advise` takes it."""
        return {
            "evidence": self.evidence,
            "given": self.given,
            "unavailable": self.unavailable,
            "together": self.together,
        }


def _describe(case: ServedCase, tell: Tell) -> Json:
    return schemas.ProblemSummary.json_of(case.problem, name=case.name)


def _advise(case: ServedCase, tell: Tell, policy: str, seconds: float) -> Json:
    advice = advise(case.problem, policy, **case.arguments, time_limit=seconds)
    return consultations.Advice.json_of(advice)


def _batch(
    case: ServedCase, tell: Tell, policy: str, cases: Sequence[Mapping[str, Any]], seconds: float
) -> Json:
    deadline, answers = Deadline(seconds), list[Json]()
    for arguments in cases:
        try:
            if deadline.is_over:
                raise TooLargeError("there was no time left", remedies=(Remedy("ask for less"),))
            known = read_case(case.problem, arguments)
            advice = advise(case.problem, policy, **known, time_limit=deadline)
            answers.append(consultations.Advice.json_of(advice))
        except VoilatticeError as error:
            answers.append(schemas.CaseRefused.json_of(None, error=refusal_of(error)))
    return schemas.Batch.json_of(None, answers=answers)


def _apply(
    case: ServedCase,
    tell: Tell,
    policy: str,
    rows: Sequence[Mapping[str, Any]],
    seconds: float,
    strict: bool = True,
) -> Json:
    problem = case.problem
    for number, row in enumerate(rows, 1):
        with located(f"row {number}"):  # as in the table that it becomes
            for name in row:
                if name != problem.target:
                    problem.check_feature(name)
    names = list(problem.features)
    if any(problem.target in row for row in rows):
        names.append(problem.target)
    table = {name: [row.get(name) for row in rows] for name in names}
    applied = apply_policy(policy, table, problem=problem, strict=strict, time_limit=seconds)
    return schemas.Applied.json_of(applied)


def _posterior(case: ServedCase, tell: Tell) -> Json:
    return consultations.Standing.json_of(standing_at(case.problem, **case.arguments))


def _first_steps(
    case: ServedCase, tell: Tell, policy: str, features: Sequence[str] | None, seconds: float
) -> Json:
    steps = find_first_steps(case.problem, **case.arguments, features=features, time_limit=seconds)
    return consultations.FirstSteps.json_of(steps)


def _value(case: ServedCase, tell: Tell, features: Sequence[str]) -> Json:
    problem, evidence = case.start
    return sets.SetValue.json_of(value(problem, features, evidence))


def _best(case: ServedCase, tell: Tell, seconds: float) -> Json:
    problem, evidence = case.start
    return sets.BestSet.json_of(best_set(problem, evidence, time_limit=seconds))


def _explain(case: ServedCase, tell: Tell, features: Sequence[str]) -> Json:
    problem, evidence = case.start
    return sets.Explanation.json_of(explain(problem, features, evidence or {}))


def _lattice(case: ServedCase, tell: Tell, containing: Sequence[str], top: int) -> Json:
    problem, evidence = case.start
    lattice = Lattice(problem, evidence, max_nodes=MAX_LATTICE)
    values, found = None, dict[str, Any](best=None, sets=None, feasible=None)
    if len(lattice) <= MAX_VALUED:
        values = value_lattice(problem, evidence, lattice=lattice)
        best = values.top(TOP_SETS)
        found = {"best": best[0], "values": best}
    return schemas.Lattice.json_of(
        lattice, **found, rows=sets.lattice_levels(lattice, values, top=top, containing=containing),
        svg=lattice_svg(lattice, values) if len(lattice) <= MAX_DRAWN else None,
    )  # fmt: skip


def _policy(case: ServedCase, tell: Tell, policy: str, seconds: float) -> Json:
    problem, evidence = case.start
    built = build_policy(
        problem, policy, evidence, time_limit=seconds, max_states=MAX_DRAWN_STATES,
        progress=lambda n, interval: tell(describe_search(n, interval), None),
    )  # fmt: skip
    return schemas.Policy.json_of(built)


def _report(case: ServedCase, tell: Tell, policy: str, seconds: float) -> Json:
    deadline = Deadline(seconds)
    problem, evidence = case.start
    problem = problem.with_evidence(evidence)
    built = build_policy(
        problem, policy, time_limit=deadline.share(time_plan.FIRST_PART),
        max_states=MAX_DRAWN_STATES,
        progress=lambda n, interval: tell(describe_search(n, interval), None),
    )  # fmt: skip
    steps = None
    if policy == "optimal":  # what another beginning would cost is known for the optimum alone
        steps = find_first_steps(problem, advised=step_of_tree(built), time_limit=deadline)
    return schemas.Report.json_of(None, html=report_html(built, steps))


def _network(case: ServedCase, tell: Tell) -> str:
    return network_svg(case.problem)


def _compare(
    case: ServedCase,
    tell: Tell,
    points: Sequence[float],
    seconds: float,
    kinds: Sequence[str] = KINDS,
) -> Json:
    problem, evidence = case.start
    rows = compare(
        problem, points, kinds=list(dict.fromkeys(kinds)), evidence=evidence, n_jobs=1,
        time_limit=seconds,
        progress=lambda done, total: tell(f"{done} of {total} points", done / total),
    )  # fmt: skip
    return schemas.Comparison.json_of(
        None,
        rows=policies.comparison_rows(rows),
        svg=savings_svg(rows, problem.title, problem.currency),
    )


def _threshold(case: ServedCase, tell: Tell, feature: str, seconds: float) -> Json:
    deadline = Deadline(seconds)
    problem, evidence = case.start

    def note(n: int, along: str) -> None:
        tell(f"{n} values along {along}", None)

    use = find_threshold(
        problem, feature, evidence,
        time_limit=deadline.share(time_plan.FIRST_PART), progress=note,
    )  # fmt: skip
    changes = {
        along: _advice_threshold(case, deadline.share(share), note, changed)
        for along, share, changed in (("price", 0.5, feature), ("stakes", 1.0, None))
    }
    texts = [str(use), *(change.text for change in changes.values() if change)]
    advice = policies.AdviceThresholds.json_of(None, **changes)
    return schemas.Threshold.json_of(use, advice=advice, text="\n".join(texts))


def _advice_threshold(
    case: ServedCase, deadline: Deadline, note: Callable[[int, str], None], feature: str | None
) -> AdviceThreshold | None:
    """Return where the first step changes; None: the problem is too large to tell."""
    try:
        return find_advice_threshold(
            case.problem, **case.arguments, feature=feature, time_limit=deadline, progress=note
        )
    except (InputError, TooLargeError):
        return None


TASKS: dict[str, Callable[..., Json | str]] = {
    "describe": _describe,
    "advise": _advise,
    "batch": _batch,
    "apply": _apply,
    "posterior": _posterior,
    "value": _value,
    "best": _best,
    "explain": _explain,
    "lattice": _lattice,
    "first_steps": _first_steps,
    "threshold": _threshold,
    "policy": _policy,
    "compare": _compare,
    "report": _report,
    "network": _network,
}


def do_tasks(pipe: Connection, memory_bytes: int) -> None:
    """Do tasks until the other end is closed."""
    with memory_limit(memory_bytes), suppress(EOFError, OSError):  # the server has ended
        while True:
            asked: Request = pipe.recv()
            pipe.send(_answer(asked, lambda *told: pipe.send(("progress", told))))


def _answer(asked: Request, tell: Tell) -> tuple[str, Any]:
    """Return what became of a request, in the words of `Worker.exchange`."""
    if asked.problem is not None:
        keep(asked.name, asked.problem)
    elif asked.name and asked.name not in _problems:
        return "unknown", None
    elif asked.name:
        _problems.move_to_end(asked.name)
    try:
        return "done", _do(asked, tell)
    except VoilatticeError as error:
        return "error", error
    except (MemoryError, RecursionError):
        remedies = (Remedy("ask for fewer features"), Remedy("give more evidence"))
        return "error", TooLargeError("out of memory", remedies=remedies)
    except Exception as error:
        return "error", Broken.by(error)


def _do(asked: Request, tell: Tell) -> Outcome:
    if asked.task == "warm":
        _warm_up()
        return Outcome(b"{}")
    if asked.task == "upload":
        problem = read_upload(asked.options["files"])
        summary = schemas.ProblemSummary.json_of(problem, name=asked.options["name"])
        return Outcome(_encode(summary), problem=problem)
    options = dict(asked.options)
    case = ServedCase(asked.name, asked.changes, **options.pop("case", {}))
    document = TASKS[asked.task](case, tell, **options)
    if isinstance(document, str):
        return Outcome(_encode(document))
    parts = document.get("answers", [document])  # of a batch
    n_fallbacks = sum(part.get("fallback") is not None for part in parts)
    # At a limit, more time could make a better answer.
    is_complete = all(part.get("status", "ok") == "ok" and "error" not in part for part in parts)
    return Outcome(_encode(document), is_complete and not n_fallbacks, n_fallbacks)


def _encode(document: Json | str) -> bytes:
    if isinstance(document, str):
        return document.encode()
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def _warm_up() -> None:
    """Load the compiled kernels: the first question of a person should not wait for them."""
    heart = load_problem("builtin:heart")
    for policy in ("greedy", "optimal"):
        advise(heart, policy)
