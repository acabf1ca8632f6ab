"""The commands that begin with data: learn and reproduce."""

import json

import pytest
from helpers.classifiers import PRICES, draw_patients, make_classifier

from voilattice import load_problem
from voilattice.errors import InputError

TABLE = "ill,age,sex,dose\n" + "".join(
    f"{'yes' if k % 3 else 'no'},{40 + k % 3 * 10 + k % 7},{'mf'[k % 2]},{k % 4 if k % 9 else ''}\n"
    for k in range(60)
)
COSTS = """
[costs]
age = 1
sex = 2
dose = 5.5
[[groups]]
name = "visit"
overhead = 3
features = ["age", "sex"]
[misclassification]
kind = "asymmetric"
expected = 80
"""


def test_learn_writes_a_problem_that_every_command_takes(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "costs.toml").write_text(COSTS)
    for folder in ("one", "two"):
        code, _, err = run(
            "learn", f"{tmp_path}/t.csv", "--target", "ill", "--costs", f"{tmp_path}/costs.toml",
            "-o", f"{tmp_path}/{folder}", "--states", "ill=no,yes", "--title", "A | test",
            "--recipe", "search",
        )  # fmt: skip
        assert code == 0, err
    files = ("problem.toml", "network.bif", "README.md")
    assert all(
        (tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files
    )
    problem = load_problem(tmp_path / "one")
    assert problem.classes == ("no", "yes")
    assert problem.costs.groups[0].overhead == 3
    assert 'kind = "asymmetric"' in (tmp_path / "one" / "problem.toml").read_text()
    assert "| age | <" in (tmp_path / "one" / "README.md").read_text()
    assert run("policy", f"{tmp_path}/one", "--policy", "greedy-la", "--json")[0] == 0


def test_learn_without_costs_says_so(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    _, out, _ = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p", "--recipe", "search"
    )
    assert "Every feature costs 1 until you edit that file" in out
    assert set(load_problem(tmp_path / "p").costs.prices.values()) == {1.0}


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (TABLE, ["--target", "il"], "--target: no column 'il' (nearest: 'ill')"),
        ("", ["--target", "ill"], "the file is empty; it must have a header and rows"),
        ("a,a\n1,2\n", ["--target", "a"], "column 'a' is in the header more than once"),
        (TABLE, ["--target", "ill", "--forbid", "age"], "--forbid: must be FROM:TO"),
        (TABLE, ["--target", "ill", "--states", "sex"], "--states: must be COLUMN=a,b,c"),
        (TABLE, ["--target", "ill", "--ignore", "age,sex,dose"], "no column beside the target"),
        (TABLE, ["--target", "ill", "--max-parents", "0"], "--max-parents: must be at least 1"),
        (TABLE, ["--target", "ill", "--forbid", "a:b"], "--forbid: no column 'a'"),
        (
            TABLE,
            ["--target", "ill", "--bins", "4"],
            "--bins: mdl finds the number of bins by itself; add --discretization frequency or aff",
        ),
        (TABLE, ["--target", "ill", "--costs", "COSTS"], "COSTS: cannot be read"),
        (
            "a,b\n1,1\n2,1\n",
            ["--target", "a"],
            "t.csv: no column beside the target has two values or more: 'b'",
        ),
        (TABLE, ["--target", "ill", "--states", "sex=m,m,f"], "t.csv: "),
        (
            TABLE,
            ["--target", "ill", "--states", "sex=m,f", "--states", "sex=f,m"],
            "--states sex=f,m: 'sex' is given twice",
        ),
        (
            TABLE,
            ["--target", "ill", "--numeric", "ill"],
            "--numeric: 'ill' is the target, which is never cut into bins",
        ),
    ],
)
def test_learn_refuses_in_one_line(run, tmp_path, content, options, said):
    (tmp_path / "t.csv").write_text(content)
    code, out, err = run("learn", f"{tmp_path}/t.csv", "-o", f"{tmp_path}/p", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "p").exists()


def test_an_error_in_the_costs_names_their_file(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "costs.toml").write_text("[costs]\nage = 1\nsex = 2\n")
    code, _, err = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "--costs", f"{tmp_path}/costs.toml",
        "-o", f"{tmp_path}/p",
    )  # fmt: skip
    assert code == 2
    said = "costs: no price for 'dose'; give one, or leave the column out (--ignore)"
    assert f"{tmp_path}/costs.toml: {said}" in err


