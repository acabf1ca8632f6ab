from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from helpers.problems import impossible_state, noisy_bayes, twins, varied
from helpers.solving import RULES, cost_of, optimum
from helpers.strategies import problems, with_own_costs
from helpers.table_dp import optimal_cost
from helpers.worlds import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import (
    ConditionalCost,
    Lattice,
    Network,
    Problem,
    emc,
    load_problem,
    value,
)
from voilattice.budgets import Deadline, memory_budget, memory_limit
from voilattice.consultation.advice import advise
from voilattice.errors import TooLargeError
from voilattice.model.acquisition import PathLimits
from voilattice.optimal.search import ao_star
from voilattice.optimal.search.ao_star import Search
from voilattice.policy import situation as situations
from voilattice.policy.policy import Acquisition, Certificate
from voilattice.policy.relevance import Relevance
from voilattice.policy.solvers import build_policy
from voilattice.valuation import pairs
from voilattice.valuation.best_set import BestMask

STARTS = (RULES["greedy-la"], RULES["batch"])


def slack(cost):
    return 1e-9 * max(1.0, cost)


@pytest.mark.slow
@examples(100)
@given(problem=problems(max_features=4), n=st.integers(0, 25))
def test_stopped_at_any_moment_the_interval_holds_the_optimum(problem, n):
    want = optimal_cost(problem, largest=4)
    search = Search(problem, STARTS, max_expansions=n)
    assert search.n_expanded <= n
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    cost = search.policy("found").expected_total_cost
    assert want - slack(want) <= cost <= search.upper + slack(want)
    assert cost <= build_policy(problem, "greedy-la").expected_total_cost + slack(want)


@pytest.mark.slow
@examples(100)
@given(problem=problems(max_features=5))
def test_left_alone_it_ends_with_the_optimum(problem):
    search = Search(problem, STARTS)
    want = optimum(problem).lower_bound
    assert search.exact
    assert search.upper == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert search.policy("found").expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["asia", "liver", "diabetes"])
def test_forced_on_problems_that_are_solved_exactly(name):
    problem = load_problem(name)
    search = Search(problem, STARTS)
    assert search.exact
    assert search.upper == pytest.approx(optimum(problem).lower_bound, abs=1e-7)


def test_bounds_tighten_and_are_told():
    told = []
    diabetes = load_problem("diabetes")
    Search(diabetes, STARTS, max_expansions=60, progress=lambda n, i: told.append((n, *i)))
    assert [n for n, _, _ in told] == list(range(1, len(told) + 1))
    for (_, low, high), (_, lower, upper) in pairwise(told):
        assert low - 1e-9 <= lower <= upper <= high + 1e-9


class Discount:
    """The more at once, the cheaper each."""

    def cost(self, features, evidence):
        return max(2.0 * len(features) ** 0.5 - 0.1 * len(evidence), 0.0) if features else 0.0


def test_prices_of_a_users_own_may_make_sets_cheap():
    problem = replace(load_problem("figure3"), costs=Discount())
    found = optimum(problem)
    assert found.exact
    want = optimal_cost(problem, largest=4)
    assert want < optimal_cost(problem) - 1e-6  # one by one is dearer
    assert found.expected_total_cost == pytest.approx(want, abs=1e-9)
    figure1 = replace(load_problem("figure1"), costs=Discount())
    for name in ("batch", "markov-blanket"):
        cost = build_policy(figure1, name).expected_total_cost
        assert optimum(figure1).expected_total_cost <= cost + 1e-9


@pytest.mark.slow
def test_with_many_prices_of_a_users_own_nothing_is_certified_but_what_holds():
    heart = replace(load_problem("heart"), costs=Discount())
    found = optimum(heart, time_limit=2.0)
    assert not found.exact
    # No policy can be cheaper than deciding with everything known, for nothing.
    blanket = value(heart, Lattice(heart).acquirable_core).expected_emc
    assert found.lower_bound == pytest.approx(blanket, rel=1e-9)
    assert found.expected_total_cost <= build_policy(heart, "batch").expected_total_cost


