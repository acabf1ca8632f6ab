"""The bill to expect: how often a policy pays each price, and what that makes on average.

With P(n) the probability to reach node n, and e what is known there, the expected feature cost is

    sum_n P(n) C(S_n | e),

and C is a sum (`model.costs`): prices of features, overheads of groups, discounts, the cost of a
round. So the bill has a row for each of these, and the rows add up to the expected feature cost.
A node can be reached with different knowledge, since equal subtrees are stored once. Thus what is
paid is worked out for each pair of a node and what matters there for prices.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from voilattice.model.costs.interface import ListedPrice
from voilattice.policy.policy import Acquisition, Policy
from voilattice.ties import tolerance

__all__ = ["BillRow", "expected_bill"]


@dataclass(frozen=True, slots=True)
class BillRow:
    """One price: how often it is paid, and what that makes on average."""

    kind: str  # "feature", "condition", "group", "discount", "round" or "rest"
    name: str  # of the feature, the group or the discount
    times: float  # how often it is paid, on average: of a feature, the share of the cases
    price: float | None  # None: there is no single price
    amount: float


def expected_bill(policy: Policy) -> list[BillRow]:
    """Return a row for each price of a problem, those that are never paid too.

    A row "condition" is what a conditional price adds to the price of its feature, or takes off. A
    row "rest" is what no other row explains: with a cost model of one's own all of it.

    >>> import voilattice
    >>> policy = voilattice.build_policy(voilattice.load_problem("figure3"), "batch")
    >>> [(row.name, round(row.times, 3), row.price, round(row.amount, 3))
    ...  for row in expected_bill(policy)]
    [('X3', 1.0, 4.0, 4.0), ('X4', 1.0, 1.0, 1.0), ('X2', 0.137, 2.0, 0.274), ('X1', 0.0, 6.0, 0.0)]
    """
    pricing = policy.problem.pricing
    times: dict[tuple[str, str], float] = defaultdict(float)
    amounts: dict[tuple[str, str], float] = defaultdict(float)
    for node, known, reach in _visits(policy):
        for feature in node.features:
            times["feature", feature] += reach
        for kind, name, amount in pricing.items(node.features, known):
            amounts[kind, name] += reach * amount
            if kind != "feature":
                times[kind, name] += reach
    prices = {row.name: row.price for row in pricing.listed() if row.kind == "feature"}
    features = (ListedPrice("feature", f, prices.get(f)) for f in policy.problem.features)
    others = [row for row in pricing.listed() if row.kind != "feature"]
    rows = [
        BillRow(kind, name, times[kind, name], price, amounts[kind, name])
        for kind, name, price in (
            *sorted(features, key=lambda row: -times["feature", row.name]), *others
        )
    ]  # fmt: skip
    rest = policy.expected_feature_cost - math.fsum(row.amount for row in rows)
    if abs(rest) > tolerance(policy.expected_total_cost):
        rows.append(BillRow("rest", "", 1.0, None, rest))
    return rows


def _visits(policy: Policy) -> list[tuple[Acquisition, dict[str, str], float]]:
    """Return each node with what matters for prices there, and how probable that is."""
    pricing, sharing = policy.problem.pricing, dict[str, str]()
    seen = {f for _, when in pricing.conditions for f, _ in when}
    for shared in pricing.sharings:
        # One member stands for all: what matters is whether any of them is known.
        rest = [f for f in shared.features if f not in seen]
        sharing |= dict.fromkeys(rest, rest[0]) if rest else {}

    def reduced(known: Mapping[str, str]) -> frozenset[tuple[str, str]]:
        opened = {(sharing[f], "") for f in known if f in sharing}
        return frozenset(opened | {(f, s) for f, s in known.items() if f in seen})

    reached: list[dict[frozenset[tuple[str, str]], float]] = [{} for _ in policy.nodes]
    reached[-1] = {reduced(policy.problem.evidence): 1.0}
    visits = []
    for number in reversed(range(len(policy.nodes))):
        node = policy.nodes[number]
        if not isinstance(node, Acquisition):
            continue
        for known, reach in reached[number].items():
            visits.append((node, dict(known), reach))
            for branch in node.branches:
                found = dict(zip(node.features, branch.states, strict=True))
                after, ends = known | reduced(found), reached[branch.child]
                ends[after] = ends.get(after, 0.0) + reach * branch.probability
    return visits
