"""Policies on tables of cases, and saved policies, on the command line."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from voilattice import Problem, apply_policy, build_policy, load_problem, write_problem
from voilattice.cases.tables import draw_cases
from voilattice.model.acquisition import PathLimits

HEART = load_problem("heart")


def write_table(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def notes(err, table):
    """What is said about a table; on a loaded machine there are lines of progress too."""
    return [line for line in err.splitlines() if line.startswith(f"{table}: ")]


@pytest.fixture
def cases():
    """Forty cases with raw ages, one of them without a result of cp."""
    found = draw_cases(HEART.network, 40, np.random.default_rng(3))
    found["age"] = np.where(found["age"] == "<54.5", 46, 61.5)
    found["cp"][7] = None
    return found


@pytest.fixture
def table(tmp_path, cases):
    return write_table(tmp_path / "cases.csv", cases)


def test_a_policy_is_followed_for_each_row(run, table, cases, tmp_path):
    out = tmp_path / "bills.csv"
    status, printed, err = run("apply", "heart", table, "--policy", "batch", "--json", "--out", out)
    assert (status, notes(err, table)) == (0, [])
    document = json.loads(printed)
    applied = apply_policy(build_policy(HEART, "batch"), cases)
    assert document == {
        "status": "ok",
        "rows": 40,
        "mean_feature_cost": pytest.approx(applied.feature_cost.mean()),
        "mean_misclassification_cost": pytest.approx(applied.misclassification_cost.mean()),
        "mean_total_cost": pytest.approx(applied.total_cost.mean()),
        "accuracy": pytest.approx((applied.decision == cases["class"]).mean()),
        "mean_features": pytest.approx(np.mean([len(b) for b in applied.bought])),
        "replanned": 1,
        "impossible": 0,
        "unfinished": 0,
        "unseen": {},
    }
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["decision"] for row in rows] == applied.decision.tolist()
    assert [tuple(filter(None, row["bought"].split(";"))) for row in rows] == (
        applied.bought.tolist()
    )
    for key in ("feature_cost", "misclassification_cost", "total_cost"):
        assert [float(row[key]) for row in rows] == pytest.approx(getattr(applied, key).tolist())
    assert [row["row"] for row in rows] == [str(k) for k in range(1, 41)]
    assert [k for k, row in enumerate(rows) if row["planned_without"]] == [7]
    assert rows[7]["planned_without"] == "cp"


@pytest.mark.parametrize(
    ("prices", "spent"),
    [({"tub": 0.1, "either": 0.2}, "0.3"), ({"xray": 123456789012.1}, "123456789012.1")],
)
def test_amounts_in_the_file_have_no_errors_of_floating_point(run, tmp_path, prices, spent):
    network = load_problem("asia").network
    problem = Problem.create(network, "lung", prices, ("symmetric", 1000), features=list(prices))
    write_problem(problem, tmp_path / "problem")
    table = write_table(tmp_path / "c.csv", {name: ["no"] for name in (*prices, "lung")})
    out = tmp_path / "bills.csv"
    status, *_ = run(
        "apply", tmp_path / "problem", table, "--policy", "markov-blanket", "--out", out
    )
    assert status == 0
    with out.open(newline="") as file:
        [row] = csv.DictReader(file)
    assert (set(row["bought"].split(";")), row["feature_cost"]) == (set(prices), spent)


def test_deciding_at_once_needs_no_time(run, table):
    given = ("apply", "heart", table, "--policy", "none", "--time-limit", "0")
    _, text, err = run(*given)
    assert notes(err, table) == []
    assert "not worked out" not in text
    document = json.loads(run(*given, "--json")[1])
    assert (document["status"], document["mean_features"], document["unfinished"]) == ("ok", 0, 0)


def test_one_row_has_no_standard_error(run, tmp_path, cases):
    table = write_table(tmp_path / "c.csv", {name: column[:1] for name, column in cases.items()})
    text = run("apply", "heart", table, "--policy", "none")[1]
    assert "total cost" in text
    assert "±" not in text


def test_decisions_that_are_no_classes_are_neither_right_nor_wrong(run, tmp_path):
    asia = load_problem("asia")
    stakes = {"go": {"yes": 9, "no": 0}, "refer": {"yes": 1, "no": 1}}
    problem = Problem.create(asia.network, "lung", asia.costs, stakes, features=asia.features)
    write_problem(problem, tmp_path / "own")
    cases = draw_cases(asia.network, 20, np.random.default_rng(1))
    table = write_table(tmp_path / "c.csv", cases)
    text = run("apply", tmp_path / "own", table, "--policy", "none")[1]
    assert "total cost" in text
    assert "true class" not in text
    document = json.loads(run("apply", tmp_path / "own", table, "--policy", "none", "--json")[1])
    assert document["accuracy"] is None
    assert document["mean_total_cost"] is not None


def test_the_mean_total_cost_has_its_standard_error(run, table, cases):
    applied = apply_policy(build_policy(HEART, "batch"), cases)
    error = applied.total_cost.std(ddof=1) / 40**0.5
    text = run("apply", "heart", table, "--policy", "batch")[1]
    assert f"{applied.total_cost.mean():.2f} ± {error:.2f}" in text


def test_a_misnamed_column_is_said_with_the_summary(run, tmp_path, cases):
    cases["thall"] = cases.pop("thal")
    table = write_table(tmp_path / "c.csv", cases)
    _, out, err = run("apply", "heart", table, "--policy", "batch")
    assert notes(err, table) == [
        f"{table}: no column for thal (nearest: 'thall'): cannot be had in any row"
    ]
    assert "The table has no column for thal." in out


def test_without_the_true_class_there_are_feature_costs_only(run, tmp_path, cases):
    del cases["class"]
    table, out = write_table(tmp_path / "c.csv", cases), tmp_path / "o.csv"
    document = json.loads(run("apply", "heart", table, "--json", "--out", out)[1])
    for key in ("mean_misclassification_cost", "mean_total_cost", "accuracy"):
        assert document[key] is None
    assert document["mean_feature_cost"] > 0
    with out.open(newline="") as file:
        assert {row["total_cost"] for row in csv.DictReader(file)} == {""}
    text = run("apply", "heart", table)[1]
    assert "policy optimal, means of 40 rows" in text
    assert "cost of decisions" not in text


def test_what_the_problem_does_not_know_is_said_once(run, tmp_path, cases):
    cases["cp"][:3] = "odd"
    cases["cp"][5] = 9
    del cases["thal"]
    table = write_table(tmp_path / "c.csv", cases)
    status, out, err = run("apply", "heart", table, "--policy", "batch")
    assert status == 0
    assert notes(err, table) == [
        f"{table}: no column for thal: cannot be had in any row",
        f"{table}: taken as missing, since the problem has no such state: cp = 'odd' (3 rows), "
        f"cp = '9' (1 row)",
    ]
    assert "Planned again because a feature was missing: 5 rows." in out


def test_odd_cells_are_missing_and_said_once(run, tmp_path, cases):
    table = write_table(tmp_path / "c.csv", cases)
    cases["age"] = cases["age"].astype(object)
    cases["age"][3:5] = "-inf"
    odd = write_table(tmp_path / "odd.csv", cases)
    cases["age"][3:5] = None
    without = write_table(tmp_path / "without.csv", cases)
    status, out, err = run("apply", "heart", odd, "--policy", "markov-blanket")
    assert status == 0
    assert notes(err, odd) == [
        f"{odd}: taken as missing, since the problem has no such state: age = '-inf' (2 rows)"
    ]
    assert out == run("apply", "heart", without, "--policy", "markov-blanket")[1]
    assert run("apply", "heart", table, "--policy", "markov-blanket")[0] == 0


def test_impossible_results_and_early_decisions_are_said(run, tmp_path):
    network, tiny = load_problem("asia").network, tmp_path / "tiny"
    prices = {"tub": 1.0, "either": 1.0}
    write_problem(
        Problem.create(network, "lung", prices, ("symmetric", 1000), features=list(prices)), tiny
    )
    table = write_table(tmp_path / "c.csv", {"tub": ["no", "yes"], "either": ["no", "no"]})
    status, _, err = run("apply", tiny, table, "--policy", "markov-blanket", "--json")
    assert status == 0
    assert notes(err, table) == [
        f"{table}: 1 row with results that are impossible in the network, taken as missing "
        f"(the first is row 2)"
    ]
    _, out, err = run(
        "apply", "asia", table, "--policy", "greedy-la", "--time-limit", "0", "--json"
    )
    assert json.loads(out)["unfinished"] == 2
    assert "in 2 rows the greedy policy went on, because the time to plan was over; give m" in err


NOT_WRITTEN = "Not all of the policy was"
NOT_PROVED = "Not proved optimal"


@pytest.mark.parametrize(
    ("policy", "why"),
    [("batch", NOT_WRITTEN), ("greedy-la", NOT_WRITTEN), ("optimal", NOT_PROVED)],
)
def test_at_the_limit_greedy_is_followed_and_a_note_says_so(run, table, policy, why, tmp_path):
    limited = replace(HEART, limits=PathLimits(spend=30.0))
    write_problem(limited, tmp_path / "limited")
    late, greedy = tmp_path / "late.csv", tmp_path / "greedy.csv"
    common = ("apply", tmp_path / "limited", table, "--json")
    run(*common, "--policy", "greedy", "--out", greedy)
    code, out, err = run(*common, "--policy", policy, "--time-limit", "0", "--out", late)
    assert (code, json.loads(out)["status"]) == (0, "time")
    assert late.read_text() == greedy.read_text()
    assert ";" in late.read_text()  # several features are bought
    assert f"{table}: {policy} is not worked out to the end. {why}" in err
    # The optimum is found to be greedy's policy as a whole; of the others, greedy is what goes on.
    went_on = f"{table}: in 40 rows the greedy policy went on, because the time to plan was"
    assert (went_on in err) == (why == NOT_WRITTEN)


def test_greedy_loses_nothing_at_the_limit(run, table):
    in_time = run("apply", "heart", table, "--policy", "greedy", "--json")
    limit = ("--time-limit", "0")
    code, out, err = run("apply", "heart", table, "--policy", "greedy", *limit, "--json")
    assert (code, out, notes(err, table)) == (0, in_time[1], [])


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ((), ["policy optimal (not worked out to the end), means of 40 rows"]),
        (
            ("--policy", "batch"),
            [
                "policy batch (not worked out to the end), means of 40 rows",
                "The greedy policy went on because the time was over: 40 rows.",
            ],
        ),
        (("--policy", "greedy"), ["policy greedy, means of 40 rows"]),
    ],
)
def test_the_table_says_that_the_time_was_over(run, table, options, lines):
    printed = run("apply", "heart", table, *options, "--time-limit", "0")[1]
    said = [line.strip() for line in printed.splitlines()]
    assert all(line in said for line in lines)


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({"a": [1], "b": [2]}, (), "{table}: has a column for none of the features; they are age"),
        ({"age": [1], "class": ["q"]}, (), "{table}: class, row 1: no state 'q'; its states are"),
        (
            {"age": [1], "class": [""]},
            (),
            "{table}: class, row 1: the true class is missing; leave "
            "this row out, or 'class' in all rows",
        ),
        (
            {"age": [1, 80], "sex": ["male"] * 2},
            ("--evidence", "age=30"),
            "{table}: age, row 2: must be '<54.5', the problem's own evidence",
        ),
        ({"age": [1], "sex": ["male"]}, ("--policy", "gredy"), "--policy: 'gredy' is neither a po"),
        ({"age": [1], "sex": ["male"]}, ("--policy", "./batch"), "--policy: './batch' is neither"),
        ({"age": [1], "sex": ["male"]}, ("--policy", "no.json"), "--policy: 'no.json' is neither"),
        ({"age": [1], "sex": ["male"]}, ("--out", "x.txt"), "--out: x.txt: must end in .csv"),
    ],
)
def test_what_cannot_be_applied_is_one_line(run, tmp_path, columns, arguments, message):
    table = write_table(tmp_path / "c.csv", columns)
    status, out, err = run("apply", "heart", table, *arguments)
    assert (status, out) == (2, "")
    # What is missing in the table may be said before.
    assert err.splitlines()[-1].startswith(message.format(table=table))


@pytest.fixture
def saved(run, tmp_path):
    path = tmp_path / "batch.json"
    assert run("policy", "heart", "--policy", "batch", "--save", path)[0] == 0
    return path


def test_a_saved_policy_is_applied_as_its_name(run, saved, table):
    by_file = run("apply", "heart", table, "--policy", saved, "--json")
    assert by_file[:2] == run("apply", "heart", table, "--policy", "batch", "--json")[:2]
    status, _, err = run("apply", "asia", table, "--policy", saved)
    assert (status, err) == (
        2,
        f"{saved}: this policy was built for another problem (its network, prices, stakes or "
        f"evidence differ); build it again\n",
    )


def test_a_saved_policy_advises(run, saved):
    on = run("advise", "heart", "--policy", saved, "--json")
    assert on[0] == 0
    assert json.loads(on[1])["features"] == ["age", "cp", "sex"]
    everything = ("--evidence", "age=46", "--evidence", "cp=typical", "--evidence", "sex=male")
    found = json.loads(run("advise", "heart", "--policy", saved, *everything, "--json")[1])
    assert "planned again" not in found["reasons"][0]
    off = json.loads(run("advise", "heart", "--policy", saved, "--evidence", "age=46", "--json")[1])
    assert off["reasons"][0].endswith("batch is planned again.")


def test_a_policy_saved_with_evidence_brings_it_along(run, tmp_path, table):
    path = tmp_path / "young.json"
    run("policy", "heart", "--policy", "batch", "--evidence", "age=46", "--save", path)
    given = ("advise", "heart", "--policy", path, "--given", "age=30", "--json")
    assert json.loads(run(*given)[1])["features"] == ["cp", "sex"]
    assert run("advise", "heart", "--policy", path)[2] == (
        "--policy: was built with the evidence age=<54.5, which is not given here\n"
    )
    assert run("apply", "heart", table, "--policy", path)[2].startswith(f"{table}: age, row ")


def test_advice_without_what_cannot_be_had_and_with_what_is_free(run):
    asked = ("advise", "heart", "--policy", "optimal", "--json")
    document = json.loads(
        run(*asked, "--unavailable", "cp", "--unavailable", "age", "--given", "ca=0.0")[1]
    )
    listed = run(*asked, "--unavailable", "cp,age", "--given", "ca=0.0")[1]
    assert json.loads(listed) == document
    assert document["spent"] == 0
    offered = {name for entry in document["candidates"] for name in entry["features"]}
    assert not offered & {"cp", "age", "ca"}
    paid = json.loads(run(*asked, "--evidence", "ca=0")[1])
    assert paid["spent"] == pytest.approx(100.9)
    for options, message in (
        (("--given", "age=nan"), "--given age=nan: 'age' must be a finite number or one of its st"),
        (("--given", "age"), "--given age: must be FEATURE=STATE"),
        (
            ("--given", "age=1", "--evidence", "age=1"),
            "--given: 'age' is given with --evidence too",
        ),
        (("--unavailable", "cp,agee"), "--unavailable: no feature 'agee' (nearest: 'age')"),
        (("--unavailable", "agee"), "--unavailable: no feature 'agee' (nearest: 'age')"),
        (
            ("--unavailable", "age", "--given", "age=1"),
            "--unavailable: 'age' is known, so it cannot be unavailable",
        ),
    ):
        status, out, err = run(*asked, *options)
        assert (status, out) == (2, "")
        assert err.startswith(message)


def test_a_consultation_starts_from_what_is_free_or_cannot_be_had(run, saved, monkeypatch):
    answers = iter(["male", "typical", *["n"] * 20])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run(
        *("advise", "heart", "--policy", saved, "--interactive"),
        *("--given", "age=46", "--unavailable", "thal"),
    )
    assert status == 0
    assert out.splitlines()[1] == "Acquire cp, sex."
    assert "sex = male, cp = typical (sex 1.00, cp 1.00)" in out[out.rindex("the bill") :]