def weak_signs(n):
    """Naive Bayes with many weak and cheap features: its states are beyond any memory."""
    rng = np.random.default_rng(0)
    names = [f"X{k:02d}" for k in range(n)]
    tables = {"Y": [0.6, 0.4]}
    for name in names:
        p, shift = rng.uniform(0.2, 0.75), rng.uniform(0.05, 0.2)
        tables[name] = [[p, 1 - p], [p + shift, 1 - p - shift]]
    network = Network.from_tables(
        {name: ["a", "b"] for name in ("Y", *names)}, {name: ["Y"] for name in names}, tables
    )
    prices = {name: float(rng.integers(1, 5)) for name in names}
    return Problem.create(network, "Y", prices, ("symmetric", 200.0))


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: load_problem("hepatitis"), lambda: weak_signs(25)])
def test_with_little_memory_there_is_a_valid_policy_and_an_honest_interval(make):
    problem = make()
    with memory_limit(64 << 20):
        found = optimum(problem, time_limit=4.0)
    cost = found.expected_total_cost
    assert found.lower_bound <= cost + slack(cost)
    assert found.lower_bound > 0
    assert cost <= build_policy(problem, "none").expected_total_cost + slack(cost)
    if problem.title:  # hepatitis can be solved where there is room
        exact = optimum(problem).lower_bound
        assert found.lower_bound - slack(cost) <= exact <= cost + slack(cost)


def test_many_prices_of_a_users_own_end_the_search_when_nothing_is_left_to_look_into():
    problem = replace(noisy_bayes(9), costs=Discount(), misclassification=[[0, 90], [50, 0]])
    found = optimum(problem)
    assert not found.exact  # not every set of nine features is tried
    cheapest = min(build_policy(problem, name).expected_total_cost for name in RULES)
    assert found.lower_bound - 1e-9 <= found.expected_total_cost <= cheapest + 1e-9
    assert advise(problem, "optimal").features == set(found.root.features)
    assert cost_of(problem, "optimal").certificate.exact is False


@pytest.mark.slow
@examples(40)
@given(problem=problems(max_features=3), seed=st.integers(0, 2**32 - 1))
def test_with_own_prices_the_optimum_may_buy_any_set(problem, seed):
    # A price that is low for a pair alone must count as the cheapest step.
    own = with_own_costs(problem, seed)
    want = optimal_cost(own, largest=3)
    found = optimum(own)
    assert found.exact
    assert found.expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-9)
    for n in (0, 1, 2):
        search = Search(own, STARTS, max_expansions=n)
        assert search.lower - slack(want) <= want <= search.upper + slack(want)


