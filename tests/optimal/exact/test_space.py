"""The state space: its tables and prices, against the joint distribution and the costs."""

import gc
import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.problems import (
    impossible_state,
    naive_bayes,
    noisy_bayes,
    random_problem,
    structured,
    twins,
    varied,
)
from helpers.strategies import full_joint

from voilattice import ConditionalCost, Constraint, FeatureCosts, Group, Problem, load_problem
from voilattice.budgets import memory_limit
from voilattice.errors import InputError, TooLargeError
from voilattice.feature_sets import bits
from voilattice.model.acquisition import INFEASIBLE, NO_LIMITS, PathLimits
from voilattice.optimal.exact.space import Deeper, StateSpace, check_same_states

CHAIN = random_problem(
    {"A": ["Y"], "B": ["A"], "C": ["B"], "D": ["Y"]},
    {"Y": 2, "A": 2, "B": 3, "C": 2, "D": 2},
    FeatureCosts({"A": 1.0, "B": 0.25, "C": 0.125, "D": 2.0}),
)

GROUPED = replace(
    CHAIN,
    costs=FeatureCosts(CHAIN.costs.prices, (Group("g", 0.5, ("A",)), Group("h", 0.75, ("B", "D")))),
)


PROBLEMS = {
    "a state that is impossible": impossible_state(),
    "two groups": GROUPED,
    "a group already paid for": GROUPED.with_evidence({"B": "B2"}),
    "varied": varied(),
    "varied with evidence": varied().with_evidence({"B": "B1"}),
    "a price that is settled": varied().with_evidence({"A": "A1"}),
    "chain": CHAIN,
    "twins": twins(1.0, 2.0, 3.0),
    "asia": load_problem("asia"),
    "no feature that matters": structured({"X": [], "Y": []}, features=["X"]),
}


def space_of(problem, *rest, **options):
    return StateSpace(problem, *rest, engine="python", **options)


class Joint:
    """P(Y, a set of features, the problem's evidence), from the product of all tables."""

    def __init__(self, problem):
        network = problem.network
        table = full_joint(network)
        for name, state in problem.evidence.items():
            node = network.index(name)
            flags = np.array([s == state for s in network.states[node]], dtype=float)
            table = table * flags.reshape([-1 if k == node else 1 for k in range(table.ndim)])
        self.problem, self.network, self.table = problem, network, table

    def of(self, features):
        """Return the table over Y and some features, by numbers, in this order."""
        nodes = [self.network.index(self.problem.target)]
        nodes += [self.network.index(self.problem.features[k]) for k in features]
        rest = tuple(k for k in range(self.table.ndim) if k not in nodes)
        left = sorted(nodes)
        return self.table.sum(axis=rest).transpose([left.index(node) for node in nodes])


