import numpy as np
import pandas as pd
import pytest
from helpers.rich_worlds import rich_problem
from helpers.solving import POLICIES
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from voilattice import Network, Problem, cost, load_problem
from voilattice.cases.application import apply_policy
from voilattice.cases.tables import draw_cases
from voilattice.consultation.advice import advise
from voilattice.errors import InputError, UnknownNameError
from voilattice.policy.comparison import compare
from voilattice.policy.policy import Certificate
from voilattice.policy.solvers import (
    Limits,
    RuleSolver,
    Step,
    build_policy,
    policy_from_rule,
    register,
    unregister,
)
from voilattice.valuation.valuation import posterior

ASIA = load_problem("asia")


@settings(max_examples=25)
@given(problem=problems(max_features=4))
def test_every_path_applied_to_its_own_case_costs_what_it_says(problem):
    policy = build_policy(problem, "greedy-la")
    paths = list(policy.paths())
    cases = {name: [dict(path.evidence).get(name) for path in paths] for name in problem.features}
    applied = apply_policy(policy, cases)
    assert applied.feature_cost == pytest.approx([path.feature_cost for path in paths])
    assert applied.decision.tolist() == [path.leaf.decision for path in paths]
    assert [set(b) for b in applied.bought] == [set(dict(path.evidence)) for path in paths]


def followed(problem, name, row):
    """One case by asking for advice at each turn: what is bought, decided and paid."""
    known, unavailable, bought, paid = {}, set(), (), 0.0
    while True:
        advice = advise(problem.without(unavailable), name, known)
        if advice.decision is not None:
            return set(bought), advice.decision, paid
        lacking = {f for f in advice.features if row[f] is None}
        if lacking:
            unavailable |= lacking
            continue
        paid += cost(problem, advice.features, known)
        known |= {f: row[f] for f in advice.features}
        bought += tuple(advice.features)


@pytest.mark.parametrize("name", ["greedy", "greedy-la", "batch", "markov-blanket"])
def test_cases_with_missing_cells_are_followed_as_advice_would(name):
    rng = np.random.default_rng(5)
    rows = [
        {f: rng.choice(["yes", "no", None], p=[0.4, 0.3, 0.3]) for f in ASIA.features}
        for _ in range(40)
    ]
    for start in ({}, {"smoke": "yes"}):
        policy = build_policy(ASIA, name, start)
        rows = [row | start for row in rows]
        applied = apply_policy(policy, {f: [row[f] for row in rows] for f in ASIA.features})
        for k, row in enumerate(rows):
            bought, decision, paid = followed(policy.problem, name, row)
            assert set(applied.bought[k]) == bought
            assert applied.decision[k] == decision
            assert applied.feature_cost[k] == pytest.approx(paid)


def test_what_pandas_calls_missing_is_missing():
    network = Network.from_tables(
        {"Y": ["0", "1"], "X": ["0", "1"]},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[0.9, 0.1], [0.1, 0.9]]},
    )
    policy = build_policy(Problem.create(network, "Y", {"X": 1}, [[0, 9], [9, 0]]), "greedy")
    for column in (
        pd.Series([0, 1, None]),  # floats
        pd.Series([0, 1, pd.NA], dtype="Int64"),
        pd.Series(["0", "1", pd.NA], dtype="string"),
    ):
        applied = apply_policy(policy, pd.DataFrame({"X": column}))
        assert applied.decision.tolist() == ["0", "1", "0"]
        assert applied.feature_cost.tolist() == [1, 1, 0]


def test_what_is_missing_is_done_without():
    policy = build_policy(ASIA, "greedy-la")
    cases = {"tub": [None, "no"], "xray": ["yes", "yes"], "smoke": ["yes", float("nan")]}
    cases |= {"dysp": ["yes", ""], "lung": ["yes", "no"], "bronc": ["no", "no"]}
    applied = apply_policy(policy, cases)
    assert "tub" not in applied.bought[0]
    assert applied.bought[1][:2] == ("tub", "xray")
    assert not {"smoke", "dysp"} & set(applied.bought[1])
    assert applied.total_cost == pytest.approx(
        applied.feature_cost + applied.misclassification_cost
    )
    everything_missing = apply_policy(policy, {"xray": [None]})
    assert everything_missing.bought[0] == ()
    assert everything_missing.total_cost is None


