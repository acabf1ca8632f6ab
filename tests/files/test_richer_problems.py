"""The built-in problems with decisions, constraints, limits and visits: what their READMEs say."""

from dataclasses import replace
from importlib.resources import files

import pytest
from helpers.solving import POLICIES

from voilattice import build_policy, load_problem, value, write_problem
from voilattice.files.problems import builtin_problems
from voilattice.policy.policy import Acquisition

RICHER = ("car", "heart-treadmill", "heart-visits")
TREADMILL = {"thalach", "exang", "oldpeak", "slope"}


@pytest.fixture(scope="module")
def optimal():
    return {name: build_policy(load_problem(name), "optimal") for name in RICHER}


def uses(policy, feature):
    """Return how likely the policy acquires the feature."""
    return sum(path.probability for path in policy.paths() if feature in dict(path.evidence))


def steps(policy):
    """Return each acquisition of the unfolded tree, with what is known before it."""
    stack = [(policy.root, {})]
    while stack:
        node, known = stack.pop()
        if isinstance(node, Acquisition):
            yield known, frozenset(node.features), node.price
            for branch in node.branches:
                found = zip(node.features, branch.states, strict=True)
                stack.append((policy.nodes[branch.child], {**known, **dict(found)}))


@pytest.mark.parametrize("name", builtin_problems())
def test_built_in_problems_are_written_and_read(name, tmp_path):
    problem = load_problem(f"builtin:{name}")
    assert load_problem(write_problem(problem, tmp_path / name)) == problem


@pytest.mark.parametrize("name", RICHER)
def test_the_optimum_is_proved_and_no_policy_costs_less(name, optimal):
    found = optimal[name]
    assert found.exact
    assert found.lower_bound == pytest.approx(found.expected_total_cost)
    for other in POLICIES:
        cost = build_policy(load_problem(name), other).expected_total_cost
        assert cost >= found.expected_total_cost - 1e-9, other


@pytest.mark.parametrize("name", RICHER)
def test_people_read_full_names(name):
    problem = load_problem(name)
    assert set(problem.labels) == {problem.target, *problem.features}
    assert problem.currency


@pytest.mark.parametrize("name", ["heart-treadmill", "heart-visits"])
def test_the_problems_on_the_heart_differ_from_heart_as_they_say(name):
    problem, heart = load_problem(name), load_problem("heart")
    assert problem.network == heart.network
    assert problem.costs.prices == heart.costs.prices
    assert problem.costs.groups == heart.costs.groups
    doubled = heart.with_expected("symmetric", 1000)
    assert problem.misclassification == pytest.approx(doubled.misclassification)
    assert not heart.labels


def test_the_car_is_towed_where_it_smells_of_petrol(optimal):
    tows = [dict(path.evidence) for path in optimal["car"].paths() if path.leaf.decision == "tow"]
    assert {"sound": "click", "lights": "bright", "hood": "clean", "smell": "petrol"} in tows
    assert build_policy(load_problem("car"), "none").root.decision == "tow"


@pytest.mark.parametrize("policy", POLICIES)
def test_no_spark_is_made_before_the_air_is_known_to_be_clear(policy):
    for known, features, _ in steps(build_policy(load_problem("car"), policy)):
        if {"jump", "spark"} & features:
            assert known["smell"] == "none"
        if {"voltage", "jump", "pressure", "plug"} & features:
            assert "hood" in {*known, *features}
        if "spark" in features:
            assert "plug" in {*known, *features}
        if "pressure" in features:
            assert known.get("gauge") != "empty"


def test_the_second_test_with_tools_costs_less_on_the_car(optimal):
    paid = {(*features, price) for _, features, price in steps(optimal["car"])}
    assert {("plug", 16), ("plug", 4), ("spark", 4)} <= paid  # the plug comes first
    assert ("spark", 16) not in paid


def test_forgetting_the_smell_would_be_allowed_by_not_if():
    """`not_if` forbids what is known; the optimum then makes its sparks first, and smells later."""
    problem = load_problem("car")
    careless = replace(
        problem,
        constraints=tuple(
            replace(each, only_if=(), not_if=(("smell", "petrol"),)) if each.only_if else each
            for each in problem.constraints
        ),
    )
    policy = build_policy(careless, "optimal")
    assert any("smell" not in known for known, x, _ in steps(policy) if {"jump", "spark"} & x)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_treadmill_without_a_resting_ecg_and_an_age_under_55(policy):
    for known, features, _ in steps(build_policy(load_problem("heart-treadmill"), policy)):
        if TREADMILL & features:
            assert known["age"] == "<54.5"
            assert "restecg" in {*known, *features}


def test_the_resting_ecg_is_bought_for_the_treadmill_alone(optimal):
    heart = load_problem("heart-treadmill")
    assert value(heart, {"restecg"}).evi == pytest.approx(0)
    share = uses(optimal["heart-treadmill"], "restecg")
    assert share == pytest.approx(0.118, abs=5e-4)
    readme = (files("voilattice") / "problems/heart-treadmill/README.md").read_text()
    assert f"The optimal policy buys it all the same, for {100 * share:.0f} % of the" in readme
    for path in optimal["heart-treadmill"].paths():
        bought = [x for x, _ in path.evidence]
        if "restecg" in bought:
            assert bought[bought.index("restecg") + 1] in TREADMILL
    free = build_policy(load_problem("heart").with_expected("symmetric", 1000), "optimal")
    assert uses(free, "restecg") == 0
    assert free.expected_total_cost < optimal["heart-treadmill"].expected_total_cost


@pytest.mark.parametrize("policy", POLICIES)
def test_there_are_at_most_three_visits_and_each_is_paid(policy):
    problem = load_problem("heart-visits")
    found = build_policy(problem, policy)
    assert found.depth <= 3
    for known, features, price in steps(found):
        alone = problem.costs.cost(features, {**known, **problem.evidence})
        assert price == pytest.approx(alone)
        assert price >= 20


def test_the_limit_of_three_visits_costs_something(optimal):
    problem = load_problem("heart-visits")
    costs = [
        build_policy(
            replace(problem, limits=replace(problem.limits, rounds=n)), "optimal"
        ).expected_total_cost
        for n in (1, 2, 3, 4)
    ]
    assert costs == sorted(costs, reverse=True)
    assert len({round(cost, 2) for cost in costs}) == 4
    assert costs[2] == pytest.approx(optimal["heart-visits"].expected_total_cost)