@pytest.mark.parametrize("name", PROBLEMS)
def test_mass_and_risk_are_those_of_the_joint_distribution(name):
    problem = PROBLEMS[name]
    space, joint = space_of(problem), Joint(problem)
    blocks, tables, unit = space.blocks, space.tables, problem.misclassification
    scale = space.probability / joint.table.sum()
    starts = []
    for b in range(len(blocks)):
        features = [blocks.features[a] for a in bits(int(blocks.kept[b]))]
        table = joint.of(features) * scale
        here = slice(tables.at[b], tables.at[b] + space.layout.cells[b])
        assert tables.mass[here] == pytest.approx(table.sum(axis=0).reshape(-1), abs=1e-12)
        risk = np.tensordot(unit, table, axes=1).min(axis=0).reshape(-1)
        assert tables.risk[here] == pytest.approx(risk, abs=1e-12)
        starts.append(int(space.layout.start[b]))
    cells = space.layout.cells.tolist()
    assert starts == [sum(cells[:b]) for b in range(len(blocks))]
    assert space.n_states == sum(cells)


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_forgotten_has_its_distribution_given_its_screen(name):
    problem = PROBLEMS[name]
    space, joint = space_of(problem), Joint(problem)
    blocks, tables, sizes = space.blocks, space.tables, space.blocks.sizes
    assert len(tables.factors) == tables.factor_starts[-1] + 1
    for t in range(len(blocks.axis)):
        dropped, seen = int(blocks.dropped[t]), int(blocks.screen[t])
        f = int(tables.factor_of[t])
        assert (f < 0) == (dropped == 0)
        if f >= 0:
            assert int(tables.factor_masks[f]) == dropped | seen
            axes = list(bits(dropped | seen))
            table = joint.of([blocks.features[a] for a in axes]).sum(axis=0)
            gone = tuple(place for place, a in enumerate(axes) if dropped >> a & 1)
            below = np.broadcast_to(table.sum(axis=gone, keepdims=True), table.shape)
            want = np.where(below > 0, table / np.where(below > 0, below, 1.0), 0.0)
            got = tables.factors[tables.factor_starts[f] : tables.factor_starts[f + 1]]
            assert got.shape == (int(np.prod([sizes[a] for a in axes])),)
            assert got == pytest.approx(want.reshape(-1), abs=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_step_costs_its_own_price_and_an_overhead_not_yet_paid(name):
    problem = PROBLEMS[name]
    space, costs = space_of(problem), problem.costs
    blocks, prices = space.blocks, space.prices(problem)
    assert prices.scale == 1.0
    for t, b in enumerate(blocks.parent.tolist()):
        feature = problem.features[blocks.features[blocks.axis[t]]]
        overhead = 0.0
        for g, group in enumerate(costs.groups):
            if feature in group.features and not int(blocks.paid[b]) >> g & 1:
                overhead = group.overhead
        assert prices.surcharge[t] == overhead
        own = int(prices.of[t])
        axes = list(bits(int(prices.masks[own])))
        names = [problem.features[blocks.features[a]] for a in axes]
        want = [
            costs.price(feature, {**problem.evidence, **dict(zip(names, when, strict=True))})
            for when in itertools.product(*(problem.states(name) for name in names))
        ]
        got = prices.own[prices.starts[own] : prices.starts[own + 1]]
        assert got.tolist() == want
        assert prices.least[t] == min(want) + overhead
        # It depends on all that is known and named in a condition.
        named = {
            f for entry in costs.conditional if entry.feature == feature for f, _ in entry.when
        }
        kept = {problem.features[blocks.features[a]] for a in bits(int(blocks.kept[b]))}
        assert set(names) == named & kept


CONSTRAINED = {
    "after": (Constraint("D", after=("A",)), Constraint("C", after=("B", "D"))),
    "only if": (Constraint("C", only_if={"B": "B2"}),),
    "not if": (Constraint("B", not_if={"A": "A1"}), Constraint("D", not_if={"C": "C0"})),
    "all": (
        Constraint("A", after=("D",)),
        Constraint("B", not_if={"A": "A1", "D": "D0"}),
        Constraint("C", after=("D",), only_if={"A": "A0"}),
    ),
}


def may_be_had(constraints, feature, known):
    return all(
        all(known.get(f) == state for f, state in c.only_if)
        and not any(known.get(f) == state for f, state in c.not_if)
        for c in constraints
        if c.feature == feature
    )


@pytest.mark.parametrize("base", [CHAIN, GROUPED], ids=["no group", "two groups"])
@pytest.mark.parametrize("name", CONSTRAINED)
def test_a_step_that_the_constraints_forbid_is_infeasible_and_no_other(name, base):
    constraints = CONSTRAINED[name]
    problem = replace(base, constraints=constraints)
    space, costs = space_of(problem), problem.costs
    blocks, prices = space.blocks, space.prices(problem)
    n_forbidden = 0
    for t, b in enumerate(blocks.parent.tolist()):
        feature = problem.features[blocks.features[blocks.axis[t]]]
        kept, unknown = (
            {problem.features[blocks.features[a]] for a in bits(int(mask))}
            for mask in (blocks.kept[b], blocks.relevant[b])
        )
        due = sum(
            group.overhead
            for g, group in enumerate(costs.groups)
            if feature in group.features and not int(blocks.paid[b]) >> g & 1
        )
        mine = [c for c in constraints if c.feature == feature]
        is_locked = any(set(c.after) & unknown for c in mine)
        assert prices.surcharge[t] == due + INFEASIBLE * is_locked
        # Values that open or close the feature are told apart, and no others.
        own = int(prices.of[t])
        names = [problem.features[blocks.features[a]] for a in bits(int(prices.masks[own]))]
        assert set(names) == {f for c in mine for f, _ in (*c.only_if, *c.not_if)} & kept
        want = [
            costs.prices[feature]
            if may_be_had(constraints, feature, dict(zip(names, when, strict=True)))
            else INFEASIBLE
            for when in itertools.product(*(problem.states(f) for f in names))
        ]
        assert prices.own[prices.starts[own] : prices.starts[own + 1]].tolist() == want
        n_forbidden += is_locked + (INFEASIBLE in want)
    assert n_forbidden


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_gain_of_a_block_is_that_of_knowing_all_that_matters(name):
    problem = PROBLEMS[name]
    space, joint = space_of(problem), Joint(problem)
    blocks, unit = space.blocks, problem.misclassification
    for b in range(len(blocks)):
        kept = [blocks.features[a] for a in bits(int(blocks.kept[b]))]
        more = [blocks.features[a] for a in bits(int(blocks.relevant[b]))]
        now = np.tensordot(unit, joint.of(kept), axes=1).min(axis=0)
        every = np.tensordot(unit, joint.of(kept + more), axes=1).min(axis=0)
        after = every.sum(axis=tuple(range(len(kept), len(kept) + len(more))))
        mass = joint.of(kept).sum(axis=0)
        gains = (now - after)[mass > 0] / mass[mass > 0]
        assert space.gain[b] == pytest.approx(max(float(gains.max(initial=0.0)), 0.0), abs=1e-9)


def test_the_unit_of_the_stakes_is_that_of_the_problem_unless_given():
    problem = varied()
    assert space_of(problem).prices(problem).scale == 1.0
    space = space_of(problem, problem.misclassification / 4)
    assert space.prices(problem).scale == pytest.approx(4.0)
    assert space.gain == pytest.approx(space_of(problem).gain / 4)


def test_prices_of_another_problem_of_the_same_states_are_its_own():
    problem = varied()
    costs = problem.costs
    dearer = replace(
        problem,
        costs=FeatureCosts(
            {f: 2 * price for f, price in costs.prices.items()},
            tuple(Group(g.name, 3 * g.overhead, g.features) for g in costs.groups),
            tuple(ConditionalCost(c.feature, c.when, 5 * c.cost) for c in costs.conditional),
        ),
    )
    space = space_of(problem)
    check_same_states(space.problem, dearer)
    mine, other = space.prices(problem), space.prices(dearer)
    assert other.surcharge.tolist() == (3 * mine.surcharge).tolist()
    assert sorted(set(other.own.tolist())) == sorted({0.25 * 5, 15.0, 1.0, 2.0, 4.0, 3.0})


def without_conditions(problem):
    return FeatureCosts(problem.costs.prices, problem.costs.groups)


def without_groups(problem):
    return FeatureCosts(problem.costs.prices, conditional=problem.costs.conditional)


class Own:
    def cost(self, features, evidence):
        return float(len(features))


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.with_evidence({"B": "B1"}),
        lambda p: replace(p, costs=without_conditions(p)),
        lambda p: replace(p, costs=without_groups(p)),
        lambda p: replace(p, costs=Own()),
        lambda p: load_problem("asia"),
        lambda p: Problem.create(
            p.network, "C", dict.fromkeys("DAB", 1.0), [[0, 9], [9, 0]], features=tuple("DAB")
        ),
        lambda p: replace(
            p,
            costs=FeatureCosts(
                p.costs.prices, (Group("g", 1.25, ("B", "A")),), p.costs.conditional
            ),
        ),
    ],
)
def test_the_states_of_another_problem_are_refused(change):
    problem = varied()
    space = space_of(problem)
    check_same_states(space.problem, problem)
    with pytest.raises(InputError, match="the states belong to another problem"):
        check_same_states(space.problem, change(problem))


