"""First steps: what it costs to begin with a feature, outcome by outcome. Results alone.

`first_steps` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FirstStep", "FirstSteps", "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One result of a first step."""

    result: Mapping[str, str]
    probability: float
    emc: float  # if decided then
    cost_to_go: float  # what is still to be paid from then on
    then: frozenset[str]  # what is acquired next; empty: the decision
    decision: str | None  # None: something is acquired


@dataclass(frozen=True, slots=True)
class FirstStep:
    """What it costs to begin with a set of features, and to go on in the best way."""

    features: frozenset[str]
    cost: float  # the price now
    cost_to_go: float  # in all, the price included; not exact: at most
    lower_bound: float  # at least; the same where it is exact
    over: float  # above the cheapest way to begin, deciding included
    outcomes: tuple[Outcome, ...]
    text: str  # which outcome makes the difference, in sentences


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The ways to begin, what the optimum begins with first, then the cheapest."""

    decide: float  # what deciding now costs
    chosen: frozenset[str]  # what the optimum begins with; empty: it decides
    exact: bool
    steps: tuple[FirstStep, ...]
