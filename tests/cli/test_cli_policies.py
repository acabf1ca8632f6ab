"""The commands that build and follow policies."""

import json

import pytest
from helpers.solving import POLICIES
from helpers.ward import WARD


def test_a_policy_as_json(run, tmp_path):
    status, out, err = run("policy", "asia", "--policy", "greedy-la", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["policy"] == "greedy-la"
    assert document["expected_total_cost"] == pytest.approx(
        document["expected_feature_cost"] + document["expected_misclassification_cost"]
    )
    assert document["no_acquisition_cost"] == pytest.approx(110)
    assert document["savings"] == pytest.approx(110 - document["expected_total_cost"])
    assert (document["nodes"], document["paths"], document["depth"]) == (6, 7, 5)


@pytest.mark.parametrize("command", ["policy", "advise"])
def test_the_policy_is_the_optimal_one_unless_another_is_asked_for(run, command):
    assert run(command, "asia", "--json") == run(command, "asia", "--policy", "optimal", "--json")


def test_a_policy_for_people_and_in_files(run, tmp_path):
    files = (tmp_path / "p.json", tmp_path / "p.dot")
    status, out, _ = run(
        *("policy", "figure3", "--policy", "batch", "--text"), "--save", files[0], "--dot", files[1]
    )
    assert status == 0
    assert "├─ X3 = T, X4 = F (45.0 %): decide F, risk 6.00 (F 88.0 %)" in out
    assert json.loads(files[0].read_text())["policy"] == "batch"
    assert files[1].read_text().startswith('digraph "batch" {')
    assert run("policy", "figure3", "--policy", "best")[0] == 2


def test_advice_as_json_and_for_people(run):
    document = json.loads(run("advise", "asia", "--policy", "greedy-la", "--json")[1])
    assert document["action"] == "acquire"
    assert document["features"] == ["tub"]
    assert document["target_set"] == ["dysp", "smoke", "tub", "xray"]
    assert document["decision"] is None
    assert document["candidates"][0]["features"] == ["dysp", "smoke", "tub", "xray"]
    out = run("advise", "asia", "--policy", "greedy")[1]
    assert "Decide: no." in out
    status, out, err = run("advise", "asia", "--policy", "greedy", "--json", "--interactive")
    assert (status, out) == (2, "")
    assert err == "--json: cannot be used together with --interactive\n"


@pytest.mark.slow
def test_a_comparison_for_people_and_in_files(run, tmp_path):
    files = (tmp_path / "c.csv", tmp_path / "c.svg")
    status, out, _ = run(
        *("compare", "asia", "--emc", "0:200:100", "--jobs", "1"),
        "--csv",
        files[0],
        "--plot",
        files[1],
    )
    assert status == 0
    assert "asymmetric EMC" in out
    lines = files[0].read_text().splitlines()
    assert lines[0] == (
        "kind,expected,policy,expected_total_cost,savings,exact,status,lower_bound,at_least,at_most,note"
    )
    assert len(lines) == 1 + 2 * 3 * 6
    assert "greedy-la" in files[1].read_text()
    document = json.loads(run("compare", "asia", "--json")[1])
    assert {row["policy"]: round(row["savings"], 2) for row in document}["greedy-la"] == 42.13


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ("0:200", "--emc: must be FROM:TO:STEP, as in 0:2000:50, got '0:200'"),
        ("a:b:c", "--emc: must be FROM:TO:STEP, as in 0:2000:50, got 'a:b:c'"),
        ("0:9:0", "--emc: must go from FROM >= 0 up to TO in steps above 0, got '0:9:0'"),
        ("9:0:1", "--emc: must go from FROM >= 0 up to TO in steps above 0, got '9:0:1'"),
        ("0:nan:1", "--emc: must go from FROM >= 0 up to TO in steps above 0, got '0:nan:1'"),
        ("0:9e9:1", "--emc: 9,000,000,001 points; there may be at most 10,000"),
    ],
)
def test_a_sweep_that_is_none_is_refused(run, sweep, message):
    assert run("compare", "asia", "--emc", sweep, "--json") == (2, "", f"{message}\n")