def test_room_for_values_is_lent_again_when_it_comes_back():
    class Borrower:
        pass

    space = space_of(noisy_bayes(3))
    first, second = Borrower(), Borrower()
    one, other = space.buffers.lend(first), space.buffers.lend(second)
    assert one is not other
    assert len(one) == len(other) == space.n_states
    del first
    gc.collect()
    assert space.buffers.lend(Borrower()) is one


def test_the_memory_budget_counts_25_bytes_a_state(monkeypatch):
    asked = []

    def find(problem, room, **options):
        asked.append(room)
        raise TooLargeError("enough")

    monkeypatch.setattr("voilattice.optimal.exact.space.find_blocks", find)
    for budget, most in [(1000, None), (1000, 30), (1000, 50), (999, 40)]:
        with memory_limit(budget), pytest.raises(TooLargeError, match="enough"):
            space_of(naive_bayes(2), max_states=most)
    assert asked == [40, 30, 40, 39]


def test_more_states_than_allowed_are_refused():
    assert space_of(naive_bayes(2), max_states=41).n_states == 9
    with pytest.raises(TooLargeError, match="more than 40 states"):
        space_of(naive_bayes(2), max_states=40)


def test_prices_that_the_solver_does_not_support_are_refused():
    problem = naive_bayes(2)
    with pytest.raises(TooLargeError, match="does not support prices of your own"):
        space_of(replace(problem, costs=Own()))
    dearer = (ConditionalCost("X00", {"X01": "T"}, 9), ConditionalCost("X01", {"X00": "T"}, 9))
    circle = FeatureCosts(problem.costs.prices, conditional=dearer)
    with pytest.raises(TooLargeError, match="does not support cyclic conditional prices"):
        space_of(replace(problem, costs=circle))


