r"""Features that are not worth considering now, each with its reason.

separated     The feature is not in R (`relevance`): whatever else is acquired, it says nothing more
              about the target, and no price or rule of a feature that does depends on it.
price         No policy that acquires the feature now can cost less than deciding now. Such a policy
              pays at least min over S ∋ X of C(S | e), and its decisions cost at least what they
              cost with everything known. So acquiring X now cannot pay if

                  min over S ∋ X of C(S | e)  >=  EMC(e) - Σ_r P(r | e) EMC(e, r)

              with r the values of all of R. Where R has no table, the right side is bounded by what
              knowing the class would take off: EMC(e) - Σ_j P(y_j | e) min_i c_ij. Later, after
              some result, such a feature may pay: EMC may be higher there.
barred        A constraint or a limit does not allow it now.
unavailable   It cannot be had.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from voilattice.model.problem import Problem
from voilattice.policy.situation import Situation
from voilattice.valuation.valuation import Value, expected_emc
from voilattice.wording import format_amount

__all__ = ["Ignored", "Reason", "ignored_features", "too_dear"]

Reason: TypeAlias = Literal["separated", "price", "barred", "unavailable"]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A feature that is not worth considering now."""

    feature: str
    reason: Reason
    why: str  # in a sentence


def too_dear(situation: Situation) -> dict[str, str]:
    """Return the features that cost more now than any policy can gain with them, and why."""
    problem, known = situation.builder.problem, situation.known
    least = problem.pricing.superset_costs(known)
    if least is None:
        return {}  # a set may cost less than its members
    gain, what = _possible_gain(situation)
    names = [problem.features[k] for k in situation.axes]
    prices = {name: least.cost(frozenset({name}), known) for name in names}

    def amount(x: float) -> str:
        return format_amount(x, problem.currency)

    if gain <= situation.tol:
        why = "Nothing that can be found takes anything off the expected cost of deciding."
        return dict.fromkeys(names, why)
    return {
        name: f"{problem.label(name)} costs {amount(price)} now. That is no less than what {what} "
        f"could take off the expected cost of deciding: {amount(gain)}."
        for name, price in prices.items()
        if price >= gain - situation.tol
    }


def _possible_gain(situation: Situation) -> tuple[float, str]:
    """Return what information can take off EMC at most, and what this information is."""
    problem = situation.builder.problem
    cost = problem.misclassification
    if situation.table is not None:
        after = expected_emc(situation.table, cost) / situation.probability
        return situation.emc - after, "all features together"
    after = float(situation.posterior @ cost.min(axis=0))
    return situation.emc - after, f"knowing {problem.label(problem.target)} for certain"


def ignored_features(
    problem: Problem,
    situation: Situation,
    considered: Collection[str],
    *,
    dear: Mapping[str, str],
    barred: Iterable[Value],
    missing: Mapping[str, str],
) -> tuple[Ignored, ...]:
    """Return every unknown feature that is not considered, with the reason.

    Parameters
    ----------
    problem
        With all features; the problem of the situation lacks those that cannot be had.
    dear
        The features that are too dear, and why.
    barred
        Values of features that cannot be acquired now.
    missing
        The features that cannot be had, and why.
    """
    obstacles = {f: " ".join(value.obstacles) for value in barred for f in value.features}
    inside = {situation.builder.problem.features[k] for k in situation.axes}
    found = []
    for feature in problem.features:
        if feature in situation.known or feature in considered:
            continue
        if feature in missing:
            found.append(Ignored(feature, "unavailable", missing[feature]))
        elif feature not in inside:
            found.append(Ignored(feature, "separated", _why_separated(situation, feature)))
        elif feature in obstacles:
            found.append(Ignored(feature, "barred", obstacles[feature]))
        else:
            found.append(Ignored(feature, "price", dear[feature]))
    return tuple(found)


def _why_separated(situation: Situation, feature: str) -> str:
    problem = situation.builder.problem
    name, target = problem.label(feature), problem.label(problem.target)
    at_first, _ = situation.builder.relevance.what_matters(0)
    if at_first & problem.feature_mask({feature}):
        return f"Given what is known, {name} says nothing more about {target}."
    return f"{name} says nothing about {target}, alone or with other features."
