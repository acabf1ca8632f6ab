"""What the server answers about problems, typed: see `schemas`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Answer", "PathLimits", "ProblemEntry", "ProblemSummary"]


class Answer(BaseModel):
    """A document that has these keys and no others."""

    model_config = ConfigDict(extra="forbid")


class ProblemEntry(Answer):
    """A problem of the list."""

    name: str = Field(description="What requests call it.")
    title: str = Field(description="What people call it.")
    target: str = Field(description="What has to be decided on.")
    features: list[str] = Field(description="What can be acquired.")


class SharedOverhead(Answer):
    """Features whose overhead is paid once."""

    name: str = Field(description="The name of the group.")
    overhead: float = Field(description="What is paid once for all of them.")
    features: list[str] = Field(description="The features that share it.")


class Discount(Answer):
    """Features that cost less once one of them is acquired."""

    name: str = Field(description="The name of the discount.")
    off: dict[str, float] = Field(
        description="What each feature costs less once one of the others is acquired."
    )


class ConditionalCost(Answer):
    """Another price of a feature, once some evidence is known."""

    feature: str = Field(description="The feature.")
    when: dict[str, str] = Field(description="The evidence under which it has this price.")
    cost: float = Field(description="The price then.")


class RoundCost(Answer):
    """What each acquisition costs, whatever it brings."""

    cost: float = Field(description="What each acquisition costs in addition to its features.")


class Constraint(Answer):
    """When a feature can be acquired."""

    feature: str = Field(description="The feature.")
    after: list[str] = Field(description="Features that must be acquired before it.")
    only_if: dict[str, str] = Field(description="The evidence that allows it.")
    not_if: dict[str, str] = Field(description="The evidence that forbids it.")


class PathLimits(Answer):
    """What may be acquired at most; null: no limit."""

    spend: float | None = Field(description="How much money; null: no limit.")
    features: int | None = Field(description="How many features; null: no limit.")
    rounds: int | None = Field(description="How many rounds; null: no limit.")


class ProblemSummary(Answer):
    """Everything in a problem except its network."""

    name: str = Field(description="What requests call it.")
    title: str = Field(description="What people call it.")
    target: str = Field(description="What has to be decided on.")
    classes: list[str] = Field(description="The states of the target.")
    decisions: list[str] = Field(description="What can be decided.")
    prior: dict[str, float] = Field(description="The probability of each class with nothing known.")
    features: list[str] = Field(description="What can be acquired.")
    states: dict[str, list[str]] = Field(description="The states of each feature, in order.")
    bins: dict[str, list[float]] = Field(
        description="For features with bins, the numbers between the states."
    )
    hidden: list[str] = Field(description="Nodes that are neither target nor feature.")
    labels: dict[str, str] = Field(description="What people read in place of a node's name.")
    state_labels: dict[str, dict[str, str]] = Field(
        description="What people read in place of a state's name."
    )
    currency: str = Field(description="The unit of money; empty: none.")
    misclassification: dict[str, dict[str, float]] = Field(
        description="The cost of each decision for each class."
    )
    evidence: dict[str, str] = Field(description="What the problem itself says is known.")
    emc: float = Field(description="The expected misclassification cost (EMC) at this evidence.")
    costs: dict[str, float] | None = Field(default=None, description="The price of each feature.")
    groups: list[SharedOverhead] | None = Field(
        default=None, description="Features that share an overhead."
    )
    discounts: list[Discount] | None = Field(
        default=None, description="Features that cost less together."
    )
    conditional_costs: list[ConditionalCost] | None = Field(
        default=None, description="Prices that depend on evidence."
    )
    rounds: RoundCost | None = Field(
        default=None, description="What each acquisition costs in addition."
    )
    constraints: list[Constraint] = Field(description="When features can be acquired.")
    limits: PathLimits = Field(description="What may be acquired at most.")
    rules: list[str] = Field(
        description="Constraints, limits and prices that depend on others, in sentences."
    )
