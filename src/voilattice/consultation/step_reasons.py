r"""Which outcome makes the difference between two first steps, in sentences.

Let A be the step that the optimum takes and B another one. Compare both with "A and then B at
once", which costs

    C(A | e) + Σ_a P(a | e) [ C(B | e, a) + Σ_b P(b | e, a) v(e, a, b) ].

After A = a the optimum pays v(e, a), which is less by some s_a >= 0: what it saves because it need
not acquire B there. In the same way s_b is what it saves after B = b because it need not acquire A.
So

    Q(B) - Q(A) = Σ_a P(a | e) s_a  -  Σ_b P(b | e) s_b  +  D

where D is what the order changes in the prices: 0, unless prices depend on values or discounts on
the order. The outcome of A with the largest P(a | e) s_a makes the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

import numpy as np

from voilattice.consultation.steps import FirstStep, Outcome
from voilattice.feature_sets import bits
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.elimination import LEAST_MASS
from voilattice.policy.policy import Leaf
from voilattice.policy.situation import Situation
from voilattice.ties import Offer
from voilattice.wording import format_amount, join_names

__all__ = ["reason_of_step", "savings_after"]

# What is still to be paid from some evidence on, with what is left of the limits.
ToGo: TypeAlias = Callable[[Mapping[str, str], PathLimits, Leaf], float | None]

MAX_PAIRS = 4096  # outcomes of two steps together


def reason_of_step(
    situation: Situation,
    step: FirstStep,
    chosen: FirstStep | None,
    to_go: ToGo | None,
    doubt: str = "",
) -> str:
    """Return why a step costs what it costs, compared with what is chosen, in sentences.

    Parameters
    ----------
    chosen
        What the optimum begins with; None: it decides.
    to_go
        The least cost from some evidence on; None: not known after the outcomes of both steps.
    doubt
        What is not proved, in a sentence; empty: what the step costs and what is chosen are proved.
    """
    words = _Words(situation)
    name, total = words.names(step), words.amount(step.cost_to_go)
    if doubt:
        least = words.amount(step.lower_bound)
        costs = total if least == total else f"between {least} and {total}"
        said = f"Beginning with {name} costs {costs} in all. {doubt}"
    elif chosen is None:
        said = f"{words.over(step)} more than deciding now. {_what_changes(words, step)}"
    elif step.features == chosen.features:
        now = words.amount(situation.emc)
        said = f"The optimum begins with {name}: {total} in all; deciding now costs {now}."
    elif step.over <= situation.tol:
        said = (
            f"Beginning with {name} costs as much as beginning with {words.names(chosen)}"
            f"{_tie_break(words, step, chosen)}."
        )
    else:
        said = f"{words.over(step)} more than beginning with {words.names(chosen)}."
        said += "" if to_go is None else _what_makes_it(words, chosen, step, to_go)
    return said


def savings_after(
    situation: Situation, first: FirstStep, second: FirstStep, to_go: ToGo
) -> list[float] | None:
    """Return P(a) s_a for each outcome a of the first step: what is saved without the second.

    If the second step has all features of the first, the rest of it comes in the same round.

    None: the second step cannot follow every outcome, there are too many outcomes, or what follows
    them is not known.
    """
    problem, builder = situation.builder.problem, situation.builder
    is_larger = second.features > first.features
    rest = second.features - first.features
    one, two = problem.feature_mask(first.features), problem.feature_mask(rest)
    axes = list(bits(one | two))
    if len(first.outcomes) * len(second.outcomes) > MAX_PAIRS:
        return None
    joint = situation.joint(one | two)
    left = situation.left.after(first.cost, len(first.features))
    found = []
    for outcome in first.outcomes:
        known = {**situation.known, **outcome.result}
        if is_larger:
            price = second.cost - first.cost
            further = situation.left.after(second.cost, len(second.features))
        else:
            price = price_set(problem.costs, rest, known)
            can_follow = problem.feasibility.is_feasible(two, known)
            if not (can_follow and left.allows(price, len(rest))):
                return None
            further = left.after(price, len(rest))
        where = [
            problem.states(name).index(outcome.result[name])
            if (name := problem.features[k]) in outcome.result
            else slice(None)
            for k in axes
        ]
        part = joint[:, *where]
        names = [problem.features[k] for k in bits(two)]
        amounts = [price * outcome.probability]
        for codes in np.ndindex(part.shape[1:]):
            here = part[:, *codes]
            if (p := float(here.sum())) > LEAST_MASS:
                result = {f: problem.states(f)[v] for f, v in zip(names, codes, strict=True)}
                later = to_go({**known, **result}, further, Leaf.at(builder.problem, here / p))
                if later is None:
                    return None
                amounts.append(p * later)
        found.append(math.fsum(amounts) - outcome.probability * outcome.cost_to_go)
    return found


def _tie_break(words: _Words, step: FirstStep, chosen: FirstStep) -> str:
    """Return why a step that costs as much is not the chosen one; empty: a search met it first."""
    tol = words.situation.tol
    mine, its = (Offer(0.0, s.cost, words.problem.feature_mask(s.features)) for s in (chosen, step))
    if not mine.beats(its, tol):
        return ""
    is_or_are = ", which are" if len(chosen.features) > 1 else ", which is"
    if len(step.features) != len(chosen.features):
        return ", which has fewer features"
    if step.cost - chosen.cost > tol:
        return f"{is_or_are} cheaper"
    return f"{is_or_are} named first in the problem"


def _what_makes_it(words: _Words, chosen: FirstStep, step: FirstStep, to_go: ToGo) -> str:
    """Return which outcome of the chosen step makes the difference; empty: not one alone."""
    situation, name = words.situation, words.names(step)
    tol, its = 10 * situation.tol, list[float]()
    is_larger = step.features > chosen.features
    if step.features & chosen.features and not is_larger:
        return ""
    mine = savings_after(situation, chosen, step, to_go)
    if not is_larger:
        found = savings_after(situation, step, chosen, to_go)
        if mine is None or found is None:
            return ""
        its = found
    if mine is None:
        return ""
    said = []
    alone, other = (words.benefit(s) for s in (step, chosen))
    is_better = alone > other + tol
    if is_better:
        said.append(
            f"Alone, {name} would bring more: {words.amount(alone)} against {words.amount(other)}, "
            f"prices deducted."
        )
    most = max(range(len(mine)), key=mine.__getitem__)
    if mine[most] > tol:
        outcome = chosen.outcomes[most]
        said.append(
            f"{'But after' if is_better else 'After'} {words.finding(outcome)} "
            f"({_share(outcome.probability)}) {_instead(words, outcome, step, chosen)}. That saves "
            f"{words.amount(mine[most])} on average."
        )
    most = max(range(len(its)), key=its.__getitem__, default=0)
    if its and its[most] > tol:
        outcome = step.outcomes[most]
        said.append(
            f"Beginning with {name}, {words.names(chosen)} need not come next after "
            f"{words.finding(outcome)} ({_share(outcome.probability)}); that saves "
            f"{words.amount(its[most])}."
        )
    order = step.over - (math.fsum(mine) - math.fsum(its))
    if abs(order) > tol:
        more = "more" if order > 0 else "less"
        said.append(f"In this order the two cost {words.amount(abs(order))} {more}.")
    return "".join(f" {sentence}" for sentence in said)


def _instead(words: _Words, outcome: Outcome, step: FirstStep, chosen: FirstStep) -> str:
    """Return what is done after an outcome in place of a step."""
    rest = step.features - chosen.features
    name = words.join(rest)
    is_or_are = "are" if len(rest) > 1 else "is"
    if outcome.decision is not None:
        return f"{name} {is_or_are} not needed: the decision is {words.decision(outcome.decision)}"
    then = words.join(outcome.then)
    if outcome.then & rest:
        return f"{then} can come next, once the result is known"
    return f"{then} comes next, and {name} only if still needed"


def _what_changes(words: _Words, step: FirstStep) -> str:
    """Return which results of a step change what is done, where the optimum decides now."""
    name, now = words.names(step), words.situation.decision
    changing = [o for o in step.outcomes if o.decision != now]
    if not changing:
        return f"No result of {name} changes the decision."
    most = max(changing, key=lambda o: o.probability)
    then = (
        f"the decision would be {words.decision(most.decision)}"
        if most.decision is not None
        else "something more would be acquired"
    )
    share = _share(most.probability)
    return f"After {words.finding(most)} ({share}) {then}, but that is not worth the price."


def _share(probability: float) -> str:
    """Return a probability as a share of cases."""
    percent = 100 * probability
    return f"{percent:.0f} % of cases" if percent >= 1 else "less than 1 % of cases"


class _Words:
    """How steps, results and amounts of a problem are written."""

    def __init__(self, situation: Situation) -> None:
        self.situation, self.problem = situation, situation.builder.problem

    def names(self, step: FirstStep) -> str:
        return self.join(step.features)

    def join(self, features: Collection[str]) -> str:
        return join_names([self.problem.label(f) for f in features], "and")

    def amount(self, amount: float) -> str:
        return format_amount(amount, self.problem.currency)

    def over(self, step: FirstStep) -> str:
        return f"Beginning with {self.names(step)} costs {self.amount(step.over)}"

    def decision(self, decision: str) -> str:
        return self.problem.state_label(self.problem.target, decision)

    def finding(self, outcome: Outcome) -> str:
        label, state = self.problem.label, self.problem.state_label
        return " and ".join(f"{label(f)} = {state(f, s)}" for f, s in outcome.result.items())

    def benefit(self, step: FirstStep) -> float:
        """Return the benefit of a step by itself: EVI minus price."""
        after = math.fsum(o.probability * o.emc for o in step.outcomes)
        return self.situation.emc - after - step.cost
