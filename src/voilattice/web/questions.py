"""What a request asks: the fields of its body with their limits, and the questions that there are.

Every question names a problem and says what is known, what cannot be had, and what would be
different: prices, costs of decisions, stakes. A field that is not listed here is refused.
`QUESTIONS` is the list of all questions: routes, limits and the OpenAPI document follow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_validator,
)

from voilattice.documents import consultations, sets
from voilattice.policy.solvers import policy_names
from voilattice.web import schemas

__all__ = [
    "QUESTIONS",
    "AdviceAsked",
    "ApiQuestion",
    "Asked",
    "BatchAsked",
    "Case",
    "PolicyAsked",
    "ThresholdAsked",
    "ValueAsked",
]

MAX_NAMES = 1000
MAX_POINTS = 101
MAX_CASES = 500
MAX_ROWS = 5000


def _check_policy(name: str) -> str:
    if name not in policy_names():
        raise ValueError(f"must be one of {', '.join(policy_names())}, got {name!r}")
    return name


PolicyName = Annotated[
    str, AfterValidator(_check_policy), Field(json_schema_extra={"enum": list(policy_names())})
]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Names = Annotated[list[Name], Field(max_length=MAX_NAMES)]
Amount = Annotated[float, Field(ge=0, le=1e100, allow_inf_nan=False, strict=True)]

# What is known: a state, or a raw value that stands for one.
Value = Name | StrictBool | StrictInt | StrictFloat
Known = Annotated[dict[Name, Value], Field(max_length=MAX_NAMES)]
Row = dict[
    Name, Annotated[str, Field(max_length=200)] | StrictBool | StrictInt | StrictFloat | None
]


class Question(BaseModel):
    """Fields of a request; others are refused."""

    model_config = ConfigDict(extra="forbid")


class Stakes(Question):
    """What is at stake: the problem's matrix times `scale`, or a scaled `kind` in its place."""

    scale: Amount | None = Field(
        default=None, description="A factor for the problem's own costs of decisions."
    )
    kind: Literal["symmetric", "asymmetric"] | None = Field(
        default=None, description="Costs of decisions to take in place of the problem's own."
    )
    expected: Amount | None = Field(
        default=None, description="The expected cost of deciding with nothing known, for that kind."
    )

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        if (self.scale is None) == (self.kind is None) or (self.kind is None) != (
            self.expected is None
        ):
            raise ValueError("must have scale alone, or kind and expected")
        return self


class Case(Question):
    """What is known of one case."""

    evidence: Annotated[
        Known,
        Field(
            description="What was acquired so far, in this order. It has used up a part of the "
            "limits, if the problem has limits."
        ),
    ] = {}
    given: Annotated[
        Known, Field(description="What is known for free: it uses up nothing of the limits.")
    ] = {}
    unavailable: Annotated[Names, Field(description="Features that cannot be acquired.")] = []
    together: Annotated[
        list[Names],
        Field(max_length=MAX_NAMES, description="Evidence that was acquired in one round."),
    ] = []


class WhatIf(Question):
    """Which problem, and what would be different in it."""

    problem: Name = Field(description="The name of a problem.")
    stakes: Stakes | None = Field(default=None, description="What is at stake, if it differs.")
    prices: Annotated[
        dict[Name, Amount], Field(max_length=MAX_NAMES, description="Prices that differ.")
    ] = {}
    misclassification: Annotated[
        dict[Name, Annotated[dict[Name, Amount], Field(max_length=MAX_NAMES)]],
        Field(max_length=MAX_NAMES, description="Costs of decisions that differ, by class."),
    ] = {}

    @property
    def changes(self) -> dict[str, Any]:
        """What differs, as `change_problem` takes it."""
        changes: dict[str, Any] = {}
        if self.stakes is not None:
            changes["stakes"] = self.stakes.model_dump(exclude_none=True)
        if self.prices:
            changes["prices"] = self.prices
        if self.misclassification:
            changes["misclassification"] = self.misclassification
        return changes

    @property
    def options(self) -> dict[str, Any]:
        """What this question says beyond its problem and its case, as its task takes it."""
        own = set(type(self).model_fields) - set(Asked.model_fields)
        return {name: getattr(self, name) for name in own}


