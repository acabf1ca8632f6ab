from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.problems import noisy_bayes, structured
from helpers.solving import RULES, optimum
from helpers.strategies import possible_evidence, problems, with_discounts
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voilattice import FeatureCosts, budgets, build_policy, load_problem
from voilattice.budgets import Deadline, memory_limit
from voilattice.compiled.arrays import UPPER
from voilattice.errors import TooLargeError
from voilattice.optimal.search import trials
from voilattice.optimal.search.anytime import search_optimum
from voilattice.optimal.search.bounds.pools import Shape
from voilattice.optimal.search.bounds.repeats import repeat_bound
from voilattice.optimal.search.trials import Search
from voilattice.policy.builder import PolicyBuilder

FOREVER = Deadline()


def searched(problem, *, table=None, expansions=None, starts=()):
    """A search with a table of so many states, left alone or stopped early."""
    search = Search(problem)
    if table is not None:
        search.reveal(FOREVER, max_states=table)
    for name in starts:
        search.start_from(build_policy(problem, name))
    search.run(FOREVER, max_expansions=expansions)
    return search


def is_supported(problem):
    try:
        Search(problem)
    except TooLargeError:  # bundles, or probabilities that are too extreme
        return False
    return True


def slack(cost):
    return 1e-9 * max(1.0, cost)


def cost_of_choices(search):
    """What the policy of the upper bounds costs, by building it."""
    builder = PolicyBuilder(search.problem)
    return builder.build("found", lambda s: search.choose(s.known)).expected_total_cost


tables = st.sampled_from([None, 1, 8, 30, 100, 10**6])


@pytest.mark.slow
@examples(300)
@given(problem=problems(max_features=5), table=tables, seed=st.none() | st.integers(0, 2**32 - 1))
def test_left_alone_it_ends_with_the_optimum(problem, table, seed):
    problem = problem if seed is None else with_discounts(problem, seed)
    assume(is_supported(problem))
    search = searched(problem, table=table)
    want = optimum(problem).lower_bound
    assert search.is_settled
    assert search.lower == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert search.upper == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert cost_of_choices(search) == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@examples(300)
@given(problem=problems(max_features=4), table=tables, n=st.integers(0, 25), seed=st.integers(0))
def test_stopped_at_any_moment_the_interval_holds_the_optimum(problem, table, n, seed):
    problem = problem.with_evidence(possible_evidence(problem, seed, 0.2))
    assume(is_supported(problem))
    want = optimal_cost(problem)
    search = searched(problem, table=table, expansions=n)
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    cost = cost_of_choices(search)
    assert want - slack(want) <= cost <= search.upper + slack(want)


def states_of(search):
    """The evidence of every state of a search, with its probability and its two bounds."""
    space, rows = search._space, search._rows
    for at in np.flatnonzero(rows.amounts[:, 0]).tolist():
        key = [int(word) for word in rows.words[at, 3:]]
        known = {}
        for i, feature in enumerate(search.features):
            size = int(space.sizes[i])
            digit = key[space.word[i]] // int(space.radix[i]) % (size + 1)
            if digit < size:
                name = search.problem.features[feature]
                known[name] = search.problem.states(name)[digit]
        yield known, *rows.amounts[at, :3].tolist()


@pytest.mark.slow
@examples(200)
@given(problem=problems(max_features=4), table=tables, repeats=st.booleans(), n=st.integers(1, 30))
def test_the_bounds_hold_in_every_state(problem, table, repeats, n):
    assume(is_supported(problem))
    search = Search(problem)
    if table is not None:
        search.reveal(FOREVER, max_states=table)
    if repeats:
        search.repeat(Deadline(2.0))
    search.run(FOREVER, max_expansions=n)
    for known, mass, lower, upper in states_of(search):
        # Evidence of the problem does not pay for a group a second time.
        here = problem.with_evidence(known)
        want = mass * optimal_cost(here)
        assert lower <= want + slack(want)
        assert want <= upper + slack(want)


@pytest.mark.slow
@examples(150)
@given(problem=problems(max_features=5), n=st.integers(1, 12))
def test_only_an_optimal_policy_is_called_exact(problem, n):
    assume(is_supported(problem))
    best = optimum(problem).expected_total_cost
    rules = (RULES["greedy"], RULES["greedy-la"])
    search = search_optimum(problem, rules, first=None, deadline=FOREVER, max_states=n)
    found = search.policy("found")
    assert len(found.nodes) <= n
    assert found.lower_bound <= best + slack(best)
    assert best <= found.expected_total_cost + slack(best)
    if found.exact:
        assert found.expected_total_cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    else:
        assert found.status != "ok"


def test_states_are_packed_into_several_words():
    problem = noisy_bayes(45)
    search = searched(problem, expansions=50)
    assert search._rows.words.shape[1] == 3 + 2
    known = [frozenset(known.items()) for known, *_ in states_of(search)]
    assert len(set(known)) == len(known) == search.n_states


