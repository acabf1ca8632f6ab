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
    "Readiness",
    "Report",
    "SetValue",
    "Standing",
    "Threshold",
]

Status = Literal["ok", "time", "memory"]
Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class Health(Answer):
    """Whether the server works, and how much it has to do."""

    status: Literal["ok"] = Field(description="The server answers.")
    version: str = Field(description="Of voilattice.")
    workers: int = Field(description="How many workers the server should have.")
    busy: int = Field(description="How many of them are at work.")


class Readiness(Answer):
    """All workers run and all kernels are compiled."""

    status: Literal["ready"] = Field(description="The server answers at its usual speed.")
    workers: int = Field(description="How many workers run.")


class ProblemDetails(Answer):
    """Why there is no answer (RFC 9457)."""

    type: str = Field(description="Always about:blank: the status says what kind of error it is.")
    title: str = Field(description="The name of the status.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong, where, and what would be right, in a line.")


class BillItem(Answer):
    """A part of what a round cost."""

    what: str = Field(description="What it was paid for.")
    amount: float = Field(description="How much that was.")


class Purchase(Answer):
    """A round of the bill."""

    features: list[str] = Field(description="What was acquired together.")
    results: dict[str, str] = Field(description="The state found for each of them.")
    cost: float = Field(description="What the round cost.")
    items: list[BillItem] = Field(description="The parts of the cost.")


class Standing(Answer):
    """Where a consultation stands."""

    posterior: dict[str, float] = Field(description="The probability of each class now.")
    emc: float = Field(
        description="The expected misclassification cost (EMC) of the best decision now."
    )
    decision: str = Field(description="The decision of lowest expected cost.")
    decision_costs: dict[str, float] = Field(
        description="What each decision is expected to cost if it is made now."
    )
    spent: float = Field(description="What the evidence has cost.")
    left: PathLimits = Field(description="What is left of the limits.")
    costs: Annotated[
        dict[str, float | None],
        Field(description="What each unknown feature costs now; null: it cannot be acquired now."),
    ]
    bill: list[Purchase] = Field(description="What was acquired so far, round by round.")
    obstacles: dict[str, list[str]] = Field(
        description="What keeps each feature from being acquired now, in sentences."
    )


class Certified(Answer):
    """What is proved about an answer."""

    lower_bound: float | None = Field(
        description="No policy has a lower expected cost; null: not computed."
    )
    exact: bool = Field(
        description="Whether it is what the policy's name promises; for optimal: proved optimal."
    )
    status: Status = Field(description="ok, or the limit that stopped the work.")
    note: str = Field(description="Where a bound comes from, or what was not done.")


class Ignored(Answer):
    """A feature that is not worth considering, and why."""

    feature: str = Field(description="The feature.")
    reason: Literal["separated", "price", "barred", "unavailable"] = Field(
        description="The kind of reason."
    )
    why: str = Field(description="The reason in a sentence.")


class Advice(Certified):
    """What to do now, and why."""

    action: Literal["acquire", "decide"] = Field(description="What to do now.")
    features: list[str] = Field(description="What to acquire now; empty: decide.")
    target_set: list[str] | None = Field(
        description="The set that the policy looks ahead to; null: it does not look ahead."
    )
    decision: str | None = Field(description="What to decide; null: acquire first.")
    decision_costs: dict[str, float] = Field(
        description="What each decision is expected to cost if it is made now."
    )
    posterior: dict[str, float] = Field(description="The probability of each class now.")
    emc: float = Field(description="The expected misclassification cost (EMC) now.")
    spent: float = Field(description="What the evidence has cost.")
    bill: list[Purchase] = Field(description="What was acquired so far, round by round.")
    left: PathLimits = Field(description="What is left of the limits.")
    benefit: float = Field(description="Of the target set, or of the features; 0 when deciding.")
    candidates: list[SetEntry] = Field(
        description="Sets that are worth considering, the highest benefit first."
    )
    barred: list[SetEntry] = Field(
        description="Sets that matter but cannot be acquired now: see their obstacles."
    )
    ignored: list[Ignored] = Field(description="Every other unknown feature, with the reason.")
    reasons: list[str] = Field(description="Why, in sentences.")
    fallback: str | None = Field(
        description="The policy that answered in place of the one asked for; null: none did."
    )
    quick: Annotated[bool, Field(description="Greedy answered in place of the policy asked for.")]


class NextStep(Answer):
    """What the optimum does after a result."""

    action: Literal["acquire", "decide"] = Field(description="What it does next.")
    features: list[str] = Field(description="What it acquires; empty: it decides.")
    decision: str | None = Field(description="What it decides; null: it acquires.")


