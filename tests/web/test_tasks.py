"""What a worker does: the documents of the command line."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.rich_worlds import Referee, rich_problem
from helpers.serving import waited_for
from helpers.solving import POLICIES
from helpers.ward import WARD, ward

from voilattice import emc, load_problem
from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.model.acquisition import PathLimits
from voilattice.web import tasks
from voilattice.web.tasks import ServedCase
from voilattice.what_if.threshold import find_threshold


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_advice_is_what_the_command_line_says(api, run, policy):
    answer = api.post("/api/v1/advise", json={
        "problem": "asia", "policy": policy, "evidence": {"smoke": "yes"},
    })  # fmt: skip
    printed = run("advise", "asia", "--policy", policy, "--evidence", "smoke=yes", "--json")[1]
    assert answer.json() == json.loads(printed)


@pytest.mark.slow
def test_raw_values_and_what_is_free_are_as_on_the_command_line(api, run):
    asked = {"problem": "heart", "policy": "greedy-la", "unavailable": ["cp"]}
    answer = api.post(
        "/api/v1/advise", json=asked | {"evidence": {"age": 46}, "given": {"ca": 0.0}}
    )
    options = ("--evidence", "age=46", "--given", "ca=0", "--unavailable", "cp", "--json")
    assert answer.json() == json.loads(run("advise", "heart", "--policy", "greedy-la", *options)[1])
    assert api.get("/api/v1/problems/heart").json()["bins"]["age"] == [54.5]
    known = {"problem": "heart", "features": ["cp"], "evidence": {"age": "61.5"}}
    found = api.post("/api/v1/value", json=known).json()
    assert found == api.post("/api/v1/value", json=known | {"evidence": {"age": ">=54.5"}}).json()


@pytest.mark.slow
@pytest.mark.parametrize("together", [[], [["xray", "consent"]]])
@pytest.mark.parametrize("unavailable", [[], ["blood"]])
def test_rounds_and_locked_features_are_as_on_the_command_line(
    api, run, tmp_path, together, unavailable
):
    path = tmp_path / "ward.toml"
    path.write_text(WARD)
    name = api.post("/api/v1/problems", files={"files": ("ward.toml", WARD)}).json()["name"]
    known = {"xray": "clear", "consent": "given"}
    asked = {"problem": name, "policy": "optimal", "evidence": known, "together": together}
    answer = api.post("/api/v1/advise", json=asked | {"unavailable": unavailable})
    options = [word for f, state in known.items() for word in ("--evidence", f"{f}={state}")]
    options += [word for features in together for word in ("--together", ",".join(features))]
    options += [word for feature in unavailable for word in ("--unavailable", feature)]
    printed = run("advise", path, "--policy", "optimal", *options, "--json")[1]
    assert answer.json() == json.loads(printed)
    asked["together"] = [["xray", "blood"]]
    refused = api.post("/api/v1/advise", json=asked).json()
    assert refused["detail"] == "together: 'blood' was not acquired: it is not evidence"


@pytest.mark.slow
def test_what_is_known_stays_though_its_precondition_is_unavailable(api):
    name = api.post("/api/v1/problems", files={"files": ("ward.toml", WARD)}).json()["name"]
    asked = {"problem": name, "unavailable": ["xray"], "evidence": {"biopsy": "clean"}}
    for task, more in (("value", {"features": ["blood"]}), ("advise", {"policy": "greedy"})):
        assert api.post(f"/api/v1/{task}", json=asked | more).status_code == 200


@pytest.mark.slow
def test_value_best_and_lattice_are_what_the_command_line_says(api, run):
    asked = {"problem": "figure3", "stakes": {"kind": "asymmetric", "expected": 70}}
    options = ("--kind", "asymmetric", "--expected", "70", "--json")
    value = api.post("/api/v1/value", json={**asked, "features": ["X3", "X1"]}).json()
    assert value == json.loads(run("value", "figure3", "--features", "X1,X3", *options)[1])
    best = api.post("/api/v1/best", json=asked).json()
    assert best == json.loads(run("best", "figure3", *options)[1])
    lattice = api.post("/api/v1/lattice", json=asked).json()
    printed = json.loads(run("lattice", "figure3", "--values", *options)[1])
    svg = lattice.pop("svg")
    assert [row["size"] for row in lattice.pop("rows")] == [0, 1, 2, 3]
    assert lattice.pop("best")["features"] == best["features"]
    assert lattice == printed
    assert "EVI" in svg
    assert len(re.findall(r'<g class="node[^"]* best"', svg)) == 1


@pytest.mark.slow
def test_a_policy_is_built_in_the_background(api, run):
    begun = api.post("/api/v1/policy", json={"problem": "heart", "policy": "optimal"})
    assert begun.status_code == 202
    found = waited_for(api, begun.json())
    result = found["result"]
    assert "<details" in result.pop("tree")
    assert result.pop("flow").startswith("<svg")
    assert result == json.loads(run("policy", "heart", "--policy", "optimal", "--json")[1])


@pytest.mark.slow
def test_a_comparison_is_built_in_the_background(api, run):
    begun = api.post("/api/v1/compare", json={"problem": "asia", "points": [0, 50, 100]}).json()
    result = waited_for(api, begun)["result"]
    assert result["rows"] == json.loads(run("compare", "asia", "--emc", "0:100:50", "--json")[1])
    assert result["svg"].startswith("<svg")


@pytest.mark.slow
def test_the_api_counts_what_was_acquired_in_a_whole_policy(api):
    text = WARD.replace("rounds = 3", "rounds = 2")
    name = api.post("/api/v1/problems", files={"files": ("ward.toml", text)}).json()["name"]
    visit = {"xray": "shadow", "consent": "given"}
    asked = {"problem": name, "policy": "optimal", "evidence": visit, "together": [list(visit)]}
    advice = api.post("/api/v1/advise", json=asked).json()
    assert (advice["features"], advice["left"]["rounds"]) == (["biopsy"], 1)
    whole = waited_for(api, api.post("/api/v1/policy", json=asked).json())["result"]
    assert whole["depth"] == 1
    assert "buy biopsy" in whole["tree"]
    used_up = asked | {"together": []}  # two rounds, so none is left
    assert api.post("/api/v1/advise", json=used_up).json()["action"] == "decide"
    whole = waited_for(api, api.post("/api/v1/policy", json=used_up).json())["result"]
    assert whole["depth"] == 0


@pytest.mark.slow
def test_features_that_are_not_available(api):
    asked = {"problem": "heart", "policy": "greedy-la", "unavailable": ["cp", "thal"]}
    offered = {f for c in api.post("/api/v1/advise", json=asked).json()["candidates"]
               for f in c["features"]}  # fmt: skip
    assert offered
    assert not offered & {"cp", "thal"}


@pytest.fixture
def asia():
    problem = load_problem("asia")
    tasks.keep("asia", problem)
    return problem


def test_a_problem_with_the_same_changes_is_kept_with_what_was_solved(asia):
    assert ServedCase("asia").problem is asia
    changes = json.dumps({"stakes": {"kind": "symmetric", "expected": 50.0}})
    case = ServedCase("asia", changes, unavailable=("xray",))
    assert case.narrowed is ServedCase("asia", changes, unavailable=("xray",)).narrowed
    assert "xray" not in case.narrowed.features
    assert "xray" in case.problem.features
    assert emc(case.narrowed) == pytest.approx(50)


def test_another_problem_under_the_same_name_replaces_it(asia):
    before = ServedCase("asia", '{"stakes": {"scale": 2}}').problem
    tasks.keep("asia", asia.with_evidence({"smoke": "yes"}))
    after = ServedCase("asia", '{"stakes": {"scale": 2}}').problem
    assert (before.evidence, after.evidence) == ({}, {"smoke": "yes"})


def silent(text, fraction):
    pass


def test_a_large_lattice_has_no_values_no_list_of_sets_and_no_drawing(asia, monkeypatch):
    options = {"containing": [], "top": 2}
    small = tasks.TASKS["lattice"](ServedCase("asia"), silent, **options)
    assert {"sets", "values"} <= set(small)
    assert small["svg"].startswith("<")
    monkeypatch.setattr(tasks, "MAX_VALUED", 3)
    monkeypatch.setattr(tasks, "MAX_DRAWN", 3)
    large = tasks.TASKS["lattice"](ServedCase("asia"), silent, **options)
    assert not {"sets", "values"} & set(large)
    assert (large["nodes"], large["svg"]) == (small["nodes"], None)
    assert [row["count"] for row in large["rows"]] == [row["count"] for row in small["rows"]]
    monkeypatch.setattr(tasks, "MAX_LATTICE", 3)
    with pytest.raises(TooLargeError, match="more than 3 irreducible sets"):
        tasks.TASKS["lattice"](ServedCase("asia"), silent, **options)


def test_a_comparison_tells_how_far_it_is(asia):
    told = []
    tell = lambda *what: told.append(what)  # noqa: E731
    tasks.TASKS["compare"](ServedCase("asia"), tell, points=[0.0, 50.0], seconds=5.0)
    assert told[-1] == ("4 of 4 points", 1.0)  # of both kinds of stakes


def test_what_is_given_is_known_to_every_task(asia):
    given = ServedCase("asia", given={"smoke": "yes"})
    known = ServedCase("asia", evidence={"smoke": "yes"})
    features = {"features": ["xray"]}
    assert tasks.TASKS["value"](given, silent, **features) == tasks.TASKS["value"](
        known, silent, **features
    )
    with pytest.raises(InputError, match="known, so it cannot be unavailable"):
        assert ServedCase("asia", given={"smoke": "yes"}, unavailable=("smoke",)).narrowed


def test_a_batch_answers_each_case_and_says_which_are_wrong(asia):
    cases = [{"evidence": {"smoke": "yes"}}, {"evidence": {"smoke": "maybe"}}, {"given": {}}]
    found = tasks.TASKS["batch"](ServedCase("asia"), silent, "greedy", cases, 20.0)["answers"]
    single = tasks.TASKS["advise"](ServedCase("asia", **cases[0]), silent, "greedy", 20.0)
    assert found[0] == single
    assert found[1]["error"]["status"] == 400
    assert found[1]["error"]["detail"].startswith("evidence.smoke: 'smoke' has no state 'maybe'")
    late = tasks.TASKS["batch"](ServedCase("asia"), silent, "greedy", cases, 0.0)["answers"]
    assert {answer["error"]["status"] for answer in late} == {413}


def test_a_policy_is_followed_for_rows_as_for_a_table(asia):
    rows = [{"tub": "yes", "lung": "yes"}, {"tub": "no", "xray": "no", "lung": "no"}]
    found = tasks.TASKS["apply"](ServedCase("asia"), silent, "greedy-la", rows, 20.0)
    assert [case["bought"] for case in found["cases"]] == [["tub"], ["tub", "xray"]]
    assert found["mean_total_cost"] == pytest.approx(
        sum(case["total_cost"] for case in found["cases"]) / 2
    )
    assert found["rows"] == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"tub": "yes"}, {"xrey": "no"}], "row 2: no feature 'xrey' (nearest: 'xray')"),
        ([{"id": 7, "tub": "yes"}], "row 1: no feature 'id' (there are: "),
    ],
)
def test_a_row_names_features_and_the_target_alone(asia, rows, message):
    with pytest.raises(UnknownNameError) as raised:
        tasks.TASKS["apply"](ServedCase("asia"), silent, "greedy-la", rows, 20.0)
    assert str(raised.value).startswith(message)


def test_a_value_without_a_state_is_refused_or_missing(asia):
    rows = [{"tub": "yes"}, {"tub": "maybe", "xray": "no"}]
    ask = (ServedCase("asia"), silent, "greedy-la", rows, 20.0)
    with pytest.raises(UnknownNameError, match="^tub, row 2: no state 'maybe'"):
        tasks.TASKS["apply"](*ask)
    found = tasks.TASKS["apply"](*ask, strict=False)
    assert found["unseen"] == {"tub": {"maybe": 1}}
    assert found["replanned"] == 1


def test_a_row_in_which_nothing_can_be_had_is_decided(asia):
    found = tasks.TASKS["apply"](ServedCase("asia"), silent, "greedy-la", [{}], 20.0)
    assert [case["bought"] for case in found["cases"]] == [[]]


VISIT = {"evidence": {"xray": "shadow", "consent": "given"}, "together": [["xray", "consent"]]}


@pytest.fixture
def two_visits():
    """A problem with two rounds, and the same with what one round of `VISIT` leaves of it."""
    problem = replace(ward(), limits=PathLimits(rounds=2, spend=120.0))
    tasks.keep("ward", problem)
    left = PathLimits(rounds=1, spend=120.0 - 26.0)
    return problem, replace(problem.with_evidence(VISIT["evidence"]), limits=left)


def ask(task, case, **options):
    return tasks.TASKS[task](ServedCase("ward", **case), silent, **options)


@pytest.mark.parametrize("policy", ["greedy", "batch", "optimal"])
def test_the_whole_policy_goes_on_where_the_advice_stands(two_visits, policy):
    advice = ask("advise", VISIT, policy=policy, seconds=20.0)
    whole = ask("policy", VISIT, policy=policy, seconds=20.0)
    assert whole["depth"] <= 1
    report = ask("report", VISIT, policy=policy, seconds=20.0)["html"]
    assert "94.00 CAD to spend and 1 round" in report
    if policy == "optimal":
        assert advice["features"] == ["biopsy"]
        assert whole["tree"].count("buy biopsy") == 1
        steps = ask("first_steps", VISIT, policy=policy, features=None, seconds=20.0)
        assert whole["expected_total_cost"] == pytest.approx(steps["steps"][0]["cost_to_go"])


def test_a_policy_with_no_round_left_decides(two_visits):
    case = {"evidence": {"xray": "shadow", "age": "young"}}
    whole = ask("policy", case, policy="optimal", seconds=20.0)
    assert (whole["depth"], whole["expected_feature_cost"]) == (0, 0)
    assert ask("best", case, seconds=20.0)["features"] == []
    assert ask("value", case, features=["blood"])["within_limits"] is False
    rows = ask("compare", case, points=[500.0], seconds=20.0)["rows"]
    assert [row["savings"] for row in rows] == pytest.approx([0.0] * len(rows), abs=1e-9)
    sets = ask("lattice", case, containing=[], top=5)["values"]
    assert [found["features"] for found in sets if found["within_limits"]] == [[]]


def test_what_is_left_of_the_limits_is_left_for_sets_and_thresholds(two_visits):
    _, left = two_visits
    found = ask("threshold", VISIT, feature="biopsy", seconds=60.0)
    alone = find_threshold(left, "biopsy")
    assert found["price_threshold"] == pytest.approx(alone.prices.threshold)
    assert found["advice"]["price"]["first"] == ["biopsy"]
    case = {"evidence": {"consent": "given", "age": "young"}}  # two rounds
    assert ask("best", case, seconds=20.0)["features"] == []
    assert ask("best", {"given": case["evidence"]}, seconds=20.0)["features"] != []


def test_a_case_of_a_problem_without_limits_keeps_what_was_solved(asia):
    problem, evidence = ServedCase("asia", evidence={"smoke": "yes"}).start
    assert problem is asia
    assert evidence == {"smoke": "yes"}


@pytest.mark.parametrize("seed", range(8))
def test_a_policy_in_the_middle_of_a_case_is_the_best_that_the_limits_leave(seed):
    problem = rich_problem(seed, ("groups", "discounts", "limits", "rounds", "decisions"))
    tasks.keep("rich", problem)
    rng, referee = np.random.default_rng(seed), Referee(problem)
    free = [f for f in problem.features if f not in problem.evidence]
    names = sorted(rng.permutation(free)[: 1 + seed % 2].tolist())
    cells = [(c, p) for c, p in referee.cells if problem.evidence.items() <= c.items() and p > 0]
    case = cells[int(rng.integers(len(cells)))][0]
    acquired = {f: case[f] for f in names}
    case = ServedCase("rich", evidence=acquired, together=[names])
    found = tasks.TASKS["policy"](case, silent, policy="optimal", seconds=20.0)
    assert found["expected_total_cost"] == pytest.approx(referee.optimum(acquired, [names]))
    steps = tasks.TASKS["first_steps"](case, silent, "optimal", None, 20.0)
    least = min([steps["decide"], *(step["cost_to_go"] for step in steps["steps"])])
    assert found["expected_total_cost"] == pytest.approx(least)
