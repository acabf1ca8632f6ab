"""What the server answers: the documents of `voilattice.documents`, typed.

The keys are defined there, and described here for programs: from these models come the OpenAPI
document and whatever is generated from it. Workers write the answers as they are, so nothing is
converted on the way; the tests hold every document against its model.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Advice",
    "BestSet",
    "Comparison",
    "Explanation",
    "Health",
    "JobStatus",
    "Lattice",
    "Policy",
    "ProblemDetails",
    "ProblemEntry",
    "ProblemSummary",
    "SetValue",
    "Standing",
]

Status = Literal["ok", "time", "memory"]
Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class Answer(BaseModel):
    """A document that has these keys and no others."""

    model_config = ConfigDict(extra="forbid")


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


class ProblemEntry(Answer):
    """A problem of the list."""

    name: str
    title: str
    target: str
    features: list[str]


class SharedOverhead(Answer):
    """Features whose overhead is paid once."""

    name: str
    overhead: float
    features: list[str]


class Discount(Answer):
    """Features that cost less once one of them is acquired."""

    name: str
    off: dict[str, float]


class ConditionalCost(Answer):
    """Another price of a feature, once some evidence is known."""

    feature: str
    when: dict[str, str]
    cost: float


class RoundCost(Answer):
    """What each acquisition costs, whatever it brings."""

    cost: float


class Constraint(Answer):
    """When a feature can be acquired."""

    feature: str
    after: list[str]
    only_if: dict[str, str]
    not_if: dict[str, str]


class PathLimits(Answer):
    """What may be acquired at most; null: no limit."""

    spend: float | None
    features: int | None
    rounds: int | None


class ProblemSummary(Answer):
    """Everything in a problem except its network."""

    name: str
    title: str
    target: str
    classes: list[str]
    decisions: list[str]
    prior: dict[str, float]
    features: list[str]
    states: dict[str, list[str]]
    bins: dict[str, list[float]]
    hidden: list[str]
    labels: dict[str, str]
    state_labels: dict[str, dict[str, str]]
    currency: str
    misclassification: dict[str, dict[str, float]]
    evidence: dict[str, str]
    emc: float
    costs: dict[str, float] | None = None
    groups: list[SharedOverhead] | None = None
    discounts: list[Discount] | None = None
    conditional_costs: list[ConditionalCost] | None = None
    rounds: RoundCost | None = None
    constraints: list[Constraint]
    limits: PathLimits
    rules: list[str]


class SetEntry(Answer):
    """What a set of features is worth, and what it costs."""

    features: list[str]
    evi: float
    cost: float
    benefit: float
    feasible: bool
    within_limits: bool
    obstacles: list[str]


class SetValue(SetEntry):
    """A set with the expected misclassification cost (EMC) before and after."""

    emc: float
    expected_emc: float


class BestSet(Answer):
    """The set of highest benefit."""

    features: list[str]
    evi: float
    cost: float
    benefit: float
    feasible: bool
    optimal: bool
    bound: float
    evaluated: int
    sets: int | None
    short_of: str | None


class ReasonOfMember(Answer):
    """Why a feature does, or does not, belong in a set."""

    feature: str
    depends: bool
    constraint: str | None
    reason: str


class Explanation(Answer):
    """Why a set is, or is not, in the lattice."""

    features: list[str]
    irreducible: bool
    core: list[str]
    members: list[ReasonOfMember]
    completions: list[list[str]]
    feasible: bool
    obstacles: list[str]
    closure: list[str]


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


class ComparisonRow(Certified):
    """What a policy costs at a point of the sweep."""

    kind: str
    expected: float
    policy: str
    expected_total_cost: float | None
    at_least: float | None
    at_most: float | None
    savings: float | None
    settings: dict[str, float]
    first: list[str] | None
    uses: bool | None


class Comparison(Answer):
    """All policies along a sweep."""

    rows: list[ComparisonRow]
    svg: str


class Lattice(Answer):
    """The lattice of irreducible sets."""

    nodes: int
    subsets: int
    sets: list[list[str]] | None = None
    edges: int
    roots: list[list[str]]
    largest: int
    markov_blanket: list[str]
    levels: list[int]
    feasible: list[bool] | None = None
    feasible_nodes: int | None = None
    values: list[SetEntry] | None = None
    svg: str


Result = Advice | Policy | Comparison


class JobStatus(Answer):
    """How far a job has come, with its result when it is done."""

    job: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: str
    fraction: Annotated[float | None, Field(ge=0, le=1)]
    seconds: float
    result: Result | None
    error: ProblemDetails | None