class OutcomeOfStep(Answer):
    """A result of a first step, and what follows from it."""

    result: dict[str, str] = Field(description="The state found for each feature of the step.")
    probability: float = Field(description="How likely this result is.")
    emc: float = Field(description="The expected misclassification cost (EMC) after it.")
    cost_to_go: float = Field(description="What is still to be paid after it, decisions included.")
    then: NextStep = Field(description="What the optimum does then.")


class FirstStep(Answer):
    """What it costs to begin with some features and to go on in the best way."""

    features: list[str] = Field(description="What is acquired first.")
    cost: float = Field(description="What that costs.")
    cost_to_go: float = Field(
        description="All that is still to be paid, the cost of the step included."
    )
    lower_bound: float = Field(description="No way to go on costs less than this in all.")
    over: Annotated[float, Field(description="What it costs more than the best first step.")]
    outcomes: list[OutcomeOfStep] = Field(description="The results it can have, with what follows.")
    text: str = Field(description="The comparison with the best first step, in sentences.")


class FirstSteps(Answer):
    """Why this and not that."""

    decide: Annotated[float, Field(description="What deciding now costs.")]
    chosen: list[str] = Field(description="The best first step; empty: decide.")
    exact: bool = Field(description="Whether all costs are proved.")
    steps: list[FirstStep] = Field(
        description="The first steps that were compared, the cheapest first."
    )


class CaseRefused(Answer):
    """A case of a batch that has no answer, and why."""

    error: ProblemDetails = Field(description="Why this case has no answer.")


class Batch(Answer):
    """Advice for many cases, in their order."""

    answers: list[Advice | CaseRefused] = Field(
        description="Advice for each case, or why there is none."
    )


class AppliedCase(Answer):
    """What a policy bought, decided and paid in a case; null: the true class is not known."""

    decision: str = Field(description="What was decided.")
    bought: list[str] = Field(description="What was acquired, in this order.")
    feature_cost: float = Field(description="What that cost.")
    misclassification_cost: float | None = Field(
        description="What the decision cost; null: the true class is not known."
    )
    total_cost: float | None = Field(
        description="Both together; null: the true class is not known."
    )


class Applied(Answer):
    """What a policy bought, decided and paid in a table of cases."""

    status: str = Field(
        description="Whether the policy was ready in time: ok, or what ended its planning."
    )
    rows: int = Field(description="How many cases there are.")
    mean_feature_cost: float | None = Field(description="What was spent on features, on average.")
    mean_misclassification_cost: float | None = Field(
        description="What decisions cost on average; null: the true class is not known."
    )
    mean_total_cost: float | None = Field(
        description="Both together; null: the true class is not known."
    )
    accuracy: float | None = Field(
        description="The share of decisions that are the true class; null: not known."
    )
    mean_features: float | None = Field(description="How many features were acquired on average.")
    replanned: int = Field(
        description="Rows in which a feature was missing, so that the policy was planned again."
    )
    impossible: int = Field(
        description="Rows in which a result had probability 0 and was taken as missing."
    )
    unfinished: int = Field(
        description="Rows in which the greedy policy went on, because the time was over."
    )
    unseen: dict[str, dict[str, int]] = Field(
        description="Values that are no state of the network, by column, and how often they occur."
    )
    cases: list[AppliedCase] = Field(description="What happened in each row.")


class Policy(Certified):
    """A policy: what it costs, and its tree."""

    policy: str = Field(description="Its name.")
    expected_total_cost: float = Field(
        description="What features and decisions cost together, on average."
    )
    expected_feature_cost: float = Field(description="The part spent on features.")
    expected_misclassification_cost: float = Field(description="The part that decisions cost.")
    expected_features: float = Field(description="How many features are acquired on average.")
    expected_rounds: float = Field(description="How many rounds that takes on average.")
    nodes: int = Field(description="Acquisitions in the unfolded tree.")
    paths: int = Field(description="Leaves of the unfolded tree.")
    depth: int = Field(description="Acquisitions on its longest path.")
    states: int = Field(description="Different nodes, as it is stored.")
    no_acquisition_cost: float = Field(description="What deciding at once costs.")
    savings: float = Field(description="What the policy saves over deciding at once.")
    open_share: float = Field(
        description="The share of the cases that reach a state that was not worked out."
    )
    verdict: str = Field(description="How good it is, in a sentence.")
    tree: Annotated[str, Field(description="HTML of nested details elements.")]
    flow: Annotated[str, Field(description="SVG: width is probability, colour is decision.")]


