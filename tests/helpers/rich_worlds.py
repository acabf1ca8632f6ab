"""Small problems with all that a problem file can say, and a referee that reads it literally.

The referee uses the joint distribution, cell by cell, and the tables of the problem file as they
are written. It shares no code with the package: not the prices of sets, not the feasible sets, not
the states of a policy.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from voilattice import ConditionalCost, Constraint, Discount, FeatureCosts, Group, Network, Problem
from voilattice.model.acquisition import PathLimits

PARTS = ("groups", "discounts", "conditional", "constraints", "limits", "rounds", "decisions")
SLACK = 1e-7  # of a limit on spending, for sums in another order


def rich_problem(seed, parts=PARTS, *, n_features=4, max_states=2):
    """A random problem with some of the given parts of a problem file."""
    rng = np.random.default_rng(seed)
    network, target, features = _network(rng, n_features, max_states)
    states = {f: network.states[network.index(f)] for f in features}
    prices = {f: float(rng.integers(0, 9)) for f in features}
    shuffled = [str(f) for f in rng.permutation(features)]
    groups, discounts, off = [], [], dict.fromkeys(features, 0.0)
    while len(shuffled) >= 2 and rng.random() < 0.7:
        size = int(rng.integers(2, len(shuffled) + 1))
        members, shuffled = shuffled[:size], shuffled[size:]
        kinds = [kind for kind in ("groups", "discounts") if kind in parts]
        kind = str(rng.choice(kinds)) if kinds else None
        if kind == "groups":
            groups.append(Group(f"g{len(groups)}", float(rng.integers(1, 9)), tuple(members)))
        elif kind == "discounts":
            amounts = {f: float(rng.integers(0, int(prices[f]) + 1)) for f in members}
            discounts.append(Discount(f"d{len(discounts)}", amounts))
            off |= amounts
    conditional = []
    for _ in range(int(rng.integers(1, 4)) if "conditional" in parts else 0):
        feature, other = (str(f) for f in rng.permutation(features)[:2])
        when = {other: str(rng.choice(states[other]))}
        conditional.append(ConditionalCost(feature, when, off[feature] + rng.integers(0, 9)))
    round_cost = float(rng.integers(1, 8)) if "rounds" in parts and rng.random() < 0.8 else 0.0
    costs = FeatureCosts(prices, tuple(groups), tuple(conditional), tuple(discounts), round_cost)
    stakes = float(rng.integers(10, 120))
    classes = network.states[network.index(target)]
    m, names = len(classes), list(classes)
    matrix = np.where(np.eye(m, dtype=bool), 0.0, rng.uniform(0.3, 1.0, (m, m)) * stakes)
    if "decisions" in parts and rng.random() < 0.7:
        refer = np.full((1, m), float(rng.uniform(0.1, 0.6) * stakes))
        kept = m if rng.random() < 0.7 else 1
        matrix, names = np.concatenate([matrix[:kept], refer]), [*names[:kept], "refer"]
    rows = {
        name: dict(zip(classes, row, strict=True))
        for name, row in zip(names, matrix.tolist(), strict=True)
    }
    problem = Problem.create(network, target, costs, rows, features=features)
    if "constraints" in parts:
        problem = replace(problem, constraints=_constraints(rng, features, states))
    if "limits" in parts:
        limits = {
            "spend": float(rng.integers(0, 25)) if rng.random() < 0.5 else None,
            "features": int(rng.integers(0, 4)) if rng.random() < 0.5 else None,
            "rounds": int(rng.integers(0, 4)) if rng.random() < 0.5 else None,
        }
        problem = replace(problem, limits=PathLimits(**limits))
    if rng.random() < 0.25:  # evidence, constrained or not, is never refused
        feature = str(rng.choice(features))
        state = str(rng.choice(states[feature]))
        if Referee(problem).mass({feature: state}) > 0:
            problem = problem.with_evidence({feature: state})
    return problem


def _network(rng, n_features, max_states):
    n_hidden = int(rng.integers(0, 2))
    names = [f"N{k}" for k in range(n_features + n_hidden + 1)]
    sizes = {name: int(rng.integers(2, max_states + 1)) for name in names}
    parents, tables = {}, {}
    density = rng.choice([0.2, 0.5, 0.8])
    # Parts that tell nothing about each other: then features matter only for what they unlock.
    part = rng.integers(0, 2, len(names)) if rng.random() < 0.3 else np.zeros(len(names), int)
    for k, name in enumerate(names):
        mates = [p for q, p in enumerate(names[:k]) if part[q] == part[k]]
        above = [p for p in mates if rng.random() < density][-2:]
        shape = (*(sizes[p] for p in above), sizes[name])
        table = rng.dirichlet(np.full(shape[-1], 0.5), shape[:-1])
        if rng.random() < 0.2:  # impossible states
            table = np.where(table == table.max(axis=-1, keepdims=True), 1.0, 0.0)
        elif rng.random() < 0.15:
            table = np.broadcast_to(np.eye(shape[-1])[0] * 0 + 1 / shape[-1], shape).copy()
        parents[name], tables[name] = above, table
    states = {name: [f"s{v}" for v in range(size)] for name, size in sizes.items()}
    order = [str(name) for name in rng.permutation(names)]
    return Network.from_tables(states, parents, tables), order[0], order[1 : 1 + n_features]


def _constraints(rng, features, states):
    """Constraints that point from later to earlier features, so that there is no circle."""
    order = [str(f) for f in rng.permutation(features)]
    found = []
    for place, feature in enumerate(order):
        earlier = order[:place]
        for _ in range(int(rng.integers(0, 2)) + (rng.random() < 0.2)):
            after, only_if, not_if = [], {}, {}
            if earlier and rng.random() < 0.5:
                after = [str(rng.choice(earlier))]
            if earlier and rng.random() < 0.3:
                other = str(rng.choice(earlier))
                only_if = {other: str(rng.choice(states[other]))}
            if rng.random() < 0.5:
                other = str(rng.choice([f for f in features if f != feature]))
                not_if = {other: str(rng.choice(states[other]))}
            if after or only_if or not_if:
                found.append(Constraint(feature, tuple(after), only_if, not_if))
    return tuple(found)


class Referee:
    """What a problem's file says, worked out by enumeration."""

    def __init__(self, problem):
        self.problem = problem
        network = problem.network
        self.names = network.names
        self.states = dict(zip(network.names, network.states, strict=True))
        self.cells = []
        for values in itertools.product(*network.states):
            case = dict(zip(self.names, values, strict=True))
            p = 1.0
            for node, table in enumerate(network.tables):
                above = [self.names[q] for q in network.parents[node]]
                at = [self.states[q].index(case[q]) for q in (*above, self.names[node])]
                p *= float(table[tuple(at)])
            self.cells.append((case, p))
        self._memo = {}

    # -- probabilities and decisions

    def mass(self, known):
        return sum(p for case, p in self.cells if known.items() <= case.items())

    def joint(self, known):
        target = self.problem.target
        return [
            sum(p for c, p in self.cells if known.items() <= c.items() and c[target] == y)
            for y in self.states[target]
        ]

    def risk(self, known):
        """The least expected cost of a decision, times P(e)."""
        belief = self.joint(known)
        rows = self.problem.misclassification.tolist()
        return min(sum(c * p for c, p in zip(row, belief, strict=True)) for row in rows)

    # -- what a set costs, and whether it can be had

    def own(self, feature, known):
        costs = self.problem.costs
        for entry in costs.conditional:
            if entry.feature == feature and all(known.get(f) == s for f, s in entry.when):
                return entry.cost
        return costs.prices[feature]

    def price(self, features, known):
        """The least price over all orders that `after` allows."""
        costs = self.problem.costs
        if not features:
            return 0.0
        best = math.inf
        for order in itertools.permutations(sorted(features)):
            if not self._is_order(order, known):
                continue
            total, have = costs.round_cost, set(known)
            for feature in order:
                total += self.own(feature, known)
                for group in costs.groups:
                    if feature in group.features and not have & set(group.features):
                        total += group.overhead
                for discount in costs.discounts:
                    if feature in discount.off and have & set(discount.off):
                        total -= discount.off[feature]
                have.add(feature)
            best = min(best, total)
        return best

    def _is_order(self, order, known):
        for place, feature in enumerate(order):
            for c in self.problem.constraints:
                if c.feature == feature and any(f in order[place + 1 :] for f in c.after):
                    return False
        return True

    def is_feasible(self, features, known):
        for c in self.problem.constraints:
            if c.feature in features:
                if any(f not in known and f not in features for f in c.after):
                    return False
                if any(known.get(f) != state for f, state in c.only_if):
                    return False
                if any(known.get(f) == state for f, state in c.not_if):
                    return False
        return True

    def choices(self, known, spent, n_features, n_rounds):
        """The sets that can be acquired next, each with its price."""
        limits, free = self.problem.limits, [f for f in self.problem.features if f not in known]
        for size in range(1, len(free) + 1):
            for features in itertools.combinations(free, size):
                if not self.is_feasible(features, known):
                    continue
                price = self.price(features, known)
                if limits.spend is not None and spent + price > limits.spend + SLACK:
                    continue
                if limits.features is not None and n_features + size > limits.features:
                    continue
                if limits.rounds is not None and n_rounds + 1 > limits.rounds:
                    continue
                yield frozenset(features), price

    def outcomes(self, features, known):
        for values in itertools.product(*(self.states[f] for f in sorted(features))):
            yield {**known, **dict(zip(sorted(features), values, strict=True))}

    # -- the optimum, and what a policy costs

    def optimum(self, acquired=None, rounds=()):
        """The least cost from here on, if some was acquired before, in these rounds."""
        known, spent = dict(self.problem.evidence), 0.0
        for features in rounds:
            spent += self.price(features, known)
            known |= {f: acquired[f] for f in features}
        n_features = sum(map(len, rounds))
        return self._cheapest(known, spent, n_features, len(rounds)) / self.mass(known)

    def _cheapest(self, known, spent, n_features, n_rounds):
        key = (frozenset(known.items()), round(spent, 6), n_features, n_rounds)
        if key not in self._memo:
            mass = self.mass(known)
            best = self.risk(known)
            if mass > 0:
                for features, price in self.choices(known, spent, n_features, n_rounds):
                    after = sum(
                        self._cheapest(
                            then, spent + price, n_features + len(features), n_rounds + 1
                        )
                        for then in self.outcomes(features, known)
                    )
                    best = min(best, price * mass + after)
            self._memo[key] = best
        return self._memo[key]

    def follow(self, policy):
        """What a built policy costs; an acquisition that is not allowed is an error."""
        known = dict(self.problem.evidence)
        return self._walk(policy, len(policy.nodes) - 1, known, 0.0, 0, 0) / self.mass(known)

    def _walk(self, policy, number, known, spent, n_features, n_rounds):
        node, mass = policy.nodes[number], self.mass(known)
        if not hasattr(node, "features"):
            row = self.problem.misclassification[self.problem.decisions.index(node.decision)]
            return sum(c * p for c, p in zip(row.tolist(), self.joint(known), strict=True))
        chosen = frozenset(node.features)
        allowed = dict(self.choices(known, spent, n_features, n_rounds))
        assert chosen in allowed, f"{sorted(chosen)} cannot be acquired at {known}"
        price, total = allowed[chosen], 0.0
        for branch in node.branches:
            then = {**known, **dict(zip(node.features, branch.states, strict=True))}
            share = branch.probability * mass
            assert abs(share - self.mass(then)) <= 1e-9, f"another probability at {then}"
            if self.mass(then) > 0:
                counts = spent + price, n_features + len(chosen), n_rounds + 1
                total += self._walk(policy, branch.child, then, *counts)
        return price * mass + total

    def best(self, known):
        """The highest benefit of a set that can be acquired now, and whoever has it."""
        mass, now = self.mass(known), self.risk(known)
        found = {frozenset(): 0.0}
        for features, price in self.choices(known, 0.0, 0, 0):
            after = sum(self.risk(then) for then in self.outcomes(features, known))
            found[features] = (now - after) / mass - price
        highest = max(found.values())
        return highest, [s for s, benefit in found.items() if benefit >= highest - 1e-9]