@pytest.mark.slow
@examples(100)
@given(problem=problems(max_features=5), table=tables)
def test_it_never_costs_more_than_the_policies_it_starts_from(problem, table):
    assume(is_supported(problem))
    names = ("greedy", "greedy-la", "batch")
    search = searched(problem, table=table, expansions=0, starts=names)
    costs = [build_policy(problem, name).expected_total_cost for name in names]
    assert search.upper <= min(costs) + slack(min(costs))


@pytest.mark.parametrize("name", ["asia", "liver", "diabetes"])
@pytest.mark.parametrize("table", [None, 1_000])
def test_forced_on_problems_that_are_solved_exactly(name, table):
    problem = load_problem(name)
    search = searched(problem, table=table)
    assert search.is_settled
    assert search.upper == pytest.approx(optimum(problem).lower_bound, abs=1e-7)


def test_what_is_revealed_is_cheap():
    problem = noisy_bayes(8)
    costs = FeatureCosts({f: 1.0 + k * 5 % 8 for k, f in enumerate(problem.features)})
    problem = replace(problem, costs=costs)
    search = Search(problem)
    search.reveal(FOREVER, max_states=1_000)
    prices = problem.costs.prices
    assert 0 < len(search.revealed) < 8
    others = set(problem.features) - search.revealed
    assert max(prices[f] for f in search.revealed) <= min(prices[f] for f in others)


def test_a_hidden_screen_is_revealed_and_its_features_are_dropped():
    parents = {"H": ["Y"], "Z": ["Y"], **{f"X{i}": ["H"] for i in range(6)}}
    problem = structured(parents, features=["Z", *(f"X{i}" for i in range(6))])
    search = Search(problem)
    search.reveal(FOREVER, max_states=12)
    assert search.revealed == {"H"}
    assert search.lower <= optimum(problem).lower_bound + 1e-9
    search.run(FOREVER)
    assert search.upper == pytest.approx(optimum(problem).lower_bound, rel=1e-9)


@settings(max_examples=30)
@given(problem=problems(max_features=5), table=st.integers(1, 200))
def test_the_gap_is_at_most_the_price_of_what_is_revealed(problem, table):
    assume(is_supported(problem))
    search = Search(problem)
    search.reveal(FOREVER, max_states=table)
    want = optimum(problem).lower_bound
    assert search.lower <= want + slack(want)
    if search._table.is_exact:
        price = problem.costs.cost(search.revealed, problem.evidence)
        assert want <= search.lower + price + slack(want)


def test_a_small_memory_budget_ends_the_search_with_its_bounds():
    problem = load_problem("heart")
    want = optimum(problem).lower_bound
    with memory_limit(4 << 20):
        search = searched(problem)
    assert search.is_full
    assert not search.is_settled
    assert search.lower <= want <= search.upper
    assert search.certificate.status == "memory"
    assert search.certificate.note


def test_bounds_tighten_and_are_told():
    told = []
    search = Search(load_problem("diabetes"))
    search.run(Deadline(), progress=lambda n, i: told.append((n, *i)))
    assert told
    assert all(np.diff([low for _, low, _ in told]) >= 0)
    assert all(np.diff([high for _, _, high in told]) <= 0)


def over():
    deadline = Deadline(1000.0)
    deadline.stop()
    return deadline


def high_stakes(n=5, seed=0):
    return replace(noisy_bayes(n, seed), misclassification=[[0, 450], [250, 0]])


@pytest.mark.parametrize("seed", range(2))
def test_the_policy_of_the_upper_bounds_is_written_down(seed):
    problem = high_stakes(seed=seed)
    search = searched(problem)
    policy = search.policy("found", FOREVER, 10_000)
    assert policy.name == "found"
    assert policy.n_acquisitions > 1
    assert (policy.exact, policy.status) == (True, "ok")
    assert policy.expected_total_cost == pytest.approx(optimal_cost(problem))
    assert search.action == problem.feature_mask(policy.root.features)


def test_what_is_not_written_in_time_or_has_no_room_is_left_open():
    search = searched(high_stakes())
    policy = search.policy("found", over(), 10_000)
    assert (len(policy.nodes), policy.open_share) == (1, 1.0)
    assert (policy.exact, policy.status) == (False, "time")
    assert policy.expected_total_cost == pytest.approx(search.now)
    policy = search.policy("found", FOREVER, 3)
    assert len(policy.nodes) == 3
    assert 0.5 < policy.open_share < 1  # one of the two results needs no more
    assert (policy.exact, policy.status) == (False, "memory")
    assert len(search.policy("found", FOREVER, 2).nodes) == 1


@pytest.mark.parametrize("n_rows", [16, 1 << 16])
def test_all_states_of_a_policy_to_start_from_are_expanded(monkeypatch, n_rows):
    monkeypatch.setattr(trials, "FIRST_ROWS", n_rows)
    problem = high_stakes()
    policy = build_policy(problem, "greedy-la")
    search = Search(problem)
    search.start_from(policy)
    assert search.best_start is policy
    mine = float(search._rows.amounts[search._root(), UPPER])
    assert mine <= policy.expected_total_cost + slack(mine)
    assert search.n_expanded == len(search._states_of(policy))