def test_a_sweep_sets_the_stakes_itself(run):
    status, out, err = run("compare", "asia", "--emc", "0:9:3", "--expected", "5", "--json")
    assert (status, out) == (2, "")
    assert err == "--expected: cannot be used together with --emc, which sets the stakes too\n"


def test_a_tree_is_not_printed_into_json(run):
    status, out, err = run("policy", "figure1", "--policy", "none", "--text", "--json")
    assert (status, out, err) == (2, "", "--text: cannot be used together with --json\n")


def test_a_plot_needs_a_sweep(run, tmp_path):
    status, out, err = run("compare", "figure1", "--plot", tmp_path / "a.svg")
    assert (status, out) == (2, "")
    assert err == "--plot: needs one sweep, as in --emc 0:2000:50 or --price X=0:50:5\n"


def test_without_time_there_is_a_row_for_each_policy_and_what_stopped_it(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # nothing is wrapped
    status, out, _ = run("compare", "heart", "--time-limit", "0", "--json")
    assert status == 0
    rows = json.loads(out)
    assert [row["policy"] for row in rows] == list(POLICIES)
    for row in rows:
        assert {"lower_bound", "exact", "status", "note", "at_least", "at_most"} <= set(row)
    assert (rows[-2]["exact"], rows[-2]["status"]) == (False, "time")
    status, out, _ = run("compare", "heart", "--time-limit", "0")
    assert status == 0
    assert "not finished in time" in out
    assert "batch: Not all of the policy was worked out in time: 100.0% of the cases" in out


def test_a_policy_is_cut_at_a_number_of_states_and_says_so(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    status, out, _ = run("policy", "asia", "--policy", "greedy-la", "--max-states", "3", "--json")
    assert status == 0
    document = json.loads(out)
    assert document["states"] <= 3
    assert (document["exact"], document["status"]) == (False, "memory")
    assert 0 < document["open_share"] < 1
    status, out, _ = run("policy", "asia", "--policy", "greedy-la", "--max-states", "3", "--text")
    assert status == 0
    assert "Not all of the policy was worked out within the limit of states" in out
    assert "(not worked out further)" in out


@pytest.mark.parametrize("name", POLICIES)
def test_without_time_there_is_advice_with_its_status(run, name):
    status, out, _ = run("advise", "heart", "--policy", name, "--time-limit", "0", "--json")
    assert status == 0
    document = json.loads(out)
    assert document["posterior"]
    assert {"lower_bound", "exact", "status", "fallback"} <= set(document)


def test_a_sweep_has_a_minute_for_each_point_unless_told_otherwise(run, monkeypatch):
    from voilattice.policy import comparison

    seen = []
    usual = comparison._swept
    monkeypatch.setattr(
        comparison, "_swept", lambda *args: (seen.append(args[-2].seconds_left), usual(*args))[1]
    )
    sweep = ("compare", "figure1", "--emc", "0:10:10", "--jobs", "1", "--json")
    assert run(*sweep)[0] == 0
    assert run(*sweep, "--time-limit", "50")[0] == 0
    assert seen == [pytest.approx(240, abs=20), pytest.approx(50, abs=20)]


@pytest.fixture
def rules(tmp_path):
    """A problem with constraints, limits and rounds, in a file."""
    path = tmp_path / "ward.toml"
    path.write_text(WARD)
    return path


def test_features_of_one_round_are_paid_for_together(run, rules):
    known = ["--evidence", "xray=shadow", "--evidence", "consent=given"]
    arguments = ["advise", rules, "--policy", "optimal", *known, "--json"]
    apart = json.loads(run(*arguments)[1])
    assert apart["spent"] == 31
    assert apart["left"] == {"spend": 89, "features": 2, "rounds": 1}
    together = json.loads(run(*arguments, "--together", "xray,consent")[1])
    assert together["spent"] == 26
    assert together["left"] == {"spend": 94, "features": 2, "rounds": 2}
    line = "The evidence is counted as 2 rounds; --together xray,consent makes them one."
    assert line in run(*arguments[:-1])[1]
    assert "makes them one" not in run(*arguments[:-1], "--together", "xray,consent")[1]
    assert "makes them one" not in run(*arguments[:4], *known[:2])[1]


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        (["xray,blood"], "--together: 'blood' was not acquired: it is not evidence"),
        (["xray,x"], "--together: no feature 'x'"),
        (["xray,consent", "consent"], "--together: 'consent' is named twice"),
        (["xray,xray"], "--together: 'xray' is asked for twice"),
    ],
)
def test_a_round_of_other_features_is_refused(run, rules, rounds, message):
    known = ["--evidence", "xray=shadow", "--evidence", "consent=given"]
    options = [word for text in rounds for word in ("--together", text)]
    status, out, err = run("advise", rules, "--policy", "greedy", *known, *options, "--json")
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_candidates_that_cannot_be_acquired_are_marked_with_the_reason(run, rules):
    document = json.loads(run("advise", rules, "--policy", "greedy", "--json")[1])
    (biopsy,) = (c for c in document["barred"] if c["features"] == ["biopsy"])
    assert (biopsy["feasible"], biopsy["within_limits"]) == (False, True)
    assert biopsy["obstacles"][0].startswith("biopsy comes after X-ray")
    _, out, _ = run("advise", rules, "--policy", "greedy")
    assert "biopsy (not feasible)" in out
    assert " ".join(out.split()).count("biopsy comes after X-ray") == 1  # the reasons say it
    _, out, _ = run("advise", rules, "--policy", "greedy", "--evidence", "biopsy=clean")
    assert "biopsy" not in out.replace("biopsy = clean (biopsy 60.00, the round 5.00)", "")