def test_a_hundred_thousand_rows_are_followed_together():
    rng = np.random.default_rng(0)
    cases = {name: rng.choice(["yes", "no"], 100_000) for name in ASIA.features}
    policy = build_policy(ASIA, "batch")
    applied = apply_policy(policy, pd.DataFrame(cases))
    assert len(applied.decision) == 100_000
    first = {name: cases[name][0] for name in ASIA.features}
    assert policy.follow(first).decision == applied.decision[0]


def test_cases_that_make_no_sense_are_named():
    policy = build_policy(ASIA, "batch")
    with pytest.raises(UnknownNameError, match=r"xray, row 2: no state 'maybe'; its states are"):
        apply_policy(policy, {"xray": ["yes", "maybe"]})
    with pytest.raises(InputError, match=r"the columns are of different lengths: \[1, 2\]"):
        apply_policy(policy, {"tub": ["no"], "xray": ["no", "no"]})
    smoker = build_policy(ASIA, "none", {"smoke": "yes"})
    with pytest.raises(InputError, match="smoke, row 2: must be 'yes', the problem's own evid"):
        apply_policy(smoker, {"smoke": ["yes", "no"]})
    with pytest.raises(InputError, match="n_jobs: must be a number of processes"):
        compare(ASIA, [1], n_jobs=0)
    with pytest.raises(InputError, match="^lung, row 1: the true class is missing; leave this"):
        apply_policy(build_policy(ASIA, "none"), {"lung": [None]})
    rule = policy_from_rule(ASIA, lambda e: set() if e else {"xray"})
    with pytest.raises(InputError, match="row 1: xray is missing, and policy 'rule' cannot be"):
        apply_policy(rule, {"xray": [None]})


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("max_states", [1, 4, 9])
def test_beyond_its_open_leaves_a_policy_is_followed_as_if_it_were_whole(name, max_states):
    for problem in (ASIA, load_problem("figure3"), ASIA.with_evidence({"smoke": "yes"})):
        cases = draw_cases(problem.network, 60, np.random.default_rng(3))
        cases = {k: [problem.evidence.get(k, x) for x in column] for k, column in cases.items()}
        whole = apply_policy(build_policy(problem, name), cases)
        cut = build_policy(problem, name, max_states=max_states)
        for applied in (apply_policy(cut, cases), apply_policy(name, cases, problem=problem)):
            assert applied.decision.tolist() == whole.decision.tolist()
            assert [set(b) for b in applied.bought] == [set(b) for b in whole.bought]
            assert applied.total_cost == pytest.approx(whole.total_cost)


@settings(max_examples=25)
@given(problem=problems(max_features=4))
def test_lazy_following_is_the_tree(problem):
    policy = build_policy(problem, "greedy-la")
    paths = list(policy.paths())
    cases = {name: [dict(path.evidence).get(name) for path in paths] for name in problem.features}
    applied = apply_policy("greedy-la", cases, problem=problem)
    assert applied.feature_cost == pytest.approx([path.feature_cost for path in paths])
    assert applied.decision.tolist() == [path.leaf.decision for path in paths]


def test_a_policy_by_its_name_needs_its_problem():
    with pytest.raises(InputError, match="^problem: is needed with the name of a policy, 'greedy'"):
        apply_policy("greedy", {})
    with pytest.raises(InputError, match="^problem: the policy belongs to another problem"):
        apply_policy(build_policy(ASIA, "none"), {}, problem=load_problem("figure1"))
    with pytest.raises(UnknownNameError, match="no policy 'gredy'"):
        apply_policy("gredy", {}, problem=ASIA)


def test_what_is_impossible_is_named_beyond_the_tree_too():
    cases = {"tub": ["no", "yes"], "either": ["no", "no"]}
    everything = RuleSolver(
        "all", lambda s: 0 if s.known else (1 << len(s.builder.problem.features)) - 1
    )
    network = load_problem("asia").network
    problem = Problem.create(
        network, "lung", {"tub": 1.0, "either": 1.0}, ("symmetric", 100), features=["tub", "either"]
    )
    register(everything)
    try:
        with pytest.raises(InputError, match="^row 2: .*impossible"):
            apply_policy("all", cases, problem=problem)
    finally:
        unregister("all")


def test_an_open_leaf_of_a_rule_that_nobody_knows_decides():
    rule = RuleSolver("mine", lambda s: 1 if not s.known else 0)
    cut = rule.build(ASIA, Limits(max_states=1))
    cases = {name: ["yes"] for name in ASIA.features}
    applied = apply_policy(cut, cases)
    assert applied.bought.tolist() == [()]
    assert applied.decision.tolist() == [cut.root.decision]


HEART = load_problem("heart")