def test_without_time_a_policy_to_start_from_is_kept_as_it_is():
    problem = high_stakes()
    search = Search(problem)
    for name in ("none", "greedy-la", "none"):
        search.start_from(build_policy(problem, name), over())
    policy = build_policy(problem, "greedy-la")
    assert search.n_expanded == 0
    assert search.upper == policy.expected_total_cost
    assert search.best_start == policy
    assert search.action == problem.feature_mask(policy.root.features)


def test_the_states_of_a_policy_are_those_on_its_paths():
    problem = high_stakes()
    policy, search = build_policy(problem, "greedy-la"), Search(problem)
    paths = []

    def follow(number, known):
        paths.append(frozenset(known.items()))
        node = policy.nodes[number]
        for branch in getattr(node, "branches", ()):
            found = dict(zip(node.features, branch.states, strict=True))
            follow(branch.child, {**known, **found})

    follow(len(policy.nodes) - 1, {})
    rows = search._states_of(policy)
    found = [
        frozenset(
            (problem.features[k], problem.states(problem.features[k])[v])
            for k, v, size in zip(search.features, row, search._space.sizes, strict=True)
            if v < size
        )
        for row in rows
    ]
    assert found[0] == frozenset()
    assert sorted(map(sorted, found)) == sorted(map(sorted, set(paths)))
    assert [len(known) for known in found] == sorted(len(known) for known in found)


def test_the_table_of_states_grows_if_there_is_room_for_both():
    search = Search(high_stakes())
    n_rows, row = len(search._rows.amounts), search._rows.amounts.strides[0] + 1
    assert not search._grow(Deadline(0))
    assert not search.is_full
    with memory_limit(3 * n_rows * row - 1):
        assert not search._grow(None)
    assert search.is_full
    assert len(search._rows.amounts) == n_rows
    with memory_limit(3 * n_rows * row):
        assert search._grow(None)
    assert len(search._rows.amounts) == 2 * n_rows
    assert (search.n_states, search.upper) == (1, search.now)


def test_a_table_that_is_not_solved_in_time_is_tried_again_with_a_tenth(monkeypatch):
    tried = []

    def solve_table(self, deadline, max_states):
        tried.append((deadline.seconds_left, max_states))
        raise TooLargeError("late")

    monkeypatch.setattr(budgets, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(Search, "_solve_table", solve_table)
    search = Search(high_stakes())
    search.reveal(Deadline(2.0))
    rate = trials.TABLE_PARTS_PER_SECOND / 2  # of two classes
    assert tried == [(1.4, int(1.4 * rate)), (2.0, int(0.2 * rate))]
    assert search.revealed == frozenset()
    search.reveal(Deadline(), max_states=7)
    with memory_limit(1 << 10):
        search.reveal(Deadline())
    assert tried[2:] == [(None, 7)] * 2 + [(None, 1 << 6)] * 2


def test_the_better_bound_is_kept_if_the_hub_is_large(monkeypatch):
    problem = high_stakes()
    bound = repeat_bound(problem, engine="python", shape=Shape(1, 0))
    assert len(bound.tables.prior) == 1

    def at(small_hub, lower, revealed=True):
        monkeypatch.setattr(trials, "SMALL_HUB", small_hub)
        given = SimpleNamespace(tables=bound.tables, lower=lambda: lower, hub=("H",))
        monkeypatch.setattr(
            trials, "repeat_bound", lambda *_, **options: asked.append(options) or given
        )
        search = Search(problem)
        if revealed:
            search.reveal(FOREVER, max_states=100)
            assert search.revealed
        before = search.lower
        search.repeat(FOREVER)
        assert search.lower == pytest.approx(max(before, min(lower, search.upper)))
        return bool(search.revealed), search.hub

    asked = []
    low, high = 0.0, search_lower(problem) + 0.5
    assert at(0, low) == (True, None)
    assert at(0, high) == (False, ("H",))
    assert at(1, low) == at(1, high) == (True, ("H",))
    assert at(0, low, revealed=False) == (False, ("H",))
    assert [options["max_hub_states"] for options in asked] == [0, 0, 1, 1, trials.MAX_HUB_STATES]


def search_lower(problem):
    search = Search(problem)
    search.reveal(FOREVER, max_states=100)
    return search.lower


def test_where_the_bound_comes_from_is_said():
    search = Search(high_stakes())
    assert search.certificate.note == (
        "The bound knows only that any feature costs at least its price."
    )
    assert search.certificate.status == "time"
    search.reveal(FOREVER, max_states=100)
    n = len(search.revealed)
    assert n > 1
    note = f"The bound is of a search as if {n} cheap features could be had for nothing"
    assert search.certificate.note == f"{note}."
    search.repeat(FOREVER)
    again = "most features could be bought again and again"
    assert search.certificate.note == f"{note}, or {again}."
    search.run(FOREVER)
    assert (search.certificate.exact, search.certificate.note) == (True, "")
