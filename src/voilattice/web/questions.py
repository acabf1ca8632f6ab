"""What a request asks: the fields of its body, with their limits.

Every question names a problem and says what is known, what cannot be had, and what would be
different: prices, costs of decisions, stakes. A field that is not listed here is refused.
"""

from __future__ import annotations

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

from voilattice.policy.solvers import policy_names

__all__ = [
    "AdviceAsked",
    "ApplyAsked",
    "Asked",
    "BatchAsked",
    "Case",
    "CompareAsked",
    "ExplainAsked",
    "FirstStepsAsked",
    "LatticeAsked",
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