def test_a_warning_is_a_line_on_stderr(run, tmp_path):
    lines = TABLE.splitlines()
    flat = [f"{lines[0]},flat,empty", *(f"{line},1," for line in lines[1:])]
    (tmp_path / "t.csv").write_text("\n".join(flat))
    code, out, err = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p", "--json",
        "--recipe", "search",
    )  # fmt: skip
    assert code == 0
    assert err.splitlines() == [
        "DataWarning: columns with one value or none are left out: 'flat', 'empty'",
        "DataWarning: columns that alone determine 'ill': 'age'; leave them out if they are not "
        "known before the decision",
    ]
    document = json.loads(out)
    assert document["columns_left_out"] == ["flat", "empty"]
    assert document["leaks"] == ["age"]
    assert document["features"] == ["age", "sex", "dose"]
    readme = (tmp_path / "p" / "README.md").read_text()
    assert "- Left out, with one value or none: flat, empty." in readme
    assert "- May be leaks, since each determines the target by itself: age." in readme


def test_learn_reads_other_separators_decimals_and_encodings(run, tmp_path):
    plain = TABLE.replace("sex", "größe").replace("m,", "groß,").replace(",40", ",40.5")
    (tmp_path / "plain.csv").write_text(plain)
    odd = plain.replace(",", ";").replace(".", ",")
    (tmp_path / "odd.csv").write_bytes(odd.encode("cp1252"))
    (tmp_path / "tabs.tsv").write_text(plain.replace(",", "\t"))
    (tmp_path / "colons.csv").write_text(plain.replace(",", ":"))
    networks = set()
    for name, *options in (
        ["plain.csv"],
        ["odd.csv", "--separator", ";", "--decimal", ",", "--encoding", "cp1252"],
        ["tabs.tsv"],
        ["tabs.tsv", "--separator", "tab"],
        ["colons.csv", "--separator", ":"],
    ):
        code, _, err = run(
            "learn", tmp_path / name, "--target", "ill", "-o", tmp_path / "p", "--title", "T",
            "--force", "--recipe", "search", *options,
        )  # fmt: skip
        assert code == 0, err
        networks.add((tmp_path / "p" / "network.bif").read_bytes())
    assert len(networks) == 1


def test_learn_names_the_options_that_would_help(run, tmp_path):
    file = tmp_path / "t.csv"
    for content, options, said in (
        (b"y:x\n1:2\n", [], "name the character that separates the cells (--separator)"),
        (b"y,x\n\xff,2\n", [], "name its encoding, such as cp1252 or latin-1 (--encoding)"),
        (TABLE.encode(), ["--encoding", "klingon"], "--encoding: no encoding 'klingon'; cp1252, "),
        (TABLE.encode(), ["--separator", "::"], "--separator: must be one character that is no"),
        (TABLE.encode(), ["--decimal", "x"], "--decimal: must be '.' or ',', got 'x'"),
        (TABLE.encode(), ["--max-bins", "1"], "--max-bins: must be 2 to 50, got 1"),
    ):
        file.write_bytes(content)
        code, out, err = run("learn", file, "--target", "y", "-o", tmp_path / "p", *options)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1


def test_learn_caps_the_bins(run, tmp_path):
    rows = "".join(f"{'ny'[k // 50 % 2]},{k},{k % 3}\n" for k in range(400))
    (tmp_path / "t.csv").write_text(f"y,x,z\n{rows}")
    for cap, n in (("3", 3), ("8", 8)):
        options = ["--max-bins", cap, "--force", "-o", tmp_path / "p"]
        assert run("learn", tmp_path / "t.csv", "--target", "y", *options)[0] == 0
        assert len(load_problem(tmp_path / "p").states("x")) == n
        assert f"; at most {cap} bins." in (tmp_path / "p" / "README.md").read_text()