class Asked(WhatIf, Case):
    """What most questions say."""


class ValueAsked(Asked):
    """The value of a set of features."""

    features: Names = Field(description="The set.")


class ExplainAsked(Asked):
    """Why a set of features is, or is not, in the lattice."""

    features: Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)] = Field(
        description="The set."
    )


class LatticeAsked(Asked):
    """The lattice, or the part of it that contains some features."""

    containing: Names = Field(default=[], description="Features that each set must contain.")
    top: Annotated[int, Field(ge=1, le=100, description="How many sets of each size.")] = 5


class PolicyAsked(Asked):
    """A policy."""

    policy: PolicyName = Field(description="The name of a policy.")


class AdviceAsked(PolicyAsked):
    """What a policy does now."""


class FirstStepsAsked(Asked):
    """What each first step costs, if the best is done after it."""

    policy: Literal["optimal"] = Field(
        default="optimal", description="The policy that goes on: always the optimum."
    )
    features: Annotated[
        Names | None, Field(description="First steps to compare; by default all candidates.")
    ] = None


class CompareAsked(Asked):
    """All policies along a sweep of the a-priori expected misclassification cost."""

    points: Annotated[list[Amount], Field(min_length=1, max_length=MAX_POINTS)] = Field(
        description="Stakes: the expected cost of deciding with nothing known."
    )
    kinds: Annotated[
        list[Literal["given", "symmetric", "asymmetric"]],
        Field(
            min_length=1,
            max_length=3,
            description="Costs of decisions to scale; given: those of the problem.",
        ),
    ] = ["symmetric", "asymmetric"]


class ThresholdAsked(Asked):
    """The price and the stakes from which a feature is used."""

    feature: Name = Field(description="The feature.")


class BatchAsked(WhatIf):
    """Advice for many cases."""

    policy: PolicyName = Field(description="The name of a policy.")
    cases: Annotated[list[Case], Field(min_length=1, max_length=MAX_CASES)] = Field(
        description="What is known of each case."
    )

    @property
    def options(self) -> dict[str, Any]:
        """What the task takes: cases as plain tables."""
        return {"policy": self.policy, "cases": [case.model_dump() for case in self.cases]}


class ApplyAsked(WhatIf):
    """A policy followed for each row of a table of raw values or states."""

    policy: PolicyName = Field(description="The name of a policy.")
    rows: Annotated[list[Row], Field(min_length=1, max_length=MAX_ROWS)] = Field(
        description="The table: a raw value or a state by column; null: missing."
    )
    strict: StrictBool = Field(
        default=True,
        description="Refuse a cell that stands for no state, and a result of probability 0. "
        "Otherwise such a cell is missing: unseen and impossible count them.",
    )


@dataclass(frozen=True, slots=True)
class ApiQuestion:
    """A question of the API: where it is asked, with which fields, and what answers it."""

    path: str
    name: str  # of the operation
    task: str  # of a worker
    asked: type[WhatIf]
    answer: type
    summary: str  # what the answer does
    example: dict[str, Any]  # about a built-in problem; the tests ask it
    is_quick: bool = False  # it never waits for what is long
    is_timed: bool = False  # its task keeps to a time limit
    is_advice: bool = False  # greedy answers where the policy cannot in time
    is_job: bool = False  # the answer names a job to ask for


_CASE = {"problem": "heart", "evidence": {"age": 46, "sex": "male"}}
_WHAT_IF = {"stakes": {"scale": 2}, "prices": {"thal": 50}}