def test_why_tells_what_it_costs_to_begin_with_something_else(run):
    _, out, _ = run("advise", "asia", "--policy", "optimal", "--why", "tub", "--why", "smoke")
    flat = " ".join(out.split())
    assert "to begin with" in flat
    assert "Beginning with tub costs 5.37 more than beginning with xray." in flat
    assert "Beginning with smoke costs" in flat
    command = ("advise", "asia", "--policy", "greedy", "--why", "tub,smoke", "--json")
    document = json.loads(run(*command)[1])["first_steps"]
    assert [step["features"] for step in document["steps"]] == [["xray"], ["smoke", "tub"]]
    assert "first_steps" not in json.loads(run("advise", "asia", "--policy", "none", "--json")[1])


def test_why_says_with_the_advice_what_cannot_come_first(run, rules):
    command = ("advise", rules, "--policy", "greedy", "--why", "biopsy", "--why", "blood")
    status, out, err = run(*command)
    assert (status, err) == (0, "")
    flat = " ".join(out.split())
    assert flat.startswith("Acquire ")
    assert "biopsy cannot be acquired now. biopsy comes after X-ray" in flat
    assert "Beginning with " in flat
    document = json.loads(run(*command, "--json")[1])
    assert document["barred_first_steps"][0].startswith("biopsy cannot be acquired now.")
    assert any("blood" in step["features"] for step in document["first_steps"]["steps"])


SCREENING = """
network.target = "D"
costs = { A = 3, E = 12 }
limits.spend = 14
[[network.nodes]]
name = "D"
states = ["ill", "well"]
table = [[0.3, 0.7]]
[[network.nodes]]
name = "A"
states = ["lo", "hi"]
parents = ["D"]
table = [[0.2, 0.8], [0.8, 0.2]]
[[network.nodes]]
name = "E"
states = ["neg", "pos"]
parents = ["D"]
table = [[0.1, 0.9], [0.9, 0.1]]
[[conditional_costs]]
feature = "E"
when = { A = "hi" }
cost = 6
[misclassification]
treat = { ill = 0, well = 120 }
wait = { ill = 400, well = 0 }
"""


def test_advice_reasons_and_report_agree_where_a_search_proves_the_optimum(run, tmp_path):
    problem, page = tmp_path / "screening.toml", tmp_path / "report.html"
    problem.write_text(SCREENING)
    document = json.loads(run("advise", problem, "--why", "A", "--json")[1])
    told = document["first_steps"]
    assert document["exact"]
    assert told["exact"]
    assert told["chosen"] == document["features"] == told["steps"][0]["features"] == ["E"]
    _, out, _ = run("report", problem, "--out", page)
    assert "Proved optimal: no policy costs less than 32.40" in out
    html = page.read_text()
    assert "Beginning with A costs 8.16 more than beginning with E." in html
    assert "in all at most" not in html