def test_force_overwrites_what_learn_wrote(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    command = ["learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p"]
    command += ["--recipe", "search"]
    assert run(*command)[0] == 0
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert err == (
        f"--output: {tmp_path}/p: network.bif, README.md, problem.toml are there already; "
        f"choose another folder, or overwrite what is there (--force)\n"
    )
    assert run(*command, "--force", "--title", "Again")[0] == 0
    assert load_problem(tmp_path / "p").title == "Again"


def test_learn_overwrites_nothing(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "README.md").write_text("mine")
    code, _, err = run("learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p")
    assert code == 2
    assert "README.md is there already" in err
    assert [f.name for f in (tmp_path / "p").iterdir()] == ["README.md"]


def test_a_file_is_not_taken_for_a_folder(run, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(TABLE)
    status, out, err = run("learn", file, "--target", "ill", "-o", file)
    assert (status, out) == (2, "")
    assert err == f"--output: {file}: is a file, not a folder; choose another name\n"
    assert run("reproduce", "--out", file)[2].startswith(f"{file}: is a file, not a folder")
    assert file.read_text() == TABLE


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(run, tmp_path, monkeypatch):
    from voilattice.learning import problems

    monkeypatch.setattr(problems, "learn_problem", lambda *arguments, **options: 1 / 0)
    (table := tmp_path / "cases.csv").write_text("x,y\n1,a\n2,b\n")
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "below"
    status, _, err = run("learn", table, "--target", "y", "-o", folder)
    assert (status, err) == (2, f"--output: {folder}: cannot be written: Not a directory\n")
    with pytest.raises(ZeroDivisionError):
        run("learn", table, "--target", "y", "-o", tmp_path / "new" / "below")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "lung"], "--only: must be one of liver, diabetes"),
        (["--jobs", "0"], "--jobs: must be a number of processes"),
        (["--jobs", "-3"], "--jobs: must be a number of processes"),
    ],
)
def test_reproduce_refuses_in_one_line(run, tmp_path, options, said):
    code, _, err = run("reproduce", "--out", f"{tmp_path}/r", *options)
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--recipe", "auto", "--score", "BIC"], "--score: is part of the recipe auto; give one"),
        (["--recipe", "naive", "--smoothing", "2"], "--smoothing: is part of the recipe naive"),
        (["--recipe", "naive", "--bins", "2"], "--bins: the recipe naive finds the number of bins"),
        (["--recipe", "auto", "--bins", "2"], "--recipe smooth and trained take --bins"),
        (["--recipe", "smooth", "--bins", "1"], "--bins: must be 2 to 50, got 1"),
        (["--recipe", "naive", "--seed", "2"], "--seed: is for --recipe auto"),
        (["--score", "BIC", "--jobs", "2"], "--jobs: is for --recipe auto"),
        (["--recipe", "tree", "--policy", "greedy"], "--policy: is for --recipe auto"),
        (["--recipe", "auto", "--jobs", "0"], "--jobs: must be a number of processes"),
        (["--recipe", "auto", "--seed", "-1"], "--seed: must be a whole number >= 0, got -1"),
        (["--recipe", "odd"], "--recipe"),
    ],
)
def test_options_that_contradict_a_recipe_are_refused(run, tmp_path, options, said):
    (tmp_path / "t.csv").write_text(TABLE)
    code, out, err = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p", *options
    )
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("options", "policy"), [([], "optimal"), (["--policy", "greedy"], "greedy")]
)
def test_auto_chooses_for_the_policy_that_is_named(run, tmp_path, monkeypatch, options, policy):
    asked = []

    def refuse(*_, **settings):
        asked.append(settings["policy"])
        raise InputError("enough")

    monkeypatch.setattr("voilattice.learning.problems.choose_recipe", refuse)
    (tmp_path / "t.csv").write_text(TABLE)
    command = ("learn", tmp_path / "t.csv", "--target", "ill", "-o", tmp_path / "p")
    assert run(*command, "--recipe", "auto", *options)[0] == 2
    assert asked == [policy]


def test_learn_takes_a_recipe_by_its_name(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    code, out, _ = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p", "--recipe", "naive",
        "--ignore", "age", "--json",
    )  # fmt: skip
    document = json.loads(out)
    assert (code, document["recipe"], document["trials"]) == (0, "naive", [])
    readme = (tmp_path / "p" / "README.md").read_text()
    assert "- Structure: each feature depends on the target alone;" in readme


def test_a_recipe_with_bins_takes_another_number_of_them(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    code, out, _ = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/p",
        "--recipe", "smooth", "--bins", "3", "--json",
    )  # fmt: skip
    assert (code, json.loads(out)["recipe"]) == (0, "<= 3 bins, tree, smooth")
    assert len(load_problem(tmp_path / "p").states("age")) == 3


