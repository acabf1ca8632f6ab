"""What the server answers: the documents of `voilattice.documents`, typed.

The keys are defined there, and described here for programs: from these models come the OpenAPI
document and whatever is generated from it. Workers write the answers as they are, so nothing is
converted on the way; the tests hold every document against its model.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from voilattice.web.problem_schemas import Answer, PathLimits, ProblemEntry, ProblemSummary
from voilattice.web.set_schemas import BestSet, Explanation, Lattice, SetEntry, SetValue

__all__ = [
    "Advice",
    "Applied",
    "Batch",
    "BestSet",
    "Comparison",
    "Explanation",
    "FirstSteps",
    "Health",
    "JobStatus",
    "Lattice",
    "Policy",
    "ProblemDetails",
    "ProblemEntry",
    "ProblemSummary",
    "Report",
    "SetValue",
    "Standing",
    "Threshold",
]

Status = Literal["ok", "time", "memory"]
Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class Health(Answer):
    """Whether the server works, and how much it has to do."""

    status: Literal["ok"]
    version: str
    workers: int
    busy: int


class ProblemDetails(Answer):
    """Why there is no answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class BillItem(Answer):
    """A part of what a round cost."""

    what: str
    amount: float


class Purchase(Answer):
    """A round of the bill."""

    features: list[str]
    results: dict[str, str]
    cost: float
    items: list[BillItem]


class Standing(Answer):
    """Where a consultation stands."""

    posterior: dict[str, float]
    emc: float
    decision: str
    decision_costs: dict[str, float]
    spent: float
    left: PathLimits
    costs: Annotated[
        dict[str, float | None],
        Field(description="What each unknown feature costs now; null: it cannot be acquired now."),
    ]
    bill: list[Purchase]
    obstacles: dict[str, list[str]]


class Certified(Answer):
    """What is proved about an answer."""

    lower_bound: float | None
    exact: bool
    status: Status
    note: str


class Ignored(Answer):
    """A feature that is not worth considering, and why."""

    feature: str
    reason: Literal["separated", "price", "barred", "unavailable"]
    why: str


class Advice(Certified):
    """What to do now, and why."""

    action: Literal["acquire", "decide"]
    features: list[str]
    target_set: list[str] | None
    decision: str | None
    decision_costs: dict[str, float]
    posterior: dict[str, float]
    emc: float
    spent: float
    bill: list[Purchase]
    left: PathLimits
    benefit: float
    candidates: list[SetEntry]
    barred: list[SetEntry]
    ignored: list[Ignored]
    reasons: list[str]
    fallback: str | None
    quick: Annotated[bool, Field(description="Greedy answered in place of the policy asked for.")]


class NextStep(Answer):
    """What the optimum does after a result."""

    action: Literal["acquire", "decide"]
    features: list[str]
    decision: str | None


class OutcomeOfStep(Answer):
    """A result of a first step, and what follows from it."""

    result: dict[str, str]
    probability: float
    emc: float
    cost_to_go: float
    then: NextStep


class FirstStep(Answer):
    """What it costs to begin with some features and to go on in the best way."""

    features: list[str]
    cost: float
    cost_to_go: float
    lower_bound: float
    over: Annotated[float, Field(description="What it costs more than the best first step.")]
    outcomes: list[OutcomeOfStep]
    text: str


class FirstSteps(Answer):
    """Why this and not that."""

    decide: Annotated[float, Field(description="What deciding now costs.")]
    chosen: list[str]
    exact: bool
    steps: list[FirstStep]


class CaseRefused(Answer):
    """A case of a batch that has no answer, and why."""

    error: ProblemDetails


class Batch(Answer):
    """Advice for many cases, in their order."""

    answers: list[Advice | CaseRefused]


class AppliedCase(Answer):
    """What a policy bought, decided and paid in a case; null: the true class is not known."""

    decision: str
    bought: list[str]
    feature_cost: float
    misclassification_cost: float | None
    total_cost: float | None


class Applied(Answer):
    """What a policy bought, decided and paid in a table of cases."""

    status: str
    rows: int
    mean_feature_cost: float | None
    mean_misclassification_cost: float | None
    mean_total_cost: float | None
    accuracy: float | None
    mean_features: float | None
    replanned: int
    impossible: int
    unfinished: int
    unseen: dict[str, dict[str, int]]
    cases: list[AppliedCase]


class Policy(Certified):
    """A policy: what it costs, and its tree."""

    policy: str
    expected_total_cost: float
    expected_feature_cost: float
    expected_misclassification_cost: float
    expected_features: float
    expected_rounds: float
    nodes: int
    paths: int
    depth: int
    states: int
    no_acquisition_cost: float
    savings: float
    open_share: float
    verdict: str
    tree: Annotated[str, Field(description="HTML of nested details elements.")]
    flow: Annotated[str, Field(description="SVG: width is probability, colour is decision.")]


class ComparisonRow(Certified):
    """What a policy costs at a point of the sweep."""

    kind: str
    expected: float
    policy: str
    expected_total_cost: float | None
    at_least: float | None
    at_most: float | None
    savings: float | None
    above_best: float | None
    settings: dict[str, float]
    first: list[str] | None
    uses: bool | None


class Comparison(Answer):
    """All policies along a sweep."""

    rows: list[ComparisonRow]
    svg: str


class ChangeOfAdvice(Answer):
    """Where the first step changes, and to what."""

    at: float
    first: list[str]


class AdviceThreshold(Answer):
    """From where to where the first step stays what it is."""

    along: Literal["price", "stakes"]
    feature: str | None
    now: float
    stake: float
    first: list[str]
    below: ChangeOfAdvice | None
    above: ChangeOfAdvice | None
    low: float
    high: float
    exact: bool
    text: str


class AdviceThresholds(Answer):
    """Where the first step changes; null: the problem is too large to tell."""

    price: AdviceThreshold | None
    stakes: AdviceThreshold | None


class Threshold(Answer):
    """From which price, and from which stakes, a feature is used, and where the advice changes."""

    feature: str
    price: float
    price_threshold: float | None
    stake: float
    stake_threshold: float | None
    exact: bool
    used: bool | None
    price_use: str
    price_at_least: float | None
    price_at_most: float | None
    least_price: float
    stake_at_most: float | None
    stake_end: float | None
    stake_ranges: list[Point]
    stake_limit: float
    cost_without: float | None
    price_curve: list[Point]
    stake_curve: list[Point]
    stake_curve_without: list[Point]
    advice: AdviceThresholds
    text: str


class Report(Answer):
    """A report to print."""

    html: str


Result = Advice | Policy | Comparison | Threshold | Report


class JobStatus(Answer):
    """How far a job has come, with its result when it is done."""

    job: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: str
    fraction: Annotated[float | None, Field(ge=0, le=1)]
    seconds: float
    result: Result | None
    error: ProblemDetails | None