class ComparisonRow(Certified):
    """What a policy costs at a point of the sweep."""

    kind: str = Field(
        description="Whose costs of decisions are scaled: given, symmetric or asymmetric."
    )
    expected: float = Field(
        description="The expected misclassification cost (EMC) with nothing known."
    )
    policy: str = Field(description="The name of the policy.")
    expected_total_cost: float | None = Field(
        description="What features and decisions cost together; null: not known."
    )
    at_least: float | None = Field(description="A lower bound on it, where it is not known.")
    at_most: float | None = Field(description="An upper bound on it, where it is not known.")
    savings: float | None = Field(
        description="What it saves over deciding at once; null: not known."
    )
    above_best: float | None = Field(
        description="What it costs more than the cheapest policy here; null: not known."
    )
    settings: dict[str, float] = Field(
        description="Numbers of the problem that differ at this point."
    )
    first: list[str] | None = Field(
        description="What the policy acquires first; empty: it decides; null: not told."
    )
    uses: bool | None = Field(
        description="Whether it uses the feature whose price is swept; null: not told."
    )


class Comparison(Answer):
    """All policies along a sweep."""

    rows: list[ComparisonRow] = Field(description="What each policy costs at each point.")
    svg: str = Field(description="A drawing of what each policy saves.")


class ChangeOfAdvice(Answer):
    """Where the first step changes, and to what."""

    at: float = Field(description="The price, or the factor of the stakes, at which it changes.")
    first: list[str] = Field(description="The first step beyond it; empty: decide.")


class AdviceThreshold(Answer):
    """From where to where the first step stays what it is."""

    along: Literal["price", "stakes"] = Field(description="What is changed.")
    feature: str | None = Field(
        description="The feature whose price it is; null: along the stakes."
    )
    now: float = Field(description="The price now, or the factor 1 of the stakes.")
    stake: float = Field(description="The stakes now, told as the EMC with nothing known.")
    first: list[str] = Field(description="The first step now; empty: decide.")
    below: ChangeOfAdvice | None = Field(description="The next change below; null: there is none.")
    above: ChangeOfAdvice | None = Field(description="The next change above; null: there is none.")
    low: float = Field(description="The lowest number that was examined.")
    high: float = Field(description="The highest number that was examined.")
    exact: bool = Field(description="Whether all of it is proved.")
    text: str = Field(description="All of this in sentences.")


class AdviceThresholds(Answer):
    """Where the first step changes; null: the problem is too large to tell."""

    price: AdviceThreshold | None = Field(
        description="Along the price of the feature; null: the problem is too large to tell."
    )
    stakes: AdviceThreshold | None = Field(
        description="Along the stakes; null: the problem is too large to tell."
    )


class Threshold(Answer):
    """From which price, and from which stakes, a feature is used, and where the advice changes."""

    feature: str = Field(description="The feature.")
    price: float = Field(description="Its price now.")
    price_threshold: float | None = Field(
        description="The price below which the optimum uses it; null: none, or not known."
    )
    stake: float = Field(description="The stakes now, told as the EMC with nothing known.")
    stake_threshold: float | None = Field(
        description="The stakes from which on it is used; null: none, or not known."
    )
    exact: bool = Field(description="Whether all of this is proved.")
    used: bool | None = Field(description="Whether it is used as things are; null: not proved.")
    price_use: str = Field(description="below (the threshold), never, always or unknown.")
    price_at_least: float | None = Field(description="The threshold is not below this price.")
    price_at_most: float | None = Field(description="The threshold is not above this price.")
    least_price: float = Field(
        description="What a discount takes off its price: no price may be lower."
    )
    stake_at_most: float | None = Field(description="It is proved to be used at these stakes.")
    stake_end: float | None = Field(
        description="The stakes above which it is no longer used; null: there are none."
    )
    stake_ranges: list[Point] = Field(description="All ranges of stakes in which it is used.")
    stake_limit: float = Field(description="The highest stakes that were examined.")
    cost_without: float | None = Field(
        description="What the optimal policy costs without the feature."
    )
    price_curve: list[Point] = Field(
        description="The cost of the optimal policy along prices, as pairs."
    )
    stake_curve: list[Point] = Field(
        description="The cost of the optimal policy along stakes, as pairs."
    )
    stake_curve_without: list[Point] = Field(description="The same without the feature.")
    advice: AdviceThresholds = Field(description="Where the first step changes.")
    text: str = Field(description="All of this in sentences.")


class Report(Answer):
    """A report to print."""

    html: str = Field(description="A page to print.")


Result = Advice | Policy | Comparison | Threshold | Report


class JobStatus(Answer):
    """How far a job has come, with its result when it is done."""

    job: str = Field(description="The name to ask for the job by.")
    state: Literal["queued", "running", "done", "failed", "cancelled"] = Field(
        description="What has become of it."
    )
    progress: str = Field(description="How far it is, in words.")
    fraction: Annotated[float | None, Field(ge=0, le=1)] = Field(
        description="Which part is done; null: not known."
    )
    seconds: float = Field(description="Since it was asked for, or until it ended.")
    result: Result | None = Field(description="The answer; null: there is none yet, or it failed.")
    error: ProblemDetails | None = Field(description="Why it failed; null: it did not.")
