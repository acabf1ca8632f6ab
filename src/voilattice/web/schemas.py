"""What the server answers beside the results of `voilattice.documents`, or adds to them.

Pydantic reads the declarations, and from them come the OpenAPI document and whatever is generated
from it. Workers write the answers as they are, so nothing is converted on the way; the tests hold
every answer against its declaration.
"""

from __future__ import annotations

from typing import Literal

from voilattice.documents import Document, key, policies, problems, sets, tables
from voilattice.documents.consultations import Advice
from voilattice.drawing.flow import flow_svg
from voilattice.drawing.policy import policy_tree
from voilattice.web.refusals import ProblemDetails

__all__ = [
    "Applied",
    "Batch",
    "CaseRefused",
    "Comparison",
    "Health",
    "JobStatus",
    "Lattice",
    "Policy",
    "ProblemSummary",
    "Readiness",
    "Report",
    "Threshold",
]


class Health(Document):
    """Whether the server works, and how much it has to do."""

    status: Literal["ok"] = key("The server answers.")
    version: str = key("Of voilattice.")
    workers: int = key("How many workers the server should have.")
    busy: int = key("How many of them are at work.")


class Readiness(Document):
    """All workers run and all kernels are compiled."""

    status: Literal["ready"] = key("The server answers at its usual speed.")
    workers: int = key("How many workers run.")


class _Named(Document):
    name: str = key("What requests call it.")


class ProblemSummary(problems.Problem, _Named):
    """Everything in a problem except its network."""


class Lattice(sets.Lattice):
    """The lattice of irreducible sets."""

    best: sets.SetEntry | None = key("The set of highest benefit; null: not valued.")
    rows: list[sets.LatticeLevel] = key("The sets by size, the best of each size named.")
    svg: str | None = key("A drawing, if there are not too many sets.")


class CaseRefused(Document):
    """A case of a batch that has no answer, and why."""

    error: ProblemDetails = key("Why this case has no answer.")


class Batch(Document):
    """Advice for many cases, in their order."""

    answers: list[Advice | CaseRefused] = key("Advice for each case, or why there is none.")


class Applied(tables.Applied):
    """What a policy bought, decided and paid in a table of cases."""

    cases: list[tables.AppliedCase] = key("What happened in each row.", tables.applied_cases)


class Policy(policies.Policy):
    """A policy: what it costs, and its tree."""

    tree: str = key("HTML of nested details elements.", policy_tree)
    flow: str = key("SVG: width is probability, colour is decision.", flow_svg)


class Comparison(Document):
    """All policies along a sweep."""

    rows: list[policies.ComparisonRow] = key("What each policy costs at each point.")
    svg: str = key("A drawing of what each policy saves.")


class Threshold(policies.Threshold):
    """From which price, and from which stakes, a feature is used, and where the advice changes."""

    advice: policies.AdviceThresholds = key("Where the first step changes.")


class Report(Document):
    """A report to print."""

    html: str = key("A page to print.")


Result = Advice | Policy | Comparison | Threshold | Report


class JobStatus(Document):
    """How far a job has come, with its result when it is done."""

    job: str = key("The name to ask for the job by.", "id")
    state: Literal["queued", "running", "done", "failed", "cancelled"] = key(
        "What has become of it."
    )
    progress: str = key("How far it is, in words.")
    fraction: float | None = key("Which part is done; null: not known.", ge=0, le=1)
    seconds: float = key("Since it was asked for, or until it ended.")
    error: ProblemDetails | None = key("Why it failed; null: it did not.")
    result: Result | None = key("The answer; null: there is none yet, or it failed.")