def test_learn_chooses_its_recipe_unless_it_has_options_of_one(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    start = ("learn", f"{tmp_path}/t.csv", "--target", "ill", "--ignore", "age", "-o")
    tried = ("--jobs", "1", "--json")
    document = json.loads(run(*start, f"{tmp_path}/zero", *tried)[1])
    assert document == {
        **json.loads(run(*start, f"{tmp_path}/auto", "--recipe", "auto", *tried)[1]),
        "problem": f"{tmp_path}/zero/problem.toml",
    }
    assert len(document["trials"]) == 4
    said = " ".join(run(*start, f"{tmp_path}/one", "--score", "BIC")[1].split())
    assert "Recipe: search. --recipe auto tries several and chooses by their total cost" in said
    assert "--recipe auto" not in run(*start, f"{tmp_path}/two", "--recipe", "naive")[1]


def test_learn_and_the_classifier_choose_alike(run, tmp_path):
    X, y = draw_patients(150)
    X.assign(state=y).to_csv(tmp_path / "t.csv", index=False)
    clf = make_classifier(recipe="auto").fit(X, y)
    costs = ["[costs]", *(f"{name} = {price}" for name, price in PRICES.items())]
    costs += ["[misclassification]", "ill = {ill = 0, well = 60}", "well = {ill = 100, well = 0}"]
    (tmp_path / "costs.toml").write_text("\n".join(costs))
    options = ("--target", "state", "--costs", tmp_path / "costs.toml", "--jobs", "1")
    code, out, err = run("learn", tmp_path / "t.csv", *options, "-o", tmp_path / "p", "--json")
    assert code == 0, err
    assert json.loads(out)["trials"] == [
        {
            "recipe": trial.name, "mean_total_cost": pytest.approx(trial.mean_total_cost),
            "standard_error": pytest.approx(trial.standard_error),
        }
        for trial in clf.choice_.trials
    ]  # fmt: skip
    learned = load_problem(tmp_path / "p")
    assert learned.bins == clf.problem_.bins
    assert learned.costs == clf.problem_.costs


def test_learn_says_which_numbers_it_takes_as_categories(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    said = "Numbers taken as categories, because they have few values: dose (4 values). --numeric"
    for folder, options, is_said in (
        ("silent", (), True),
        ("cut", ("--numeric", "dose"), False),
        ("asked", ("--categorical", "dose"), False),
        ("ordered", ("--states", "dose=3,2,1,0"), False),
    ):
        _, out, _ = run(
            "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/{folder}",
            "--recipe", "search", *options,
        )  # fmt: skip
        assert (said in " ".join(out.split())) is is_said


def test_the_price_and_the_label_of_an_ignored_column_are_not_used(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "costs.toml").write_text(f'{COSTS}\n[labels]\nsex = "Sex"\nage = "Age"\n')
    code, _, err = run(
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "--costs", f"{tmp_path}/costs.toml",
        "-o", f"{tmp_path}/p", "--ignore", "sex", "--recipe", "naive",
    )  # fmt: skip
    assert code == 0, err
    problem = load_problem(tmp_path / "p")
    assert dict(problem.costs.prices) == {"age": 1, "dose": 5.5}
    assert problem.costs.groups[0].features == ("age",)
    assert dict(problem.labels) == {"age": "Age"}


def test_the_cost_file_may_hold_what_people_read(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    words = '[labels]\ndose = "Dose given"\n[state_labels.sex]\nm = "man"\n'
    (tmp_path / "costs.toml").write_text(f'currency = "CAD"\n{COSTS}\n{words}')
    start = (
        "learn", f"{tmp_path}/t.csv", "--target", "ill", "--costs", f"{tmp_path}/costs.toml",
        "--recipe", "naive", "-o",
    )  # fmt: skip
    assert run(*start, f"{tmp_path}/p")[0] == 0
    problem = load_problem(tmp_path / "p")
    assert (problem.currency, problem.label("dose")) == ("CAD", "Dose given")
    assert problem.state_label("sex", "m") == "man"
    (tmp_path / "costs.toml").write_text(f'{COSTS}\n[labels]\ndoes = "Dose"\n')
    code, _, err = run(*start, f"{tmp_path}/q")
    assert code == 2
    assert f"{tmp_path}/costs.toml: labels.does: " in err


@pytest.mark.slow
def test_learn_chooses_the_recipe_by_held_out_cost(run, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "costs.toml").write_text(COSTS)
    found = []
    for folder, options in (("one", []), ("two", ["--seed", "0", "--jobs", "1", "--json"])):
        code, out, _ = run(
            "learn", f"{tmp_path}/t.csv", "--target", "ill", "-o", f"{tmp_path}/{folder}",
            "--recipe", "auto", "--costs", f"{tmp_path}/costs.toml", *options,
        )  # fmt: skip
        assert code == 0
        found.append(out)
    document = json.loads(found[1])
    assert (
        f"Recipe: {document['recipe']}, by its total cost on rows that it had not seen"
        in (found[0])
    )
    names = [trial["recipe"] for trial in document["trials"]]
    assert {"none", document["recipe"]} <= set(names)
    assert names == sorted(
        names, key=lambda n: document["trials"][names.index(n)]["mean_total_cost"]
    )
    for file in ("problem.toml", "network.bif", "README.md"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    readme = (tmp_path / "one" / "README.md").read_text()
    assert f"The recipe `{document['recipe']}` was chosen by its total cost" in readme
    assert "| none | " in readme