def test_why_gives_the_advice_where_no_round_is_left(run, rules):
    rules.write_text(WARD.replace("rounds = 3", "rounds = 0"))
    status, out, _ = run("advise", rules, "--policy", "optimal", "--why", "xray")
    assert status == 0
    assert out.startswith("Decide: ")
    assert out.endswith("xray cannot be acquired now. The limits leave no round.\n")
    document = json.loads(run("advise", rules, "--why", "xray", "--json")[1])
    assert "first_steps" not in document


def test_every_refusal_of_why_names_the_option(run, rules, monkeypatch):
    monkeypatch.setattr("voilattice.consultation.first_steps.MAX_OUTCOMES", 1)
    command = ("advise", rules, "--policy", "greedy", "--why", "biopsy", "--why", "blood")
    status, out, err = run(*command)
    assert (status, out) == (2, "")
    assert err.startswith("--why: features: ")
    assert "have more than 1 outcomes" in err


def test_why_refuses_what_makes_no_sense(run, rules):
    status, out, err = run("advise", rules, "--why", "biopsi", "--json")
    assert (status, out) == (2, "")
    assert "--why: features: no feature 'biopsi' (nearest: 'biopsy')" in err
    status, _, err = run("advise", rules, "--policy", "greedy", "--why", "age", "--interactive")
    assert status == 2
    assert "--why: cannot be used together with --interactive" in err


def test_an_obstacle_that_no_reason_speaks_of_follows_the_table(run, rules):
    rules.write_text(WARD.replace("biopsy = 60", "biopsy = 600"))
    _, out, _ = run("advise", rules, "--policy", "greedy")
    table, notes = (" ".join(part.split()) for part in out.split("could be acquired  "))
    assert "biopsy comes after" not in table
    assert "The price is 605.00 CAD, and the limits leave 120.00 CAD to spend." in notes
    assert "Not now: biopsy. biopsy comes after X-ray" in notes


def test_obstacles_that_are_the_same_are_said_once(run, rules):
    rules.write_text(WARD.replace("rounds = 3", "rounds = 0"))
    _, out, _ = run("advise", rules, "--policy", "optimal")
    assert "Nothing more can be acquired: the limits do not allow it." in out
    assert "Not now: X-ray, age, blood and consent. The limits leave no round." in out
    assert out.count("The limits leave no round.") == 2  # the biopsy has other obstacles too


def test_a_consultation_goes_on_after_a_round(run, rules, monkeypatch):
    answers = iter(["malign", ""])
    monkeypatch.setattr("click.prompt", lambda *args, **options: next(answers))
    known = ["--evidence", "xray=shadow", "--evidence", "consent=given"]
    options = ["--together", "xray,consent", "--interactive"]
    status, out, _ = run("advise", rules, "--policy", "optimal", *known, *options)
    assert status == 0
    assert "Left of the limits: 94.00 CAD to spend, 2 features and 2 rounds." in out
    assert "Left of the limits: 29.00 CAD to spend, 1 feature and 1 round." in out


def test_a_policy_counts_its_rounds_where_they_cost_something(run, rules):
    _, out, _ = run("policy", rules, "--policy", "optimal")
    document = json.loads(run("policy", rules, "--policy", "optimal", "--json")[1])
    assert f"rounds, on average, at 5.00 CAD each     {document['expected_rounds']:.2f}" in out
    assert "rounds, on average" not in run("policy", "figure3", "--policy", "batch")[1]


def test_report_writes_a_page_and_says_what_is_proved(run, tmp_path):
    path = tmp_path / "report.html"
    _, out, _ = run("report", "asia", "--out", str(path))
    assert "Proved optimal: no policy costs less than 62.46 on average." in " ".join(out.split())
    assert "Why this first" in path.read_text()
    _, out, _ = run("report", "asia", "--out", str(path), "--policy", "greedy", "--json")
    assert json.loads(out)["policy"] == "greedy"
    status, _, err = run("report", "asia")
    assert status == 2
    assert "--out: is needed" in err


def test_policy_draws_a_flow(run, tmp_path):
    path = tmp_path / "flow.svg"
    run("policy", "asia", "--policy", "optimal", "--flow", str(path))
    assert path.read_text().startswith('<svg class="flow"')