@pytest.mark.slow
@settings(max_examples=30)
@given(problem=problems(min_features=3, max_features=4), n=st.integers(0, 6))
def test_bounds_from_streamed_parts_hold(problem, n):
    # No table fits: EMC(e, R) is added up from parts, each with its weight.
    want = optimal_cost(problem, largest=4)
    whole = Search(problem, STARTS, max_expansions=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(situations, "LAZY_CELLS", 0)
        patch.setattr(ao_star, "LAZY_CELLS", 3)
        search = Search(problem, STARTS, max_expansions=n)
    assert search.lower - slack(want) <= want <= search.upper + slack(want)
    assert search.lower == pytest.approx(whole.lower, rel=1e-9, abs=1e-9)


def rare_and_grave():
    """A sign that is seen once in 1e15 and then leaves much open, with stakes to match."""
    q = 1e-15
    tables = {
        "Y": [q, 1 - q],
        "X": [[0.5, 0.5], [q, 1 - q]],
        "Z": [[0.9, 0.1], [0.3, 0.7]],
        "W": [[0.6, 0.4], [0.5, 0.5]],
    }
    network = Network.from_tables(
        {name: ["a", "b"] for name in tables}, {name: ["Y"] for name in "XZW"}, tables
    )
    prices = {"X": 1.0, "Z": 30.0, "W": 40.0}
    return Problem.create(network, "Y", prices, [[0, 1e10], [1e18, 0]])


@pytest.mark.parametrize("cells", [None, 0])
def test_what_is_rare_and_grave_counts(cells):
    problem = rare_and_grave()
    want = optimal_cost(problem, exactly=True)
    with pytest.MonkeyPatch.context() as patch:
        if cells is not None:
            patch.setattr(situations, "LAZY_CELLS", cells)
            patch.setattr(ao_star, "LAZY_CELLS", 3)
        search = Search(problem, ())
        policy = search.policy("found")
        assert search.exact
        assert search.upper == pytest.approx(want, rel=1e-9)
        assert policy.expected_total_cost == pytest.approx(want, rel=1e-9)
        assert len(policy.root.branches) == 2
        start = Search(problem, (), max_expansions=0)
    whole = Search(problem, (), max_expansions=0)
    assert start.lower == pytest.approx(whole.lower, rel=1e-9)
    assert len(build_policy(problem, "greedy").root.branches) == 2


class OnlyTogether:
    """Forty each; any two or more together cost one."""

    def cost(self, features, evidence):
        return [0.0, 40.0, 1.0][min(len(features), 2)]


@pytest.mark.parametrize("n", [0, 1, None])
def test_a_set_cheaper_than_its_parts_counts_in_the_bound_of_a_state_not_looked_into(n):
    problem = replace(noisy_bayes(4), costs=OnlyTogether(), misclassification=[[0, 90], [50, 0]])
    want = optimal_cost(problem, largest=4)
    assert want < emc(problem) - 1
    search = Search(problem, (), max_expansions=n)  # no policy to start from hides the bound
    assert search.lower <= want + 1e-9 <= search.upper + 2e-9
    if n is None:
        assert search.exact
        assert search.upper == pytest.approx(want, abs=1e-9)


@pytest.mark.slow
def test_a_policy_that_is_searched_for_keeps_to_its_number_of_states():
    heart = load_problem("heart")
    with memory_limit(200_000):
        cut = build_policy(heart, "optimal", max_states=5, time_limit=2.0)
        assert len(cut.nodes) <= 5
        assert cut.open_share > 0
        assert len(build_policy(heart, "optimal", time_limit=2.0).nodes) > 5


@pytest.mark.slow
def test_what_ended_the_search_is_said():
    many = replace(noisy_bayes(14), misclassification=[[0, 900], [500, 0]])
    with memory_limit(1_000_000):
        found = build_policy(many, "optimal", time_limit=20.0)
        assert (found.exact, found.status) == (False, "memory")
        reasons = advise(many, "optimal", time_limit=20.0).reasons
        best = "This is the best found in the memory budget. It is not proved to be optimal."
        assert best in reasons
    own = replace(noisy_bayes(9), costs=Discount(), misclassification=[[0, 90], [50, 0]])
    assert build_policy(own, "optimal").status == "ok"
    reasons = advise(own, "optimal").reasons
    assert any(reason.startswith("With prices of your own not every set") for reason in reasons)
    assert reasons[-1] == ao_star.SOURCE


class Referee:
    """The search as the module describes it, over evidence, without tables and queues.

    The bounds of all states are found anew until nothing changes.
    """

    def __init__(self, problem, sets=()):
        self.problem, self.relevance, self.sets = problem, Relevance(problem), sets
        self.bounds, self.steps, self.n_left = {}, {}, {}
        self.root = self.add({})

    def add(self, known):
        problem = self.problem
        key = self.relevance.key(problem.merge_evidence(known))
        if key not in self.bounds:
            left = problem.feature_names(key.relevant)
            now = value(problem, left, known)
            wholes = [left & s for s in self.sets if s <= left]
            singles = [frozenset({f}) for f in problem.features if f in left]
            prices = [self.price(s, known) for s in (*singles, *wholes)]
            lower = min(now.emc, min(prices, default=np.inf) + now.expected_emc)
            self.bounds[key] = (lower, now.emc, now.emc, 0)
            self.n_left[key] = (known, (*singles, *wholes))
        return key

    def price(self, features, known):
        return self.problem.costs.cost(frozenset(features), self.problem.merge_evidence(known))

    def expand(self):
        key = self.root
        while key in self.steps:
            _, price_and_outcomes = min(
                self.steps[key].items(), key=lambda step: self.through(step[1])[0]
            )
            outcomes = price_and_outcomes[1]
            widths = [p * (self.bounds[k][1] - self.bounds[k][0]) for p, k in outcomes]
            key = outcomes[widths.index(max(widths))][1]
        known, choices = self.n_left[key]
        self.steps[key] = {}
        for chosen in choices:
            outcomes = []
            names = [f for f in self.problem.features if f in chosen]
            for states in product(*(self.problem.states(f) for f in names)):
                found, p = dict(known), 1.0
                for f, state in zip(names, states, strict=True):
                    p *= probability(self.problem, found, f, state) if p else 0.0
                    found[f] = state
                if p > 0:
                    outcomes.append((p, self.add(found)))
            self.steps[key][chosen] = (self.price(chosen, known), outcomes)
        while self.tighten():
            pass

    def through(self, step):
        price, outcomes = step
        return tuple(price + sum(p * self.bounds[k][i] for p, k in outcomes) for i in (0, 1))

    def tighten(self):
        changed = False
        for key, steps in self.steps.items():
            lower, upper, now, action = self.bounds[key]
            ways = {chosen: self.through(step) for chosen, step in steps.items()}
            best = min(ways, key=lambda chosen: ways[chosen][1])
            if ways[best][1] < upper:
                upper, action = ways[best][1], self.problem.feature_mask(best)
            lower = min(max(lower, min([now, *(low for low, _ in ways.values())])), upper)
            changed |= (lower, upper) != self.bounds[key][:2]
            self.bounds[key] = (lower, upper, now, action)
        return changed


def probability(problem, known, feature, state):
    """P(x | e), from the posteriors of the problem that has the feature for its target."""
    from voilattice.model.elimination import joint_table

    network = problem.network
    states = problem.node_states(problem.merge_evidence(known))
    table = joint_table(network, [network.index(feature)], states)
    return float(table[problem.states(feature).index(state)] / table.sum())


SEARCHED = {
    "noisy Bayes": replace(noisy_bayes(4), misclassification=[[0, 90], [50, 0]]),
    "varied": replace(varied(), misclassification=[[0, 200], [140, 0]]),
    "with evidence": replace(
        varied().with_evidence({"C": "C0"}), misclassification=[[0, 200], [140, 0]]
    ),
    "own prices": replace(
        noisy_bayes(4, 2), costs=Discount(), misclassification=[[0, 200], [140, 0]]
    ),
}


def subsets_of(problem):
    names = problem.features
    return [
        frozenset(f for k, f in enumerate(names) if s >> k & 1)
        for s in range(1 << len(names))
        if s.bit_count() > 1
    ]


@pytest.mark.parametrize("name", SEARCHED)
def test_the_search_takes_the_way_that_the_module_describes(name):
    problem = SEARCHED[name]
    told = []
    search = Search(problem, (), progress=lambda n, interval: told.append((n, *interval)))
    assert search.exact
    sets = subsets_of(problem) if name == "own prices" else ()
    referee = Referee(problem, sets)
    start = Search(problem, (), max_expansions=0)
    assert start.n_expanded == 0
    assert (start.lower, start.upper) == pytest.approx(referee.bounds[referee.root][:2])
    assert len(told) > 2
    for n, lower, upper in told:
        referee.expand()
        assert (n, lower, upper) == (n, *map(pytest.approx, referee.bounds[referee.root][:2]))
    assert search.n_expanded == len(told)
    assert search.action == referee.bounds[referee.root][3]
    assert len(search._nodes) == len(referee.bounds)
    for key, node in search._nodes.items():
        assert (node.lower, node.upper, node.emc) == pytest.approx(referee.bounds[key][:3])


@pytest.mark.parametrize("n", range(4))
def test_no_more_states_are_looked_into_than_allowed(n):
    assert Search(SEARCHED["noisy Bayes"], (), max_expansions=n).n_expanded == n


@pytest.mark.parametrize("n", [1, 3])
def test_the_search_ends_when_progress_says_so(n):
    search = Search(SEARCHED["noisy Bayes"], (), progress=lambda n_expanded, _: n_expanded == n)
    assert search.n_expanded == n
    assert not search.exact


@pytest.mark.parametrize("rules", [["greedy-la", "none"], ["none", "greedy-la"]])
def test_without_time_to_write_the_policy_found_the_cheapest_first_policy_is_there(rules):
    problem = SEARCHED["noisy Bayes"]
    greedy = build_policy(problem, "greedy-la")
    for most, want in [
        (len(greedy.nodes), greedy.expected_total_cost),
        (len(greedy.nodes) - 1, emc(problem)),  # greedy's policy has too many states
    ]:
        writing = Deadline(1000.0)
        search = Search(
            problem, [RULES[rule] for rule in rules], deadline=writing, until=Deadline(),
            max_states=most, max_expansions=0,
        )  # fmt: skip
        writing.stop()
        assert search.policy("first").expected_total_cost == pytest.approx(want)


def test_a_state_not_looked_into_decides_or_follows_the_best_first_policy():
    problem = SEARCHED["noisy Bayes"]
    assert Search(problem, (), max_expansions=0).action == 0
    greedy, none = build_policy(problem, "greedy-la"), build_policy(problem, "none")
    assert greedy.expected_total_cost < none.expected_total_cost - 1
    for rules in (["greedy-la"], ["greedy-la", "none"], ["none", "greedy-la"]):
        search = Search(problem, [RULES[rule] for rule in rules], max_expansions=0)
        assert search.upper == pytest.approx(greedy.expected_total_cost)
        assert search.action == problem.feature_mask(greedy.root.features)
        again = search.policy("again")
        assert again.name == "again"
        assert again.expected_total_cost == pytest.approx(greedy.expected_total_cost)
        assert len(again.nodes) == len(greedy.nodes)


def test_a_first_policy_that_costs_more_than_deciding_is_not_followed():
    problem = replace(SEARCHED["noisy Bayes"], misclassification=[[0, 3.0], [2.0, 0]])
    search = Search(problem, [RULES["markov-blanket"]], max_expansions=0)
    assert build_policy(problem, "markov-blanket").expected_total_cost > emc(problem)
    assert (search.upper, search.action) == (pytest.approx(emc(problem)), 0)


def test_a_first_policy_of_too_many_states_is_left_out(monkeypatch):
    monkeypatch.setattr(ao_star, "MAX_START_STATES", 2)
    search = Search(SEARCHED["noisy Bayes"], STARTS, max_expansions=0)
    assert search.upper == pytest.approx(emc(SEARCHED["noisy Bayes"]))


def test_the_interval_is_certified():
    problem = SEARCHED["noisy Bayes"]
    stopped = Search(problem, (), max_expansions=2)
    assert not stopped.exact
    assert stopped.lower < stopped.upper
    assert stopped.certificate == Certificate(stopped.lower, False, "time", ao_star.SOURCE)
    found = stopped.policy("found")
    assert isinstance(found.root, Acquisition)
    assert found.certificate == stopped.certificate
    ended = Search(problem, ())
    assert ended.exact
    assert ended.certificate == Certificate(ended.lower, True, "ok")
    assert ended.lower == pytest.approx(ended.upper)
    policy = ended.policy("found")
    assert policy.certificate.lower_bound <= policy.expected_total_cost


@pytest.mark.parametrize("room", [0, 1, 2, 6])
def test_the_search_ends_when_memory_for_nodes_does(monkeypatch, room):
    problem = SEARCHED["noisy Bayes"]
    monkeypatch.setattr(
        ao_star, "BYTES_PER_NODE", memory_budget() // room if room else 2 * memory_budget()
    )
    search = Search(problem, ())
    # The root is a node; the first look adds two for each of the four features.
    assert search.n_expanded == (0 if room < 2 else 1)
    assert search.certificate == Certificate(search.lower, False, "memory", ao_star.SOURCE)


def test_a_search_that_just_fits_the_memory_is_not_ended_by_it(monkeypatch):
    problem = SEARCHED["noisy Bayes"]
    n_nodes = len(Search(problem, (), max_expansions=1)._nodes)
    assert n_nodes == 9
    monkeypatch.setattr(ao_star, "BYTES_PER_NODE", memory_budget() // (n_nodes + 1))
    assert Search(problem, (), max_expansions=1).certificate.status == "time"
    monkeypatch.setattr(ao_star, "BYTES_PER_NODE", memory_budget() // n_nodes)
    assert Search(problem, (), max_expansions=1).certificate.status == "memory"


def over():
    deadline = Deadline(0)
    while not deadline.is_over:
        pass
    return deadline


def test_without_time_nothing_is_looked_into_and_no_rule_is_followed():
    problem, asked = SEARCHED["noisy Bayes"], []
    search = Search(problem, [lambda situation: asked.append(situation) or 1], deadline=over())
    assert search.n_expanded == 0
    assert asked == []
    assert (search.upper, search.action) == (pytest.approx(emc(problem)), 0)
    assert search.certificate.status == "time"


def streamed(problem, largest, most=1 << 28, **options):
    """Search where no table over R fits, and parts of `largest` cells do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(situations, "LAZY_CELLS", 0)
        patch.setattr(ao_star, "LAZY_CELLS", largest)
        patch.setattr(ao_star, "MAX_STREAMED", most)
        return Search(problem, (), **options)


@pytest.mark.parametrize("name", ["noisy Bayes", "varied", "with evidence"])
@pytest.mark.parametrize("largest", [2, 4, 8, 1000])
@pytest.mark.parametrize("n", [0, 1])
def test_bounds_do_not_depend_on_the_parts_that_they_come_from(name, largest, n):
    problem = SEARCHED[name]
    whole = Search(problem, (), max_expansions=n)
    parts = streamed(problem, largest, max_expansions=n)
    assert (parts.lower, parts.upper) == pytest.approx((whole.lower, whole.upper), abs=1e-9)
    assert parts.action == whole.action
    for key, node in parts._nodes.items():
        assert node.lower == pytest.approx(whole._nodes[key].lower, abs=1e-9)


def test_the_parts_of_a_table_are_as_large_as_may_be():
    problem = SEARCHED["noisy Bayes"]  # two classes, four features of two values: 32 cells
    for largest, n_parts in [(32, 1), (31, 2), (16, 2), (15, 4), (8, 4), (4, 8), (2, 16)]:
        search = streamed(problem, largest, max_expansions=0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(situations, "LAZY_CELLS", 0)
            patch.setattr(ao_star, "LAZY_CELLS", largest)
            situation = search._builder.at({})
            parts = list(search._parts(situation, [2, 2, 2, 2]))
        assert len(parts) == n_parts
        assert sum(table.sum() for table, _ in parts) == pytest.approx(1.0)
        assert all(table.size * n_parts == 32 for table, _ in parts)


def test_a_bound_that_is_too_dear_to_find_is_the_cheapest_price():
    problem = SEARCHED["noisy Bayes"]
    full = value(problem, problem.features).expected_emc
    assert full > 1
    assert streamed(problem, 4, most=32, max_expansions=0).lower == pytest.approx(1.0 + full)
    assert streamed(problem, 4, most=31, max_expansions=0).lower == pytest.approx(1.0)


def test_without_time_for_the_parts_the_bound_is_the_cheapest_price():
    assert streamed(SEARCHED["noisy Bayes"], 4, deadline=over()).lower == pytest.approx(1.0)


def test_with_more_own_prices_than_are_tried_nothing_is_exact():
    for n, tries_all in [(8, True), (9, False)]:
        problem = replace(noisy_bayes(n), costs=Discount(), misclassification=[[0, 9], [5, 0]])
        search = Search(problem, (), max_expansions=0)
        assert search._tries_all == tries_all
        if not tries_all:  # even the least price is unknown
            full = value(problem, problem.features).expected_emc
            assert search.lower == pytest.approx(full)
            assert not search.exact


def test_a_bound_of_zero_is_not_said_to_come_from_a_problem_without_limits():
    names = [f"X{k}" for k in range(9)]  # each of them is a copy of Y, and more than are tried
    tables = {"Y": np.array([0.4, 0.6]), **{name: np.eye(2) for name in names}}
    states = {name: ["T", "F"] for name in tables}
    network = Network.from_tables(states, {name: ["Y"] for name in names}, tables)
    problem = Problem(network, "Y", names, Discount(), [[0, 9], [5, 0]])
    search = Search(problem, (), max_expansions=0)
    assert search.lower == 0
    assert search.certificate.note == ao_star.SOURCE


def test_deciding_is_exact_where_nothing_pays():
    problem = twins(30.0, 30.0)
    search = Search(problem, ())
    assert search.exact
    assert (search.n_expanded, search.action) == (0, 0)
    assert search.lower == search.upper == pytest.approx(20.0)


@pytest.mark.parametrize("largest", [None, 2])
def test_outcomes_that_are_impossible_are_left_out(largest):
    problem = impossible_state()
    search = Search(problem, ()) if largest is None else streamed(problem, largest)
    assert search.n_expanded > 0
    assert search.exact
    assert search.upper == pytest.approx(optimal_cost(problem), abs=1e-9)
    assert all(known.known.get("A") != "c" for known in search._nodes.values())


def test_a_first_policy_that_costs_as_much_as_deciding_is_not_followed():
    problem = twins(20.0)  # it tells Y for what deciding costs
    search = Search(problem, [RULES["markov-blanket"]], max_expansions=0)
    assert build_policy(problem, "markov-blanket").expected_total_cost == search.upper == 20.0
    assert search.action == 0


def test_of_first_policies_that_cost_the_same_the_first_one_is_followed():
    for rules in ([1, 2], [2, 1]):
        search = Search(
            twins(5.0, 5.0),
            [lambda situation, mask=mask: 0 if situation.known else mask for mask in rules],
            max_expansions=0,
        )
        assert (search.upper, search.action) == (5.0, rules[0])


def test_a_first_policy_decides_where_its_time_is_up():
    deadline = Deadline(1000.0)
    search = Search(twins(5.0), [lambda situation: deadline.stop() or 1], deadline=deadline)
    assert (search.upper, search.action) == (5.0, 1)


def test_a_given_policy_that_costs_as_much_as_deciding_is_not_followed():
    problem = twins(20.0)
    first = build_policy(problem, "markov-blanket")
    assert Search(problem, (), first=first, max_expansions=0).action == 0
    cheap = twins(5.0)
    first = build_policy(cheap, "markov-blanket")
    search = Search(cheap, (), first=first, max_expansions=0)
    assert (search.upper, search.action) == (5.0, 1)


def test_a_policy_that_cannot_be_written_down_is_the_first_one(monkeypatch):
    problem = SEARCHED["noisy Bayes"]
    started, alone = (Search(problem, rules, max_expansions=0) for rules in (STARTS, ()))

    def build(*_):
        raise TooLargeError("too large")

    monkeypatch.setattr(ao_star.PolicyBuilder, "build", build)
    assert started.policy("found").expected_total_cost == pytest.approx(started.upper)
    with pytest.raises(TooLargeError):
        alone.policy("found")


def test_a_bound_that_is_given_is_named_as_the_source():
    problem = SEARCHED["noisy Bayes"]
    start = Search(problem, (), max_expansions=0)
    given = (start.lower + start.upper) / 2
    search = Search(problem, (), max_expansions=0, at_least=given)
    assert search.certificate == Certificate(given, False, "time", ao_star.GIVEN_SOURCE)


def test_few_features_are_few_sets():
    assert [ao_star._n_sets_of(most, 4) for most in range(6)] == [1, 5, 11, 15, 16, 16]


def test_the_best_sets_that_the_search_tries_end_in_time(monkeypatch):
    seconds = []

    def best_mask(*given, deadline, **named):
        seconds.append(deadline.seconds_left)
        return BestMask(0, None)  # no time is spent, so that the machine does not matter

    monkeypatch.setattr(situations, "best_mask", best_mask)
    monkeypatch.setattr(ao_star, "MAX_STREAMED", 0)  # bounds of large tables do not matter here
    problem = replace(noisy_bayes(26), limits=PathLimits(rounds=2))
    problem = replace(problem, misclassification=50 * problem.misclassification)
    Search(problem, (), deadline=Deadline(600.0), max_expansions=1)
    assert seconds
    assert all(left is not None and left <= 600.0 for left in seconds)


@pytest.mark.parametrize("n_bytes", [0, 8, 40, 63, 64, 128, 600, 5000])
@pytest.mark.parametrize("time_limit", [1.0, None])
def test_cyclic_prices_with_a_few_bytes_of_memory_end(n_bytes, time_limit):
    problem = noisy_bayes(3)
    first, second, _ = problem.features
    state, other = problem.states(first)[0], problem.states(second)[0]
    cheaper = (
        ConditionalCost(first, {second: other}, 0.2),
        ConditionalCost(second, {first: state}, 0.2),
    )
    problem = replace(problem, costs=replace(problem.costs, conditional=cheaper))
    pairs._inference.cache_clear()  # a join tree that is kept is not counted again
    with memory_limit(n_bytes):
        try:
            policy = build_policy(problem, "optimal", time_limit=time_limit)
        except TooLargeError:  # not even greedy fits
            assert n_bytes < 128
            with pytest.raises(TooLargeError):
                build_policy(problem, "greedy", time_limit=time_limit)
            return
    greedy = build_policy(problem, "greedy")
    best = build_policy(problem, "optimal").expected_total_cost
    assert policy.expected_total_cost <= greedy.expected_total_cost + slack(best)
    assert policy.lower_bound <= best + slack(best)
    assert policy.status == "memory" or policy.expected_total_cost == pytest.approx(best)
