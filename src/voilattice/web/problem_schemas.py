"""What the server answers about problems, typed: see `schemas`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Answer", "PathLimits", "ProblemEntry", "ProblemSummary"]


class Answer(BaseModel):
    """A document that has these keys and no others."""

    model_config = ConfigDict(extra="forbid")


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
