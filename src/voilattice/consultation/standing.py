"""Where a consultation stands: what is believed, what deciding costs, what was paid, what can come.

All of it follows from P(Y | e), from the prices and from the rules. It needs one elimination over
the network and no table over features, so it is there at once, whatever the advice takes.

The bill lists the rounds in the order in which the evidence was given. A round costs C(S | e) at
what was known before it, so an overhead is on the bill of the first feature of its group, and a
discount on the bill of the later ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from voilattice.errors import InputError, located
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import price_set
from voilattice.model.network import Table
from voilattice.model.problem import Evidence, Problem, check_problem, impossible
from voilattice.policy.policy import Leaf
from voilattice.ties import tolerance
from voilattice.wording import join_names, quote

__all__ = [
    "Purchase",
    "Standing",
    "Start",
    "decision_costs",
    "narrow_problem",
    "standing_at",
    "start_from",
]


@dataclass(frozen=True, slots=True)
class Purchase:
    """One round of a bill."""

    features: tuple[str, ...]  # in the order in which they were given
    results: Mapping[str, str]
    cost: float  # C(S | e), with overheads, discounts and the cost of the round
    items: tuple[tuple[str, float], ...]  # what the cost is made of, in words; adds up to it


@dataclass(frozen=True, slots=True)
class Standing:
    """What is believed and paid, and what can be acquired next."""

    posterior: dict[str, float]  # P(y | e) of each class
    emc: float
    decision: str  # the cheapest one, if decided now
    decision_costs: dict[str, float]  # what each one costs on average
    bill: tuple[Purchase, ...]
    left: PathLimits  # what is left of the limits
    costs: dict[str, float | None]  # of each unknown feature alone; None: not to be had now
    obstacles: dict[str, tuple[str, ...]]  # why not, in sentences

    @property
    def spent(self) -> float:
        """What the bill adds up to."""
        return math.fsum(purchase.cost for purchase in self.bill)


@dataclass(frozen=True, slots=True)
class Start:
    """From where a consultation goes on: the problem that is left, and what led to it."""

    problem: Problem  # without what cannot be had, with what is left of the limits
    acquired: dict[str, str]  # evidence beyond that of the problem
    bill: tuple[Purchase, ...]
    left: PathLimits
    missing: dict[str, str]  # the features that cannot be had, and why
    locked: tuple[str, ...]  # those sentences that speak of features which need others

    @property
    def known(self) -> dict[str, str]:
        """All evidence."""
        return {**self.problem.evidence, **self.acquired}


def start_from(
    problem: Problem,
    evidence: Evidence | None,
    *,
    unavailable: Collection[str] = (),
    given: Evidence | None = None,
    together: Collection[Collection[str]] = (),
) -> Start:
    """Return from where a consultation goes on. The parameters are those of `advise`."""
    check_problem(problem)
    here = narrow_problem(problem, evidence, unavailable, given)
    acquired = here.further(here.merge_evidence(evidence))
    bill = _list_purchases(here, acquired, together)
    left = here.limits
    for purchase in bill:
        left = left.after(purchase.cost, len(purchase.features))
    if here.limits:  # some steps later, this is a problem with what is left of the limits
        here, acquired = replace(here.with_evidence(acquired), limits=left), {}
    locked = _locked_features(problem, here, unavailable)
    missing = {f: f"{problem.label(f)} is not available." for f in unavailable} | locked
    return Start(here, acquired, bill, left, missing, tuple(locked.values()))


def standing_at(
    problem: Problem,
    evidence: Evidence | None = None,
    *,
    unavailable: Collection[str] = (),
    given: Evidence | None = None,
    together: Collection[Collection[str]] = (),
) -> Standing:
    """Return where a consultation stands. The parameters are those of `advise`.

    >>> import voilattice
    >>> now = standing_at(voilattice.load_problem("asia"), {"smoke": "yes", "xray": "no"})
    >>> [(purchase.features, purchase.items) for purchase in now.bill]
    [(('smoke',), (('smoke', 1.0), ('consultation', 10.0))), (('xray',), (('xray', 8.0),))]
    >>> now.spent, now.costs["dysp"], round(now.emc, 2)
    (19.0, 2.0, 4.72)
    """
    start = start_from(problem, evidence, unavailable=unavailable, given=given, together=together)
    here, known, left = start.problem, start.known, start.left
    joint = here.joint(known)
    if not joint.any():
        raise impossible(known)
    leaf = Leaf.at(here, joint / joint.sum())
    costs: dict[str, float] = {}
    obstacles: dict[str, tuple[str, ...]] = {f: (why,) for f, why in start.missing.items()}
    for k, feature in enumerate(here.features):
        if feature in known:
            continue
        price = price_set(here.costs, frozenset({feature}), known)
        if here.feasibility.is_feasible(1 << k, known) and left.allows(price, 1):
            costs[feature] = price
            continue
        said = here.feasibility.obstacles(1 << k, known)
        obstacles[feature] = (*said, *left.obstacles(price, 1, here.currency))
    return Standing(
        dict(zip(here.classes, leaf.posterior, strict=True)),
        leaf.emc,
        leaf.decision,
        decision_costs(here, joint / joint.sum()),
        start.bill,
        left,
        {f: costs.get(f) for f in problem.features if f not in known},
        obstacles,
    )


def decision_costs(problem: Problem, posterior: Table) -> dict[str, float]:
    """Return what each decision costs on average at this posterior."""
    risk = problem.misclassification @ posterior
    return dict(zip(problem.decisions, risk.tolist(), strict=True))


def narrow_problem(
    problem: Problem,
    evidence: Evidence | None,
    unavailable: Collection[str],
    given: Evidence | None,
) -> Problem:
    """Return the problem with what is given for free, and without what cannot be acquired."""
    with located("given"):
        here = problem.with_evidence(given)
    known = here.merge_evidence(evidence)
    with located("unavailable"):
        problem.feature_mask(unavailable)  # checks that they are features
        if both := sorted(known.keys() & set(unavailable)):
            raise InputError(f"{both[0]!r} is known, so it cannot be unavailable")
    return here.without(unavailable, known)


def _locked_features(
    problem: Problem, narrowed: Problem, unavailable: Collection[str]
) -> dict[str, str]:
    """Return which features cannot be acquired because others are unavailable, and why."""
    gone = set(problem.features) - set(narrowed.features)
    said = {}
    for feature in sorted(gone - set(unavailable)):
        needs = {f for c in problem.constraints if c.feature == feature for f in c.needs}
        names = join_names([problem.label(name) for name in needs & gone], "and")
        said[feature] = f"{problem.label(feature)} needs {names}, which cannot be had."
    return said


def _list_purchases(
    problem: Problem, evidence: Mapping[str, str], together: Collection[Collection[str]]
) -> tuple[Purchase, ...]:
    """Return the bill of some evidence, beyond the problem's own, in this order."""
    rounds: dict[str, frozenset[str]] = {}
    with located("together"):
        if isinstance(together, str) or not isinstance(together, Collection):
            raise InputError(f"must be a list of sets of features, got {quote(together)}")
        for features in together:
            if isinstance(features, Collection) and not features:
                raise InputError("a round has at least one feature, got an empty one")
            for feature in problem.check_acquirable(features, problem.evidence):
                if feature not in evidence:
                    raise InputError(f"{feature!r} was not acquired: it is not evidence")
                if feature in rounds:
                    raise InputError(f"{feature!r} is named twice")
                rounds[feature] = frozenset(features)
    known, bill = dict(problem.evidence), []
    for feature in evidence:
        if feature not in known:
            chosen = rounds.get(feature, frozenset({feature}))
            results = {f: state for f, state in evidence.items() if f in chosen}
            cost = price_set(problem.costs, chosen, known)
            items = _itemise(problem, tuple(results), known, cost)
            bill.append(Purchase(tuple(results), results, cost, items))
            known |= results
    return tuple(bill)


def _itemise(
    problem: Problem, features: tuple[str, ...], known: Mapping[str, str], cost: float
) -> tuple[tuple[str, float], ...]:
    """Return what the cost of a round is made of, in words."""
    pricing = problem.pricing
    items = [
        # Who pays it asks for the price now, whatever it is otherwise.
        (problem.label(name), pricing.price(name, known)) if kind == "feature"
        else (name or "the round", amount)
        for kind, name, amount in pricing.items(features, known)
        if kind not in ("condition", "discount")
    ]  # fmt: skip
    # The rest is what discounts take off. In a set, that depends on the order of its features.
    rest = cost - math.fsum(amount for _, amount in items)
    if not items or abs(rest) > tolerance(cost):
        items.append((pricing.rest_name(problem, features), rest))
    return tuple(items)
