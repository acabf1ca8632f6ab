"""What policies cost: the commands `policy`, `report`, `compare` and `threshold`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from voilattice.documents.declaration import Document, Json, key
from voilattice.policy.comparison import costs_above_best
from voilattice.valuation.valuation import emc

if TYPE_CHECKING:
    from voilattice.policy.comparison import ComparisonRow as ComparisonRowResult

__all__ = [
    "AdviceThreshold",
    "AdviceThresholds",
    "Certified",
    "ComparisonRow",
    "Policy",
    "ReportedPolicy",
    "Threshold",
    "comparison_rows",
]


class Certified(Document):
    """What is proved about an answer."""

    lower_bound: float | None = key(
        "No policy has a lower expected cost; null: not computed.", "certificate.lower_bound"
    )
    exact: bool = key(
        "Whether it is what the policy's name promises; for optimal: proved optimal.",
        "certificate.exact",
    )
    status: Literal["ok", "time", "memory"] = key(
        "ok, or the limit that stopped the work.", "certificate.status"
    )
    note: str = key("Where a bound comes from, or what was not done.", "certificate.note")


class _PolicyCosts(Document):
    policy: str = key("Its name.", "name")
    expected_total_cost: float = key(
        "What features and decisions cost together, on average over all paths (Equation 2)."
    )
    expected_feature_cost: float = key("The part spent on features.")
    expected_misclassification_cost: float = key("The part that decisions cost.")
    expected_features: float = key("How many features are acquired on average.")
    expected_rounds: float = key("How many rounds that takes on average.")
    nodes: int = key("Acquisitions in the unfolded tree.", "n_acquisitions")
    paths: int = key("Leaves of the unfolded tree.", "n_paths")
    depth: int = key("Acquisitions on its longest path.")
    states: int = key("Different nodes, as it is stored.", lambda policy: len(policy.nodes))
    no_acquisition_cost: float = key(
        "What deciding at once costs.", lambda policy: emc(policy.problem)
    )
    savings: float = key(
        "What the policy saves over deciding at once.",
        lambda policy: emc(policy.problem) - policy.expected_total_cost,
    )


class Policy(Certified, _PolicyCosts):
    """A policy, and what it costs."""

    open_share: float = key("The share of the cases that reach a state that was not worked out.")
    verdict: str = key("How good it is, in a sentence.")


class _WrittenFile(Document):
    file: str = key("The page that was written.")


class ReportedPolicy(Policy, _WrittenFile):
    """The policy of a report."""


class _ComparedCosts(Document):
    kind: str = key("Whose costs of decisions are scaled: given, symmetric or asymmetric.")
    expected: float = key("The expected misclassification cost (EMC) with nothing known.")
    policy: str = key("The name of the policy.")
    expected_total_cost: float | None = key(
        "What features and decisions cost together; null: not known."
    )
    at_least: float | None = key("A lower bound on it, where it is not known.")
    at_most: float | None = key("An upper bound on it, where it is not known.")
    savings: float | None = key("What it saves over deciding at once; null: not known.")
    above_best: float | None = key(
        "What it costs more than the cheapest policy here; null: not known."
    )


class ComparisonRow(Certified, _ComparedCosts):
    """What a policy costs at a point of the sweep."""

    settings: dict[str, float] = key("Numbers of the problem that differ at this point.")
    first: list[str] | None = key(
        "What the policy acquires first; empty: it decides; null: not told."
    )
    uses: bool | None = key("Whether it uses the feature whose price is swept; null: not told.")


def comparison_rows(rows: Sequence[ComparisonRowResult]) -> list[Json]:
    """Return what policies cost, point by point, and how much more than the cheapest there."""
    above = costs_above_best(rows)
    return [ComparisonRow.json_of(row, above_best=a) for row, a in zip(rows, above, strict=True)]


# The schema of pairs of numbers: pydantic would take a list of any length.
_PAIRS = {
    "items": {"items": {"type": "number"}, "maxItems": 2, "minItems": 2, "type": "array"},
}


class Threshold(Document):
    """From which price, and from which stakes, a feature is used."""

    feature: str = key("The feature.")
    price: float = key("Its price now.")
    price_threshold: float | None = key(
        "The price below which the optimum uses it; null: none, or not known.", "prices.threshold"
    )
    stake: float = key("The stakes now, told as the EMC with nothing known.")
    stake_threshold: float | None = key(
        "The stakes from which on it is used; null: none, or not known.", "stakes.threshold"
    )
    exact: bool = key("Whether all of this is proved.")
    used: bool | None = key("Whether it is used as things are; null: not proved.", "is_used")
    price_use: str = key("below (the threshold), never, always or unknown.", "prices.verdict")
    price_at_least: float | None = key(
        "The threshold is not below this price.", lambda found: found.prices.bracket[0]
    )
    price_at_most: float | None = key(
        "The threshold is not above this price.", lambda found: found.prices.bracket[1]
    )
    least_price: float = key(
        "What a discount takes off its price: no price may be lower.", "prices.least"
    )
    stake_at_most: float | None = key("It is proved to be used at these stakes.", "stakes.at_most")
    stake_end: float | None = key(
        "The stakes above which it is no longer used; null: there are none.", "stakes.end"
    )
    stake_ranges: list[list[float]] = key(
        "All ranges of stakes in which it is used.", "stakes.ranges", json_schema_extra=_PAIRS
    )
    stake_limit: float = key("The highest stakes that were examined.", "stakes.limit")
    cost_without: float | None = key(
        "What the optimal policy costs without the feature.", "prices.without"
    )
    price_curve: list[list[float]] = key(
        "The cost of the optimal policy along prices, as pairs.",
        "prices.curve",
        json_schema_extra=_PAIRS,
    )
    stake_curve: list[list[float]] = key(
        "The cost of the optimal policy along stakes, as pairs.",
        "stakes.curve",
        json_schema_extra=_PAIRS,
    )
    stake_curve_without: list[list[float]] = key(
        "The same without the feature.", "stakes.without", json_schema_extra=_PAIRS
    )
    text: str = key("All of this in sentences.", str)


class ChangeOfAdvice(Document):
    """Where the first step changes, and to what."""

    at: float = key("The price, or the factor of the stakes, at which it changes.")
    first: list[str] = key("The first step beyond it; empty: decide.")


class AdviceThreshold(Document):
    """From where to where the first step stays what it is."""

    along: Literal["price", "stakes"] = key("What is changed.")
    feature: str | None = key("The feature whose price it is; null: along the stakes.")
    now: float = key("The price now, or the factor 1 of the stakes.")
    stake: float = key("The stakes now, told as the EMC with nothing known.")
    first: list[str] = key("The first step now; empty: decide.")
    below: ChangeOfAdvice | None = key("The next change below; null: there is none.")
    above: ChangeOfAdvice | None = key("The next change above; null: there is none.")
    low: float = key("The lowest number that was examined.")
    high: float = key("The highest number that was examined.")
    exact: bool = key("Whether all of it is proved.")
    text: str = key("All of this in sentences.")


class AdviceThresholds(Document):
    """Where the first step changes; null: the problem is too large to tell."""

    price: AdviceThreshold | None = key(
        "Along the price of the feature; null: the problem is too large to tell."
    )
    stakes: AdviceThreshold | None = key(
        "Along the stakes; null: the problem is too large to tell."
    )
