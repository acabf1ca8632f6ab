"""The table of revealed nodes, read as the module describes it, against a referee."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.table_dp import optimal_cost

from voilattice import ConditionalCost, FeatureCosts, Group, Network, Problem
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.model.elimination import scaled_joint_table
from voilattice.optimal.exact.plain_solution import feature_prices
from voilattice.optimal.search.bounds import reveal
from voilattice.optimal.search.bounds.reveal import no_reveal_table, reveal_table
from voilattice.optimal.search.bounds.screens import Plan
from voilattice.policy.relevance import Relevance

PARENTS = {"H": ["Y"], "A": ["Y"], "B": ["Y"], "C": ["Y", "A"], "D": ["H"], "E": ["H", "D"]}
SIZES = {"Y": 2, "H": 2, "A": 3, "B": 2, "C": 2, "D": 3, "E": 2}
PRICES = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 1.0, "E": 2.0}


def a_problem(certain=None, **costs):
    """D and E are behind the hidden node H."""
    rng = np.random.default_rng(2)
    tables = {
        name: rng.dirichlet(np.ones(size), [SIZES[parent] for parent in PARENTS.get(name, ())])
        for name, size in SIZES.items()
    }
    tables |= certain or {}
    states = {name: [f"{k}" for k in range(size)] for name, size in SIZES.items()}
    network = Network.from_tables(states, PARENTS, tables)
    matrix = [[0, 90], [50, 0]]
    return Problem.create(network, "Y", FeatureCosts(PRICES, **costs), matrix, features=[*PRICES])


def planned(problem, revealed, tabled, screens):
    """Plan by the names of nodes."""
    place, node = problem.features.index, problem.network.index
    return Plan(
        tuple(sorted(map(node, revealed))),
        tuple(sorted(map(place, tabled))),
        {
            tuple(sorted(map(place, part))): tuple(sorted(map(node, screen)))
            for part, screen in screens
        },
    )


def table_of(problem, plan, **options):
    features = range(len(problem.features))
    prices = feature_prices(problem, Relevance(problem), features)
    return reveal_table(problem, features, prices, plan, **options)


def bound_at(problem, plan, table, known):
    """P(e) L(e): the sum of entries over all values of A that agree with e."""
    names, sizes = problem.network.names, problem.network.n_states
    states = [known.get(name) for name in problem.features]
    digits = np.array(
        [len(problem.states(name)) if s is None else int(s)
         for name, s in zip(problem.features, states, strict=True)]
    )  # fmt: skip
    total = 0.0
    for values in itertools.product(*(range(sizes[node]) for node in plan.revealed)):
        given = {names[node]: str(v) for node, v in zip(plan.revealed, values, strict=True)}
        if any(known.get(name, state) != state for name, state in given.items()):
            continue
        x = 0
        for node, v in zip(plan.revealed, values, strict=True):
            x = x * sizes[node] + v
        entry = table.value[int(table.digit_step @ digits) + x]
        for number, part in enumerate(plan.screens):
            place = sum(int(table.part_step[i] * digits[i]) for i in part)
            entry *= table.likelihoods[table.part_start[number] + place + x]
        total += entry
    return total


def revealed_optimum(problem, plan, known):
    """The same by the definition: the optimum once A is known, over all values of A."""
    names, network = problem.network.names, problem.network
    hidden = [names[node] for node in plan.revealed if names[node] not in problem.features]
    costs = replace(problem.costs, prices={**problem.costs.prices, **dict.fromkeys(hidden, 0.0)})
    features = (*problem.features, *hidden)
    seen = Problem.create(network, "Y", costs, problem.misclassification, features=features)
    total = 0.0
    for values in itertools.product(*(range(network.n_states[node]) for node in plan.revealed)):
        given = {names[node]: str(v) for node, v in zip(plan.revealed, values, strict=True)}
        if any(known.get(name, state) != state for name, state in given.items()):
            continue
        there = {**problem.evidence, **known, **given}
        mass = float(scaled_joint_table(network, [], seen.node_states(there)).table)
        total += mass * optimal_cost(seen.with_evidence(there))
    start = scaled_joint_table(network, [], problem.node_states(problem.evidence)).table
    return total / float(start)


PLANS = [
    ([], "ABCDE", []),
    ("A", "BCDE", []),
    ("AB", "CDE", []),
    ("H", "ABC", [("DE", "H")]),
    ("HB", "AC", [("DE", "H")]),
    ("HDB", "AC", [("E", "HD")]),
]
EVIDENCE = [{}, {"A": "2", "E": "1"}, {"B": "1", "D": "0"}]


def check(problem, plan, table):
    for known in EVIDENCE:
        want = revealed_optimum(problem, plan, known)
        assert bound_at(problem, plan, table, known) == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("engine", ["python", "compiled"])
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "".join(plan[0]))
def test_the_entries_add_up_to_the_optimum_with_the_nodes_revealed(plan, engine):
    problem = a_problem()
    made = planned(problem, *plan)
    table = table_of(problem, made, engine=engine)
    check(problem, made, table)
    assert table.is_exact == (not set(plan[0]) - set(problem.features))


@pytest.mark.parametrize("n", [1, 4])
def test_values_that_are_solved_one_by_one_give_the_same(monkeypatch, n):
    problem = a_problem()
    made = planned(problem, "AB", "CDE", [])  # six values
    at_once = table_of(problem, made)
    monkeypatch.setattr(reveal, "LINE", n)
    monkeypatch.setattr(reveal, "ONE_BY_ONE", 3 * 4 * 3)
    np.testing.assert_allclose(table_of(problem, made).value, at_once.value)
    monkeypatch.setattr(reveal, "ONE_BY_ONE", 3 * 4 * 3 + 1)
    for n_bytes in (n * 8 * 2 * 3 * 4 * 3, 1):
        monkeypatch.setattr(reveal, "PART_BYTES", n_bytes)
        np.testing.assert_allclose(table_of(problem, made).value, at_once.value)


@pytest.mark.parametrize("revealed", ["A", "AB", "BDE"])
def test_the_readable_engine_gives_the_same_values(revealed):
    blood = Group("blood", 2.0, ["C", "D"])
    given = ConditionalCost("C", {"D": "2"}, 0.25)
    problem = a_problem(groups=(blood,), conditional=(given,))
    tabled = [name for name in problem.features if name not in revealed]
    made = planned(problem, revealed, tabled, [])
    readable, compiled = (table_of(problem, made, engine=e) for e in ("python", "compiled"))
    np.testing.assert_allclose(readable.value, compiled.value, rtol=1e-12, atol=1e-12)
    assert len(np.unique(readable.value)) > 10  # it buys, and decides, in many states


def test_steps_say_where_each_value_lies():
    problem = a_problem()
    table = table_of(problem, planned(problem, "HDB", "AC", [("E", "HD")]))
    assert problem.features == ("A", "B", "C", "D", "E")
    sizes = [SIZES[name] for name in problem.network.names if name in "HDB"]
    assert math.prod(sizes) == 12
    assert table.digit_step.tolist() == [12 * 3, 0, 12, 0, 0]
    assert (table.value_step > 0).tolist() == [False, True, False, True, False]
    (hidden,) = table.hidden.tolist()
    assert hidden[1] == SIZES["H"]
    assert sorted([hidden[0], *table.value_step[[1, 3]]]) == sorted(
        math.prod(sizes[k + 1 :]) for k in range(3)
    )
    assert table.part_of.tolist() == [-1, -1, -1, -1, 0]
    assert len(table.likelihoods) == 12 * 3


def test_evidence_of_the_problem_counts():
    problem = a_problem().with_evidence({"C": "1"})
    made = planned(problem, "A", "BDE", [])
    prices = feature_prices(problem, Relevance(problem), [0, 1, 3, 4])
    plan = Plan(made.revealed, (1, 2, 3), {})
    table = reveal_table(problem, [0, 1, 3, 4], prices, plan)
    want = revealed_optimum(problem, made, {})
    found = sum(table.value[-3:])  # nothing is known but what is revealed
    assert found == pytest.approx(want, rel=1e-9)


def test_prices_that_depend_on_what_is_not_in_the_table_are_the_least():
    named = ConditionalCost("B", {"A": "0"}, 0.5)
    inside = ConditionalCost("C", {"B": "1", "D": "2"}, 0.25)
    problem = a_problem(conditional=(named, inside))
    made = planned(problem, "A", "BCDE", [])
    table = table_of(problem, made)
    assert not table.is_exact
    least = replace(problem, costs=FeatureCosts({**PRICES, "B": 0.5}, conditional=(inside,)))
    check_least(problem, least, made, table)
    exact = a_problem(conditional=(inside,))
    assert table_of(exact, made).is_exact
    check(exact, made, table_of(exact, made))


def check_least(problem, least, plan, table):
    for known in EVIDENCE:
        want = revealed_optimum(least, plan, known)
        assert bound_at(problem, plan, table, known) == pytest.approx(want, rel=1e-9)


def test_a_surcharge_counts_only_if_all_its_features_are_in_the_table():
    made = planned(a_problem(), "A", "BCDE", [])
    whole = a_problem(groups=(Group("visit", 4.0, ("B", "C")),))
    assert table_of(whole, made).is_exact
    check(whole, made, table_of(whole, made))
    cut = a_problem(groups=(Group("visit", 4.0, ("A", "B")),))
    assert not table_of(cut, made).is_exact
    check_least(cut, a_problem(), made, table_of(cut, made))


def test_a_value_that_is_impossible_adds_nothing():
    problem = a_problem({"H": [[1.0, 0.0], [1.0, 0.0]]})
    made = planned(problem, *PLANS[3])
    table = table_of(problem, made)
    assert np.isfinite(table.likelihoods).all()
    at_first = {"H": "0"}  # of the two values of H, the only one
    assert bound_at(problem, made, table, {}) == bound_at(problem, made, table, at_first) > 0


def test_without_time_there_is_no_table():
    deadline = Deadline(1000.0)
    deadline.stop()
    problem = a_problem()
    with pytest.raises(TooLargeError, match="not solved in time"):
        table_of(problem, planned(problem, "A", "BCDE", []), deadline=deadline)


def test_an_empty_table_has_no_entry():
    table = no_reveal_table(3)
    assert len(table.value) == len(table.likelihoods) == len(table.part_start) == 0
    assert table.hidden.shape == (0, 2)
    assert not table.is_exact
    assert table.part_of.tolist() == [-1, -1, -1]
    assert table.digit_step.tolist() == table.value_step.tolist() == [0, 0, 0]
