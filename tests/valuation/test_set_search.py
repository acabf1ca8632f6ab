"""The search for the set of highest benefit, part by part."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.best_sets import FIXED, grouped, small_tables
from helpers.problems import chain, naive_bayes, noisy_bayes, structured, twins
from helpers.rich_worlds import Referee

from voilattice import Constraint, Discount, FeatureCosts, Network, Problem, engines, load_problem
from voilattice.budgets import Deadline
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import NO_LIMITS, PathLimits
from voilattice.ties import Offer
from voilattice.valuation import bounds, set_search, tables
from voilattice.valuation.best_set import best_set
from voilattice.valuation.tables import Root
from voilattice.valuation.valuation import value


def test_a_bound_from_hidden_causes_is_used_where_tables_do_not_fit():
    problem = load_problem("asia")
    search = set_search.SetSearch(problem, {}, 110.0, Deadline(), "python", None)
    bound = search.worth_bound()
    most = max(
        value(problem, s).evi
        for size in range(7)
        for s in itertools.combinations(problem.features, size)
    )
    assert most <= bound + 1e-9
    assert bound < value(problem, ()).emc - 1  # less than knowing the target


def test_the_set_behind_the_bound_is_a_candidate():
    # The set that separates the target from all features is valued for the bound. It is offered
    # as a candidate there and then: nothing else is looked at.
    problem = noisy_bayes(8)
    free = replace(problem, costs=FeatureCosts(dict.fromkeys(problem.features, 0.0)))
    search = set_search.SetSearch(free, {}, value(free, ()).emc, Deadline(), "python", None)
    bound = search.worth_bound()
    assert search.n_evaluated == 1
    assert free.feature_names(search.best.mask) == set(free.features)
    assert search.best.benefit == pytest.approx(bound, abs=1e-12)


@pytest.mark.parametrize(
    "cost", [[[10, 95], [40, 20]], [[30, 5], [70, 60]], [[0, 100], [80, 0]], [[7, 30], [9, 90]]]
)
def test_without_time_for_a_table_the_bound_is_the_worth_of_knowing_the_target(cost):
    problem = replace(load_problem("asia"), misclassification=cost)
    matrix, prior = np.array(cost, dtype=float), problem.prior
    search = set_search.SetSearch(problem, {}, 110.0, Deadline(0.0), "python", None)
    perfect = sum(p * min(column) for p, column in zip(prior, matrix.T, strict=True))
    assert search.worth_bound() == pytest.approx((matrix @ prior).min() - perfect, abs=1e-12)


def search_of(problem, known=None, deadline=None, limits=NO_LIMITS):
    known = known or {}
    stake = value(problem, (), known).emc
    return set_search.SetSearch(
        problem, known, stake, deadline or Deadline(), "python", None, limits
    )


def test_a_set_is_offered_and_taken_by_the_rule_for_ties():
    search = search_of(twins(1.0, 2.0, 3.0))
    assert search.best == Offer(0.0, 0.0, 0)
    search.offer(0b10, 3.0, 1.0)
    assert search.best.mask == 0b10
    search.offer(0b11, 3.0, 0.5)  # a tie: fewer features win
    assert search.best.mask == 0b10
    search.offer(0b01, 3.0, 1.0)  # and then the first
    assert search.best.mask == 0b01
    search.offer(0b111, 3.5, 9.0)
    assert search.best == Offer(3.5, 9.0, 0b111)


def test_a_node_is_left_when_its_bound_is_below_the_best_or_a_tie_of_more_features():
    search = search_of(twins(1.0, 2.0, 3.0))
    search.best, search.tol = Offer(5.0, 1.0, 0b11), 0.25
    assert search.is_beyond(4.5, 0)
    assert not search.is_beyond(4.75, 0b11)
    assert not search.is_beyond(5.0, 0b11)
    assert search.is_beyond(5.0, 0b111)
    assert search.is_beyond(5.25, 0b111)
    assert not search.is_beyond(5.5, 0b111)
    assert search.is_beyond(4.75, 0b111)


def test_dear_features_are_decided_first_and_then_those_in_order():
    search = search_of(twins(1.0, 3.0, 1.0, 2.0))
    assert search._undecided == (1, 3, 0, 2)
    assert search.decided_at(3) == (-2.0, 3)


def test_only_what_is_relevant_is_decided_where_costs_are_monotone():
    chained = chain(3)
    assert search_of(chained, {"X01": "T"})._undecided == (0,)
    odd = replace(chained, costs=OddPrices())
    assert sorted(search_of(odd, {"X01": "T"})._undecided) == [0, 2]
    assert search_of(odd, {"X01": "T"}).cost_at_least(0b101) == 0.0
    assert search_of(chained).cost_at_least(0b101) == search_of(chained).cost(0b101) == 2.0


class OddPrices:
    """Two features cost less than one."""

    def cost(self, features, evidence):
        return [0.0, 4.0, 1.0, 6.0][len(features)]


def test_what_is_open_is_bounded_by_the_highest_of_all():
    search = search_of(twins(1.0, 2.0))
    assert search.open_bound() == -math.inf
    search._open = [set_search.Node(-3.0, 0, (0,)), set_search.Node(-7.0, 1, (1,))]
    assert search.open_bound() == 7.0
    search._below = 8.0
    assert search.open_bound() == 8.0
    search._unsearched = 9.0
    assert search.open_bound() == 9.0


def test_nodes_are_sorted_by_their_bounds_alone():
    assert set_search.Node(-3.0, 5, (1,)) == set_search.Node(-3.0, 0, ())
    assert set_search.Node(-3.0, 5, (1,)) < set_search.Node(-2.0, 0, ())
    assert not hasattr(set_search.Node(0.0, 0, ()), "__dict__")


def test_a_node_is_split_into_those_with_and_without_its_first_feature():
    search = search_of(twins(1.0, 3.0, 2.0))
    search.best = Offer(0.5, 1.0, 0b1)
    search._split(set_search.Node(-9.0, 0b001, (1, 2)), 9.0)
    opened = sorted((node.kept, node.undecided, node.priority) for node in search._open)
    assert opened == [(0b001, (2,), -8.0), (0b011, (2,), -5.0)]
    search._open.clear()
    search._split(set_search.Node(-4.0, 0b001, (1, 2)), 4.0)  # with B the bound is 0: beyond
    assert [node.kept for node in search._open] == [0b001]


def test_what_a_feature_adds_to_the_cost_is_without_an_overhead_that_is_paid():
    search = search_of(grouped())
    prices = grouped().costs.prices
    added = search._added_costs(
        set_search.Node(0.0, 0b0000001, (1, 2))
    )  # A is kept, C is in its group
    assert added == pytest.approx({1: prices["B"] + 0.75, 2: prices["C"]})


def test_a_table_fits_while_its_cells_and_axes_do():
    search = search_of(grouped())  # 2 classes; A, B and C have 2, 3 and 2 states
    assert search._fits((0, 1, 2), 24)
    assert not search._fits((0, 1, 2), 23)
    assert search._fits((), 2)
    assert not search._fits((), 1)
    many = search_of(naive_bayes(5))
    many._sizes = [1] * 5
    assert many._fits((0,) * (set_search.MAX_AXES - 1), 2)
    assert not many._fits((0,) * set_search.MAX_AXES, 2)
    assert search._root((0, 1, 2), 23) is None
    assert search._root((0, 1, 2), 24).sizes == (2, 3, 2)


def test_a_table_that_does_not_fit_on_the_way_is_none(monkeypatch):
    search = search_of(twins(1.0, 2.0))

    def too_large(*_):
        raise TooLargeError("on the way")

    monkeypatch.setattr(set_search, "root_table", too_large)
    assert search._root((0, 1), 100) is None


@pytest.mark.parametrize("name", ["grouped", "dear stakes", "noisy Bayes"])
def test_a_climb_ends_where_no_single_change_pays(name):
    problem = FIXED[name]
    search = search_of(problem)
    search._climb(1 << 20)
    here = search.best
    assert here.benefit > 0
    for k in search._undecided:
        changed = problem.feature_names(here.mask ^ 1 << k)
        assert value(problem, changed).benefit <= here.benefit + search.tol
    assert here.benefit == pytest.approx(value(problem, problem.feature_names(here.mask)).benefit)
    assert search.n_evaluated % len(search._undecided) == 0
    assert search.n_evaluated >= 2 * len(search._undecided)


def test_a_climb_tries_only_sets_that_fit_and_ends_with_time():
    search = search_of(FIXED["noisy Bayes"])
    search._climb(2 * 2**2)
    assert 0 < search.best.mask.bit_count() <= 2
    without_time = search_of(FIXED["noisy Bayes"], deadline=Deadline(0.0))
    while not without_time._deadline.is_over:
        pass
    without_time._climb(1 << 20)
    assert without_time.n_evaluated == 0


def test_a_set_too_large_to_value_is_not_tried(monkeypatch):
    search = search_of(twins(1.0, 2.0))

    def too_large(*_):
        raise TooLargeError("no")

    monkeypatch.setattr(set_search, "value", too_large)
    search._try(0b01)
    assert (search.n_evaluated, search.best.mask) == (0, 0)


def test_progress_tells_the_sets_evaluated_and_the_gap():
    told = []
    search = search_of(twins(1.0, 2.0))
    search._report()
    search._progress = lambda *now: told.append(now)
    search.n_evaluated, search.best, search._below = 7, Offer(2.0, 0.0, 1), 5.0
    search._report()
    search._below = 1.0
    search._report()
    assert told == [(7, 3.0), (7, 0.0)]


def test_below_a_node_the_worth_is_on_the_scale_of_money():
    root = Root(np.ones(8), (2, 2), 4.0)
    below = set_search._Below((3, 1), 1, root, 10.0, 2.0)
    assert below.worth(2.0) == 2.0
    assert below.kept == 0b1000
    assert set_search._Below((3, 1), 2, root, 10.0, 2.0).kept == 0b1010
    assert set_search._Below((3, 1), 0, root, 10.0, 2.0).kept == 0


def test_the_bound_by_a_separator_is_found_while_its_table_fits(monkeypatch):
    problem = load_problem("asia")
    perfect = search_of(problem, deadline=Deadline(0.0)).worth_bound()
    tight = search_of(problem).worth_bound()
    assert tight < perfect - 1
    cells = []
    original = bounds.scaled_joint_table

    def spy(network, nodes, evidence):
        cells.append(math.prod(network.n_states[node] for node in nodes))
        return original(network, nodes, evidence)

    monkeypatch.setattr(bounds, "scaled_joint_table", spy)
    search_of(problem).worth_bound()
    needed = cells[-1]
    for room, bound in [(needed, tight), (needed - 1, perfect)]:
        search = search_of(problem)
        search._max_cells = room
        assert search.worth_bound() == pytest.approx(bound)
    monkeypatch.setattr(tables, "CELLS_PER_SECOND", needed)
    timed = search_of(problem, deadline=Deadline(100.0))
    assert timed.worth_bound() == pytest.approx(tight)
    monkeypatch.setattr(bounds, "MAX_AXES", 1)
    assert search_of(problem).worth_bound() == pytest.approx(perfect)


def test_the_separator_is_no_candidate_where_it_is_hidden():
    problem = load_problem("asia")
    search = search_of(problem)
    search.worth_bound()
    assert (search.n_evaluated, search.best.mask) == (0, 0)


def test_the_separator_as_a_candidate_has_its_price():
    problem = twins(1.0, 2.0)
    search = search_of(problem)
    bound = search.worth_bound()
    assert bound == pytest.approx(20.0)
    assert search.best == pytest.approx(Offer(17.0, 3.0, 0b11))


def test_the_worth_at_evidence_is_bounded_there():
    problem = replace(noisy_bayes(4), misclassification=[[0, 90], [50, 0]])
    evidence = {"X00": "T"}
    bound = search_of(problem, evidence).worth_bound()
    most = value(problem, {"X01", "X02", "X03"}, evidence).evi
    assert bound == pytest.approx(most)


def test_a_set_whose_own_table_does_not_fit_is_bounded_and_told_apart_from_time():
    # Room for one feature: of larger sets only a bound is known.
    problem = replace(noisy_bayes(3, 1), misclassification=[[0, 90], [50, 0]])
    with small_tables(4) as patch:
        patch.setattr(set_search, "max_table_cells", lambda: 4)
        found = best_set(problem, engine="python")
    assert (found.exact, found.short_of) == (False, "memory")
    assert len(found.features) <= 1
    worths = search_of(problem)
    worths._max_cells = 4
    # Two features at least, at a price of 1 each, and no bound on their worth but that of Y.
    assert found.bound == pytest.approx(worths.worth_bound() - 2.0)
    singles = [value(problem, {f}).benefit for f in problem.features]
    assert found.benefit == pytest.approx(max(singles))


@pytest.mark.parametrize(("cells", "limit"), [(1 << 10, None), (96, 40), (24, 24)])
def test_a_climb_comes_first_where_not_all_fits_into_a_table(monkeypatch, cells, limit):
    problem, climbed = noisy_bayes(6), []  # a table of 128 cells
    original = set_search.SetSearch._climb
    monkeypatch.setattr(
        set_search.SetSearch,
        "_climb",
        lambda self, most: climbed.append(most) or original(self, most),
    )
    monkeypatch.setattr(set_search, "WHOLE_CELLS", cells)
    monkeypatch.setattr(set_search, "SPLIT_CELLS", 40)
    assert best_set(problem, engine="python").exact
    assert climbed == ([] if limit is None else [limit])


def test_numba_is_not_loaded_for_a_moment(monkeypatch):
    used = []
    monkeypatch.setattr(set_search, "is_loaded", lambda: False)
    # Whether or not an earlier run has left the kernel in the cache.
    monkeypatch.setitem(engines.COMPILING_FACTORS, "best_set", 1.0)
    for engine, twin in set_search._TWINS.items():
        monkeypatch.setitem(
            set_search._TWINS, engine, lambda *a, e=engine, t=twin: (used.append(e), t(*a))[1]
        )
    problem = noisy_bayes(13)
    best_set(problem, time_limit=1.0)
    assert used == ["python"]
    best_set(problem)
    assert used == ["python", "compiled"]


# A comes after B, and C can be acquired only once B is known to be T.
RULES = (Constraint("A", after=["B"]), Constraint("C", only_if={"B": "T"}))


def test_a_set_that_cannot_be_acquired_is_not_taken():
    search = search_of(replace(twins(1.0, 2.0, 3.0), constraints=RULES))
    search.offer(0b001, 9.0, 1.0)  # A without B
    search.offer(0b100, 9.0, 3.0)  # C, which is closed
    search.offer(0b111, 9.0, 6.0)
    assert search.best.mask == 0
    search.offer(0b011, 5.0, 3.0)
    assert search.best == Offer(5.0, 3.0, 0b011)
    known = search_of(search.problem, {"B": "T"})
    known.offer(0b001, 4.0, 1.0)  # B is there already
    known.offer(0b101, 5.0, 4.0)
    assert known.best.mask == 0b101


@pytest.mark.parametrize("limits", [{"spend": 2.5}, {"features": 1}, {"rounds": 0}])
def test_a_set_beyond_the_limits_is_not_taken(limits):
    search = search_of(twins(1.0, 2.0, 3.0), limits=PathLimits(**limits))
    search.offer(0b011, 9.0, 3.0)
    assert search.best.mask == 0
    search.offer(0b010, 5.0, 2.0)
    assert search.best.mask == (0 if "rounds" in limits else 0b010)


def test_a_feature_may_be_kept_if_what_it_needs_is_kept_or_left():
    search = search_of(replace(twins(1.0, 2.0, 3.0), constraints=RULES))
    a, b, c = 0, 1, 2
    assert not search.may_keep(a, 0, 0)
    assert not search.may_keep(a, 0, 0b100)
    assert search.may_keep(a, 0b010, 0)
    assert search.may_keep(a, 0, 0b010)
    assert search.may_keep(b, 0, 0)
    assert not search.may_keep(c, 0b010, 0b001)
    assert search_of(search.problem, {"B": "T"}).may_keep(c, 0, 0)
    assert search_of(search.problem, {"B": "T"}).may_keep(a, 0, 0)


def test_a_feature_may_be_kept_within_the_limits():
    problem = twins(1.0, 2.0, 3.0)
    spend = search_of(problem, limits=PathLimits(spend=2.5))
    assert [spend.may_keep(k, 0, 0) for k in range(3)] == [True, True, False]
    assert not spend.may_keep(1, 0b001, 0)
    count = search_of(problem, limits=PathLimits(features=2))
    assert count.may_keep(2, 0b001, 0)
    assert not count.may_keep(2, 0b011, 0)


def key_and_lock():
    """A tells much and comes after B, which tells nothing; C and D tell little and cost more."""
    network = Network.from_tables(
        {name: ["T", "F"] for name in "YABCD"},
        {"A": ["Y"], "C": ["Y"], "D": ["Y"]},
        {
            "Y": [0.5, 0.5],
            "A": [[0.95, 0.05], [0.05, 0.95]],
            "B": [0.5, 0.5],
            "C": [[0.55, 0.45], [0.45, 0.55]],
            "D": [[0.55, 0.45], [0.45, 0.55]],
        },
    )
    costs = FeatureCosts({"A": 9.0, "B": 8.0, "C": 7.0, "D": 6.0})
    rules = (Constraint("A", after=["B"]),)
    return Problem.create(network, "Y", costs, [[0, 100], [100, 0]], constraints=rules)


@pytest.mark.parametrize("cells", [4, 8, 16, 1 << 20])
def test_a_feature_that_tells_nothing_is_bought_for_the_one_after_it(cells):
    problem = key_and_lock()
    benefit, sets = Referee(problem).best({})
    with small_tables(cells):
        found = best_set(problem, engine="python")
    assert found.features == {"A", "B"} == sets[0]
    assert found.benefit == pytest.approx(benefit)
    assert found.exact


def test_the_kernel_is_told_what_is_allowed_by_places_of_axes():
    problem = replace(twins(1.0, 2.0, 3.0, 4.0), constraints=RULES)
    search = search_of(problem)
    needs, closed, n_features, spend = set_search._allowed_sets(search, (3, 0, 2, 1))
    assert needs.tolist() == [0, 0b1000, 0, 0]  # A, the second axis, needs B, the fourth
    assert (int(closed), n_features, spend) == (0b0100, 4, math.inf)  # C, the third
    _, closed, _, _ = set_search._allowed_sets(search, (0, 3))
    assert int(closed) == 0b01  # A, because B is not among the axes
    for limits, most, amount in [
        (PathLimits(features=2), 2, math.inf),
        (PathLimits(rounds=1), 4, math.inf),
        (PathLimits(rounds=0), 0, math.inf),
        (PathLimits(spend=7.0), 4, 7.0),
    ]:
        search = search_of(problem, limits=limits)
        _, _, n_features, spend = set_search._allowed_sets(search, (0, 1, 2, 3))
        assert (n_features, spend) == (most, pytest.approx(amount))


def discounted(off, **prices):
    """X tells something; A, B and C tell nothing. Of one discount, so much is taken off."""
    problem = structured({"X": ["Y"], "A": [], "B": [], "C": []})
    costs = FeatureCosts(prices, discounts=(Discount("d", off),))
    return replace(problem, costs=costs)


def test_the_cheapest_opener_of_what_is_useful_is_decided_and_no_other():
    def undecided(problem):
        return problem.feature_names(sum(1 << k for k in search_of(problem)._undecided))

    prices = {"A": 2, "B": 3, "C": 9, "X": 30}
    assert undecided(discounted({"A": 1, "B": 1, "X": 20}, **prices)) == {"A", "X"}
    assert undecided(discounted({"A": 1, "B": 3, "C": 8}, **prices)) == {"X"}  # not X's discount


def test_without_time_for_a_table_it_is_time_that_is_missing():
    problem = replace(noisy_bayes(3, 1), misclassification=[[0, 90], [50, 0]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(set_search, "cells_in_time", lambda deadline: 8.0)  # half: one feature
        found = best_set(problem, engine="python")
    assert (found.exact, found.short_of) == (False, "time")


def test_no_gap_is_wider_than_the_worth_of_all_features():
    problem, gaps = noisy_bayes(5), []
    best_set(problem, engine="python", progress=lambda n, gap: gaps.append(gap))
    assert len(gaps) > 3
    assert max(gaps) <= value(problem, problem.features).evi + 1e-9
