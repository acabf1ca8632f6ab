"""One case: what is known, what to do now, and why (the command `advise`)."""

from __future__ import annotations

from operator import itemgetter
from typing import Literal

from voilattice.documents.declaration import Document, key
from voilattice.documents.policies import Certified
from voilattice.documents.problems import PathLimits
from voilattice.documents.sets import SetEntry

__all__ = ["Advice", "FirstSteps", "PrintedAdvice", "Standing"]


class BillItem(Document):
    """A part of what a round cost."""

    what: str = key("What it was paid for.", itemgetter(0))
    amount: float = key("How much that was.", itemgetter(1))


class Purchase(Document):
    """A round of the bill."""

    features: list[str] = key("What was acquired together.")
    results: dict[str, str] = key("The state found for each of them.")
    cost: float = key("What the round cost.")
    items: list[BillItem] = key("The parts of the cost.")


class Standing(Document):
    """Where a consultation stands."""

    posterior: dict[str, float] = key("The probability of each class now.")
    emc: float = key("The expected misclassification cost (EMC) of the best decision now.")
    decision: str = key("The decision of lowest expected cost.")
    decision_costs: dict[str, float] = key(
        "What each decision is expected to cost if it is made now."
    )
    spent: float = key("What the evidence has cost.")
    left: PathLimits = key("What is left of the limits.")
    costs: dict[str, float | None] = key(
        "What each unknown feature costs now; null: it cannot be acquired now."
    )
    bill: list[Purchase] = key("What was acquired so far, round by round.")
    obstacles: dict[str, list[str]] = key(
        "What keeps each feature from being acquired now, in sentences."
    )


class Ignored(Document):
    """A feature that is not worth considering, and why."""

    feature: str = key("The feature.")
    reason: Literal["separated", "price", "barred", "unavailable"] = key("The kind of reason.")
    why: str = key("The reason in a sentence.")


class _Step(Document):
    action: Literal["acquire", "decide"] = key("What to do now.")
    features: list[str] = key("What to acquire now; empty: decide.")
    target_set: list[str] | None = key(
        "The set that the policy looks ahead to; null: it does not look ahead."
    )
    decision: str | None = key("What to decide; null: acquire first.")
    decision_costs: dict[str, float] = key(
        "What each decision is expected to cost if it is made now."
    )
    posterior: dict[str, float] = key("The probability of each class now.")
    emc: float = key("The expected misclassification cost (EMC) now.")
    spent: float = key("What the evidence has cost.")
    bill: list[Purchase] = key("What was acquired so far, round by round.")
    left: PathLimits = key("What is left of the limits.")
    benefit: float = key(
        "Of the target set, or of the features; of the optimum: of acquiring them and going on in "
        "the best way; 0 when deciding."
    )
    candidates: list[SetEntry] = key("Sets that are worth considering, the highest benefit first.")
    barred: list[SetEntry] = key(
        "Sets that matter but cannot be acquired now: see their obstacles."
    )
    ignored: list[Ignored] = key("Every other unknown feature, with the reason.")
    reasons: list[str] = key("Why, in sentences.")
    fallback: str | None = key(
        "The policy that answered in place of the one asked for; null: none did."
    )
    quick: bool = key(
        "Greedy answered in place of the policy asked for.",
        lambda advice: advice.fallback is not None,
    )


class Advice(Certified, _Step):
    """What to do now, and why."""


class NextStep(Document):
    """What the optimum does after a result."""

    action: Literal["acquire", "decide"] = key(
        "What it does next.",
        lambda outcome: "decide" if outcome.decision is not None else "acquire",
    )
    features: list[str] = key("What it acquires; empty: it decides.", "then")
    decision: str | None = key("What it decides; null: it acquires.")


class OutcomeOfStep(Document):
    """A result of a first step, and what follows from it."""

    result: dict[str, str] = key("The state found for each feature of the step.")
    probability: float = key("How likely this result is.")
    emc: float = key("The expected misclassification cost (EMC) after it.")
    cost_to_go: float = key("What is still to be paid after it, decisions included.")
    then: NextStep = key("What the optimum does then.", lambda outcome: outcome)


class FirstStep(Document):
    """What it costs to begin with some features and to go on in the best way."""

    features: list[str] = key("What is acquired first.")
    cost: float = key("What that costs.")
    cost_to_go: float = key("All that is still to be paid, the cost of the step included.")
    lower_bound: float = key("No way to go on costs less than this in all.")
    over: float = key("What it costs more than the best first step.")
    outcomes: list[OutcomeOfStep] = key("The results it can have, with what follows.")
    text: str = key("The comparison with the best first step, in sentences.")


class FirstSteps(Document):
    """Why this and not that."""

    decide: float = key("What deciding now costs.")
    chosen: list[str] = key("The best first step; empty: decide.")
    exact: bool = key("Whether all costs are proved.")
    steps: list[FirstStep] = key("The first steps that were compared, the cheapest first.")


class PrintedAdvice(Advice):
    """What to do now, and why."""

    first_steps: FirstSteps | None = key(
        "With --why; left out where none of the steps asked for can be taken now.",
        optional=True,
    )
    barred_first_steps: list[str] | None = key(
        "With --why: sentences on what cannot be acquired now, and why; left out where all can.",
        optional=True,
    )