def draw_raw(problem, n, seed=0):
    """Cases drawn from the network, with numbers in place of the states of features with bins."""
    rng = np.random.default_rng(seed)
    cases = draw_cases(problem.network, n, rng)
    for name, cuts in problem.bins.items():
        edges = np.array([cuts[0] - 10, *cuts, cuts[-1] + 10])
        codes = np.array([problem.states(name).index(state) for state in cases[name]])
        cases[name] = edges[codes] + rng.random(n) * (edges[codes + 1] - edges[codes]) * 0.99
    return cases


def test_raw_columns_are_followed_as_their_states():
    policy = build_policy(HEART, "batch")
    raw = draw_raw(HEART, 300)
    states = {
        name: [HEART.state_of(name, value) for value in raw[name]] for name in HEART.features
    } | {"class": raw["class"]}
    wanted = apply_policy(policy, states)
    texts = {name: [str(value) for value in column] for name, column in raw.items()}
    for cases in (raw, pd.DataFrame(raw), texts):
        applied = apply_policy(policy, cases)
        assert applied.bought.tolist() == wanted.bought.tolist()
        assert applied.total_cost.tolist() == wanted.total_cost.tolist()
        assert applied.truth.tolist() == raw["class"].tolist()
    assert not wanted.replanned.any()
    assert not wanted.unfinished.any()


@pytest.mark.parametrize("name", ["greedy-la", "batch", "optimal"])
def test_a_case_ends_with_the_posterior_of_what_it_bought(name):
    rng = np.random.default_rng(1)
    cases = draw_raw(HEART, 200)
    for column in HEART.features:
        cases[column] = cases[column].astype(object)
        cases[column][rng.random(200) < 0.2] = None
    applied = apply_policy(build_policy(HEART, name), cases)
    assert applied.posterior.shape == (200, 2)
    for row in range(200):
        known = {feature: cases[feature][row] for feature in applied.bought[row]}
        assert applied.posterior[row] == pytest.approx(list(posterior(HEART, known).values()))
        wanted = {f for f in HEART.features if cases[f][row] is None}
        assert not wanted & set(known)
        if not wanted:
            assert not applied.replanned[row]
    assert applied.replanned.any()


def test_cells_that_stand_for_no_state_are_missing_if_asked():
    policy = build_policy(ASIA, "greedy-la")
    cases = {"tub": ["no", "maybe", "maybe", ""], "xray": ["yes", "yes", 7, "yes"]}
    applied = apply_policy(policy, cases, strict=False)
    assert applied.unseen == {"tub": {"maybe": 2}, "xray": {"7": 1}}
    plain = apply_policy(
        policy, {"tub": ["no", None, None, None], "xray": [*["yes"] * 2, "", "yes"]}
    )
    assert applied.bought.tolist() == plain.bought.tolist()
    assert plain.unseen == {}
    with pytest.raises(UnknownNameError, match="lung, row 1: no state 'q'"):
        apply_policy(policy, cases | {"lung": ["q"] * 4}, strict=False)


@pytest.mark.parametrize("by_name", [True, False])
def test_a_result_of_probability_0_is_missing_if_asked(by_name):
    everything = RuleSolver(
        "one-by-one", lambda s: 1 << min(s.axes) if s.axes else 0, forgets=False
    )
    network = load_problem("asia").network
    problem = Problem.create(
        network, "lung", {"tub": 1.0, "either": 4.0}, ("symmetric", 100),
        features=["tub", "either"],
    )  # fmt: skip
    cases = {"tub": ["no", "yes"], "either": ["no", "no"]}
    register(everything)
    try:
        policy = "one-by-one" if by_name else build_policy(problem, "one-by-one")
        with pytest.raises(InputError, match="^row 2: "):
            apply_policy(policy, cases, problem=problem)
        applied = apply_policy(policy, cases, problem=problem, strict=False)
    finally:
        unregister("one-by-one")
    assert applied.impossible.tolist() == applied.replanned.tolist() == [False, True]
    assert applied.bought.tolist() == [("tub", "either"), ("tub",)]
    assert applied.feature_cost.tolist() == [5.0, 1.0]