def test_a_limit_on_features_is_supported_and_no_other():
    problem = naive_bayes(2)
    assert space_of(replace(problem, limits=PathLimits(features=1))).n_states == 9
    rounds = replace(problem, costs=FeatureCosts(problem.costs.prices, round_cost=1.0))
    for other in (
        replace(problem, limits=PathLimits(spend=1.0)),
        replace(problem, limits=PathLimits(rounds=1)),
        replace(problem, limits=PathLimits(spend=1.0, features=1)),
        rounds,
    ):
        with pytest.raises(TooLargeError, match="does not support limits and rounds"):
            space_of(other)


def test_evidence_without_a_state_is_solved_once_for_each_of_the_limits_left():
    problem = replace(naive_bayes(3), limits=PathLimits(features=2))
    solved = []

    def solve(given):
        solved.append((dict(given.evidence), given.limits))
        return len(solved)

    deeper, one, two = Deeper(problem, solve), {"X00": "T"}, {"X00": "T", "X01": "F"}
    # Without limits, what follows some evidence is in the solution from that evidence on.
    assert [deeper.at(known) for known in (one, two, one, {"X00": "F"}, two)] == [1, 1, 1, 2, 1]
    # What is left of the limits depends on how much was acquired: only equal evidence is solved.
    left, less = PathLimits(features=2), PathLimits(features=1)
    assert [deeper.at(one, left), deeper.at(one, less)] == [3, 4]
    assert [deeper.at(two, less), deeper.at(two, less), deeper.at(one, left)] == [5, 5, 3]
    assert deeper.at(one) == 1
    assert solved == [
        (one, NO_LIMITS), ({"X00": "F"}, NO_LIMITS), (one, left), (one, less), (two, less),
    ]  # fmt: skip