QUESTIONS = (
    ApiQuestion(
        "/posterior", "posterior", "posterior", Asked, consultations.Standing,
        "Say at once what is believed, what deciding costs, what was paid and what can come.",
        _CASE | {"given": {"cp": "typical"}}, is_quick=True,
    ),
    ApiQuestion(
        "/advise", "advise", "advise", AdviceAsked, consultations.Advice,
        "Say what to do now; greedy says it where the policy asked for cannot in time.",
        _CASE | _WHAT_IF | {"policy": "optimal", "unavailable": ["ca"]},
        is_timed=True, is_advice=True,
    ),
    ApiQuestion(
        "/advise/batch", "advise_batch", "batch", BatchAsked, schemas.Batch,
        "Say what to do now in each of many cases; a case that is wrong is answered as such.\n\n"
        "Greedy says it where the policy asked for cannot in time.",
        {"problem": "heart", "policy": "greedy-la", "cases": [
            {"evidence": {"age": 46}}, {"evidence": {"age": 61}, "unavailable": ["thal"]}
        ]},
        is_timed=True, is_advice=True,
    ),
    ApiQuestion(
        "/first-steps", "first_steps", "first_steps", FirstStepsAsked, consultations.FirstSteps,
        "Say what it costs to begin with each feature, and which outcome makes the difference.",
        _CASE | {"features": ["cp", "thal"]}, is_timed=True,
    ),
    ApiQuestion(
        "/apply", "apply", "apply", ApplyAsked, schemas.Applied,
        "Follow a policy for each row of a table of raw values or states.",
        {"problem": "asia", "policy": "greedy-la", "rows": [
            {"tub": "yes", "xray": "yes", "lung": "yes"},
            {"tub": "no", "xray": "no", "lung": "no"},
        ]},
        is_timed=True,
    ),
    ApiQuestion(
        "/value", "value", "value", ValueAsked, sets.SetValue, "Value a set of features.",
        {"problem": "asia", "evidence": {"smoke": "yes"}, "features": ["xray", "dysp"]},
        is_quick=True,
    ),
    ApiQuestion(
        "/explain", "explain", "explain", ExplainAsked, sets.Explanation,
        "Explain why a set of features is, or is not, in the lattice.",
        {"problem": "asia", "features": ["tub", "xray"]}, is_quick=True,
    ),
    ApiQuestion(
        "/best", "best", "best", Asked, sets.BestSet, "Find the set of highest benefit.",
        {"problem": "asia", "misclassification": {"no": {"yes": 500}}}, is_timed=True,
    ),
    ApiQuestion(
        "/lattice", "lattice", "lattice", LatticeAsked, schemas.Lattice,
        "Build the lattice: the best sets of each size, and a drawing of a small one.",
        {"problem": "asia", "containing": ["xray"], "top": 3},
    ),
    ApiQuestion(
        "/jobs/advise", "start_advice", "advise", AdviceAsked, schemas.JobStatus,
        "Start to look for advice; the answer names a job to ask for.",
        {"problem": "asia", "policy": "optimal"}, is_timed=True, is_job=True,
    ),
    ApiQuestion(
        "/policy", "start_policy", "policy", PolicyAsked, schemas.JobStatus,
        "Start to build a policy; the answer names a job to ask for.",
        {"problem": "asia", "policy": "optimal"}, is_timed=True, is_job=True,
    ),
    ApiQuestion(
        "/compare", "start_comparison", "compare", CompareAsked, schemas.JobStatus,
        "Start to compare all policies along a sweep; the answer names a job to ask for.",
        {"problem": "asia", "points": [0, 50, 100]}, is_timed=True, is_job=True,
    ),
    ApiQuestion(
        "/threshold", "start_threshold", "threshold", ThresholdAsked, schemas.JobStatus,
        "Start to find where a feature is used and where the advice changes; names a job.",
        {"problem": "asia", "feature": "xray"}, is_timed=True, is_job=True,
    ),
    ApiQuestion(
        "/report", "start_report", "report", PolicyAsked, schemas.JobStatus,
        "Start to write a report to print; the answer names a job to ask for.",
        {"problem": "asia", "policy": "optimal"}, is_timed=True, is_job=True,
    ),
)  # fmt: skip