@examples(40)
@given(problem=problems(max_features=5), seed=st.integers(0, 1000))
def test_any_table_is_followed_to_the_end(problem, seed):
    rng = np.random.default_rng(seed)
    cases = {
        f: rng.choice(np.array([*problem.states(f), None, "odd"], dtype=object), 30)
        for f in problem.features
        if f not in problem.evidence and rng.random() < 0.9
    }
    cases.setdefault("row", np.arange(30))
    for name in ("batch", "optimal"):
        policy = build_policy(problem, name)
        applied = apply_policy(policy, cases, strict=False)
        again = apply_policy(name, cases, problem=problem, strict=False)
        assert [set(b) for b in applied.bought] == [set(b) for b in again.bought]
        assert applied.feature_cost == pytest.approx(again.feature_cost)
        assert applied.decision.tolist() == again.decision.tolist()
        for row in range(30):
            known = {feature: cases[feature][row] for feature in applied.bought[row]}
            belief = list(posterior(problem, known).values())
            assert applied.posterior[row] == pytest.approx(belief, abs=1e-9)


def test_cases_that_lack_the_same_share_one_plan(monkeypatch):
    asked = []
    next_step = RuleSolver.next_step

    def noted(self, problem, evidence, limits):
        asked.append((problem.features, tuple(evidence.items())))
        return next_step(self, problem, evidence, limits)

    policy = build_policy(ASIA, "greedy-la")
    monkeypatch.setattr(RuleSolver, "next_step", noted)
    cases = draw_cases(ASIA.network, 5_000, np.random.default_rng(0))
    cases["xray"] = np.full(5_000, None)
    applied = apply_policy(policy, cases)
    assert applied.replanned.sum() > 4_000
    assert len(asked) == len(set(asked)) < 20


def test_the_time_limit_is_for_all_cases_together():
    cases = draw_raw(HEART, 50)
    now = apply_policy("optimal", cases, problem=HEART, time_limit=0)
    assert now.unfinished.all()
    greedy = apply_policy("greedy", cases, problem=HEART, time_limit=0)
    assert now.bought.tolist() == greedy.bought.tolist()
    assert now.total_cost.tolist() == greedy.total_cost.tolist()
    assert not greedy.unfinished.any()  # it is what is followed at the limit
    built = apply_policy(build_policy(HEART, "batch"), cases, time_limit=0)
    assert not built.unfinished.any()  # following a tree needs no plan


@pytest.mark.parametrize("seed", range(20))
def test_at_the_limit_every_policy_goes_on_as_greedy(seed):
    rng = np.random.default_rng(seed)
    problem = rich_problem(seed)
    cases = {
        name: rng.choice([*problem.states(name), None], 10).tolist()
        for name in problem.features
        if name not in problem.evidence
    }
    greedy = apply_policy("greedy", cases, problem=problem, strict=False)
    for name in set(POLICIES) - {"none"}:
        late = apply_policy(name, cases, problem=problem, strict=False, time_limit=0)
        if name != "markov-blanket":  # it needs no time where no feature says anything
            assert late.unfinished.all() == (name != "greedy")
        assert late.bought.tolist() == greedy.bought.tolist()
        assert late.feature_cost.tolist() == greedy.feature_cost.tolist()
        assert late.decision.tolist() == greedy.decision.tolist()


def test_a_policy_that_acquires_nothing_needs_no_time():
    cases = draw_raw(HEART, 20)
    for policy in ("none", build_policy(HEART, "none", time_limit=0)):
        now = apply_policy(policy, cases, problem=HEART, time_limit=0)
        assert not any(now.bought)
        assert not now.unfinished.any()


def test_a_step_for_which_there_was_no_time_is_the_greedy_one():
    class Hasty(RuleSolver):
        def next_step(self, problem, evidence, limits):
            return Step(frozenset(), None, Certificate(None, False, "time"))

    cases = draw_cases(ASIA.network, 20, np.random.default_rng(0))
    hasty = apply_policy("none", cases, problem=ASIA, planner=Hasty("hasty", lambda s: 0))
    greedy = apply_policy("greedy", cases, problem=ASIA)
    assert hasty.bought.tolist() == greedy.bought.tolist()
    assert hasty.unfinished.all()


def test_progress_counts_the_cases_that_are_done():
    told = []
    apply_policy(
        build_policy(ASIA, "batch"),
        draw_cases(ASIA.network, 100, np.random.default_rng(0)),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1] == (100, 100)
    assert told == sorted(told)


def test_a_table_has_columns_of_cells():
    policy = build_policy(ASIA, "none")
    with pytest.raises(InputError, match="^cases: must be a data frame or a mapping of columns, g"):
        apply_policy(policy, [1, 2])
    twice = pd.DataFrame([["yes", "no"]], columns=["tub", "tub"])
    with pytest.raises(InputError, match="^tub: must be a list of cells"):
        apply_policy(policy, twice)
    assert len(apply_policy(policy, {}).decision) == 0
    assert len(apply_policy(policy, {"xray": []}).decision) == 0
