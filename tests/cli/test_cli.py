import json
import os
import subprocess
import sys

import pytest

from voilattice import __version__, emc, evi, load_problem

HEAVY = ("pyagrum", "numba", "matplotlib", "pandas", "sklearn", "scipy", "networkx", "tomli_w")


@pytest.mark.parametrize(
    ("features", "evi", "cost", "benefit"),
    [("X1,X2", 5.4, 15, -9.6), ("X1", 1.2, 5, -3.8), ("X2", 0, 10, -10)],
)
def test_value_of_figure_1_as_json(run, features, evi, cost, benefit):
    status, out, err = run("value", "figure1", "--features", features, "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["features"] == sorted(features.split(","))
    expected = {"emc": 17.6, "expected_emc": 17.6 - evi, "evi": evi, "cost": cost}
    for key, number in (expected | {"benefit": benefit}).items():
        assert document[key] == pytest.approx(number, abs=1e-9)


def test_value_for_people(run):
    status, out, _ = run("value", "figure1", "--features", "X1")
    assert status == 0
    assert "EVI" in out
    assert "it does not pay." in " ".join(out.split())


def test_evidence_and_stakes_replace_what_the_problem_says(run):
    _, out, _ = run(
        *("value", "asia", "--features", "tub,asia", "--evidence", "smoke=yes"),
        *("--evidence", "dysp=yes", "--expected", "500", "--kind", "asymmetric", "--json"),
    )
    document = json.loads(out)
    asked = load_problem("asia").with_expected("asymmetric", 500)
    known = {"smoke": "yes", "dysp": "yes"}
    assert document["emc"] == pytest.approx(emc(asked, known), abs=1e-9)
    assert document["evi"] == pytest.approx(evi(asked, {"tub", "asia"}, known), abs=1e-9)
    assert document["cost"] == 6 + 1  # the consultation is paid
    _, out, _ = run("show", "asia", "--expected", "500", "--json")
    assert json.loads(out)["emc"] == pytest.approx(500)


def test_show_names_everything(run):
    status, out, _ = run("show", "asia")
    assert status == 0
    for word in ("xray", "consultation", "either", "2,000", "0.055"):
        assert word in out
    document = json.loads(run("show", "asia", "--evidence", "smoke=yes", "--json")[1])
    assert document["hidden"] == ["either"]
    assert document["evidence"] == {"smoke": "yes"}
    assert document["groups"][0]["overhead"] == 10


def test_problems_lists_the_built_in_ones(run):
    assert "figure1" in run("problems")[1]
    names = [entry["name"] for entry in json.loads(run("problems", "--json")[1])]
    assert {"asia", "figure1", "figure3"} <= set(names)


def test_version_and_help(run):
    assert run("--version")[1] == f"voilattice {__version__}\n"
    assert "value" in run("--help")[1]
    assert "Usage" in run()[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run, shell):
    status, out, _ = run("completion", shell)
    assert status == 0
    assert "_VOILATTICE_COMPLETE" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("voilattice value fig", ["figure1", "figure3"]),
        ("voilattice value builtin:fig", ["builtin:figure1", "builtin:figure3"]),
        ("voilattice value asia --features xray,b", ["xray,bronc"]),
        ("voilattice value asia --evidence smoke=", ["smoke=yes", "smoke=no"]),
        ("voilattice value nothing --features x", []),
    ],
)
def test_names_are_completed(words, expected):
    environment = os.environ | {
        "_VOILATTICE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "from voilattice.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    found = [line.split(",", 1) for line in done.stdout.splitlines() if line]
    assert [name for kind, name in found if kind == "plain"] == expected


ASIA = ("value", "asia", "--features", "xray")
FIGURE1 = ("value", "figure1", "--features")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("value", "figur1", "--features", "X1"),
            "'figur1' is neither a file nor a built-in problem (nearest: 'figure1')",
        ),
        ((*FIGURE1, "X9"), "--features: no feature 'X9' (there are: X1, X2)"),
        ((*FIGURE1, "X1,X1"), "--features: 'X1' is asked for twice"),
        ((*FIGURE1, "X1", "--features", "X1"), "--features: 'X1' is asked for twice"),
        ((*FIGURE1, "Y"), "--features: 'Y' is the target, not a feature"),
        (
            ("value", "asia", "--features", "either"),
            "--features: 'either' is hidden: it is not one of the features",
        ),
        (
            (*FIGURE1, "X1", "--evidence", "X1=T"),
            "--features: 'X1' is known already ('T')",
        ),
        ((*ASIA, "--evidence", "smoke"), "--evidence smoke: must be FEATURE=STATE"),
        (
            (*ASIA, "--evidence", "smoke=maybe"),
            "--evidence smoke=maybe: 'smoke' has no state 'maybe'; its states are 'yes', 'no'",
        ),
        (
            (*ASIA, "--evidence", "smok=yes"),
            "--evidence smok=yes: no feature 'smok' (nearest: 'smoke')",
        ),
        (
            (*ASIA, "--evidence", "lung=yes"),
            "--evidence lung=yes: 'lung' is the target, not a feature",
        ),
        (
            (*ASIA, "--evidence", "smoke=yes", "--evidence", "smoke=no"),
            "--evidence smoke=no: 'smoke' is given twice",
        ),
        ((*ASIA, "--expected", "-1"), "--expected: must be >= 0, got -1.0"),
        ((*ASIA, "--expected", "nan"), "--expected: must be finite, got nan"),
        (
            (*ASIA, "--expected", "many"),
            "voilattice value: Invalid value for '--expected': 'many' is not a valid float.",
        ),
        (
            (*ASIA, "--kind", "asymmetric"),
            "--kind: needs --expected too, as in --expected 500 --kind asymmetric",
        ),
        (
            (*ASIA, "--kind", "odd"),
            "voilattice value: Invalid value for '--kind': 'odd' is not one of 'symmetric', "
            "'asymmetric'.",
        ),
        (("value", "asia"), "voilattice value: Missing option '--features'."),
        (("valeu", "asia"), "voilattice: No such command 'valeu'. Did you mean 'value'?"),
        ((*ASIA, "--jsn"), "voilattice value: No such option '--jsn'. Did you mean '--json'?"),
        (("show",), "voilattice show: Missing argument 'PROBLEM'."),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_bad_arguments_end_with_status_2_and_one_line(run, arguments, message, more):
    status, out, err = run(*arguments, *more)
    assert status == 2
    assert out == ""
    assert err == f"{message}\n"


SURE = """
[network]
target = "Y"
[network.joint]
variables = ["A", "B", "Y"]
states = { A = ["T", "F"], B = ["T", "F"], Y = ["T", "F"] }
probabilities = [0.5, 0, 0, 0, 0, 0, 0, 0.5]
[costs]
A = 1
B = 1
[misclassification]
kind = "symmetric"
expected = 10
"""


def test_impossible_evidence_on_the_command_line(run, tmp_path):
    (tmp_path / "sure.toml").write_text(SURE)
    arguments = ("value", tmp_path / "sure.toml", "--features", "", "--json")
    status, out, err = run(*arguments, "--evidence", "A=T", "--evidence", "B=F")
    assert (status, out) == (2, "")
    assert err == "--evidence: A=T, B=F is impossible: its probability is 0 in this network\n"


FILES = {
    "evidence.toml": (
        SURE + '[evidence]\nA = "T"\nB = "F"\n',
        "evidence: A=T, B=F is impossible: its probability is 0 in this network",
    ),
    "prior.toml": (
        SURE.replace("0.5, 0, 0, 0, 0, 0, 0, 0.5", "1, 0, 0, 0, 0, 0, 0, 0"),
        "misclassification.kind: symmetric costs need every class to have a prior probability "
        "between 0 and 1, got 1, 0; give the matrix instead",
    ),
    "price.toml": (SURE.replace("A = 1", "A = -3"), "costs.A: must be >= 0, got -3"),
    "escape.toml": (
        SURE.replace("A = 1", '"\\u001b[31m" = -3'),
        "costs.\\x1b[31m: must be >= 0, got -3",
    ),
    "binary.toml": (b"\x80\x81", "not UTF-8 text (byte 0); save it as UTF-8"),
    "empty.toml": ("", "network: is missing"),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files_end_with_status_2_and_one_line(run, tmp_path, name):
    content, message = FILES[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, out, err = run("show", path, "--json")
    assert (status, out) == (2, "")
    assert err == f"{path}: {message}\n"


CYCLIC = """network n {}
variable A { type discrete [2] { T, F }; } variable B { type discrete [2] { T, F }; }
probability ( A | B ) { (T) 1, 0; (F) 0, 1; } probability ( B | A ) { (T) 1, 0; (F) 0, 1; }
"""


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (CYCLIC, "the network has a cycle: A -> B -> A"),
        ("not a network", "line 1: expected network, variable or probability, found 'not'"),
    ],
)
def test_a_cyclic_or_unreadable_network_is_named(run, tmp_path, network, message):
    (tmp_path / "n.bif").write_text(network)
    path = tmp_path / "p.toml"
    path.write_text(
        '[network]\nfile = "n.bif"\ntarget = "A"\n[costs]\nB = 1\n'
        '[misclassification]\nkind = "symmetric"\nexpected = 1\n'
    )
    status, out, err = run("show", path)
    assert (status, out) == (2, "")
    assert err == f"{path}: network.file: {tmp_path / 'n.bif'}: {message}\n"


def test_too_much_at_once_names_what_to_do(run, tmp_path):
    variables = [f"X{k}" for k in range(40)]
    text = "network n {} variable Y { type discrete [2] { T, F }; } probability (Y) { table 1, 0; }"
    for name in variables:
        text += f"variable {name} {{ type discrete [2] {{ T, F }}; }}"
        text += f"probability ( {name} | Y ) {{ (T) 0.1, 0.9; (F) 0.8, 0.2; }}"
    (tmp_path / "n.bif").write_text(text)
    prices = "".join(f"{name} = 1\n" for name in variables)
    (tmp_path / "p.toml").write_text(
        f'[network]\nfile = "n.bif"\ntarget = "Y"\n[costs]\n{prices}'
        "[misclassification]\nT = { T = 0, F = 1 }\nF = { T = 1, F = 0 }\n"
    )
    status, out, err = run("value", tmp_path / "p.toml", "--features", ",".join(variables))
    assert (status, out) == (2, "")
    assert "ask for fewer features at once" in err


@pytest.mark.parametrize(
    "code",
    ["import voilattice.model.network", "import voilattice.cli.group as c; c.cli(['value', '-h'])"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    code = f"import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "'voilattice.model.network'" in loaded
    for module in HEAVY:
        assert f"'{module}'" not in loaded


def test_the_memory_budget_is_an_option(run):
    arguments = ("value", "asia", "--features", "xray,dysp", "--memory")
    assert run(*arguments, "1")[0] == 0
    status, out, err = run(*arguments, "0", "--json")
    assert (status, out) == (2, "")
    assert "--memory" in err


ODD = """
[network]
target = "Y"
[network.joint]
variables = ["a=b", "Y", "[bold]"]
states = { "a=b" = ["x=1", "é"], Y = ["T", "F"], "[bold]" = [":smile:", "<b>"] }
probabilities = [0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.2, 0.1]
[costs]
"a=b" = 1
"[bold]" = 1e20
[misclassification]
kind = "symmetric"
expected = 10
"""


def test_odd_names_are_taken_as_they_are(run, tmp_path, monkeypatch):
    path = tmp_path / "odd.toml"
    path.write_text(ODD)
    out = run("show", path, "--evidence", "a=b=x=1")[1]
    assert "Known: a=b = x=1" in out
    assert "[bold]" in out
    assert ":smile:" in out
    assert "1e+20" in out
    monkeypatch.setenv("COLUMNS", "0")
    assert run("show", path)[1]


def test_a_terminal_without_the_letters_gets_their_codes(tmp_path):
    (tmp_path / "odd.toml").write_text(ODD)
    code = "import sys; from voilattice.cli import main; main(['show', sys.argv[1]])"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "odd.toml"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\xe9" in done.stdout


def test_a_full_disk_is_told_in_one_line():
    code = "from voilattice.cli import main; main(['show', 'asia'])"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"standard output: cannot be written: No space left on device\n"


def test_the_lattice_of_figure_3_as_json(run):
    status, out, err = run("lattice", "figure3", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["nodes"] == 9
    assert document["subsets"] == 16
    assert document["sets"][0] == []
    assert document["sets"][-1] == ["X2", "X3", "X4"]
    assert document["edges"] == 12
    assert document["roots"] == [["X1", "X3", "X4"], ["X2", "X3", "X4"]]
    assert document["largest"] == 3
    assert document["markov_blanket"] == ["X1", "X3", "X4"]


def test_the_lattice_for_people(run):
    out = run("lattice", "figure3", "--evidence", "X3=T")[1]
    assert "Known: X3" in out
    assert "irreducible sets" in out
    assert "Acquirable core (the set of highest EVI): X1, X4" in out
    assert "of at most 1 feature" in run("lattice", "figure3", "--max-size", "1")[1]


def test_a_large_lattice_leaves_its_sets_out(run, monkeypatch):
    monkeypatch.setattr("voilattice.documents.MAX_SETS", 8)
    document = json.loads(run("lattice", "figure3", "--json")[1])
    assert "sets" not in document
    assert document["nodes"] == 9


def test_a_lattice_beyond_the_budget_names_the_options(run):
    status, out, err = run("lattice", "figure3", "--max-nodes", "5", "--json")
    assert (status, out) == (2, "")
    assert err == (
        "more than 5 irreducible sets: 4 have up to 1 feature, and at least 2 have 2; keep to "
        "sets of at most 1 (--max-size), raise the budget (--max-nodes), choose fewer features, "
        "or give more evidence\n"
    )


def test_drawings_are_written_beside_the_statistics(run, tmp_path):
    files = [tmp_path / name for name in ("a.svg", "a.html", "a.graphml")]
    status, out, _ = run(
        *("lattice", "figure3", "--json", "--svg", files[0]),
        *("--html", files[1], "--graphml", files[2]),
    )
    assert status == 0
    assert json.loads(out)["nodes"] == 9
    assert all(file.stat().st_size > 500 for file in files)
    status, out, err = run("lattice", "figure3", "--svg", tmp_path / "none" / "a.svg")
    assert (status, out) == (2, "")
    assert err == f"{tmp_path / 'none' / 'a.svg'}: cannot be written: No such file or directory\n"


def test_explain_in_words_and_as_json(run):
    status, out, _ = run("explain", "figure3", "--features", "X2,X4")
    assert status == 0
    assert "X4 says nothing about Y here; it would once X3 is known too." in out
    assert "¬X1" in out
    document = json.loads(run("explain", "figure3", "--features", "X2,X4", "--json")[1])
    assert document["irreducible"] is False
    assert document["core"] == ["X2"]
    assert document["completions"] == [["X3"]]
    assert [member["constraint"] for member in document["members"]] == ["¬X1", "X3"]
    status, out, err = run("explain", "figure3", "--features", "X2", "--evidence", "X2=T")
    assert (status, out, err) == (2, "", "--features: 'X2' is known already ('T')\n")


def test_progress_waits_a_second_and_keeps_to_stderr(capsys, monkeypatch):
    from voilattice.cli import progress

    clock = iter([0.0, 0.5, 1.5, 2.0, 7.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.progress_line(lambda size, found: f"{size} {found}") as report:
        for k in range(4):
            report(k, 10 * k)
    assert capsys.readouterr() == ("", "1 10\n3 30\n")


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


def test_a_policy_for_people_and_in_files(run, tmp_path):
    files = (tmp_path / "p.json", tmp_path / "p.dot")
    status, out, _ = run(
        *("policy", "figure3", "--policy", "batch", "--text"), "--save", files[0], "--dot", files[1]
    )
    assert status == 0
    assert "├─ X3 = T, X4 = F (45.0 %): say F, risk 6.00" in out
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


def test_a_consultation_to_the_decision(run, monkeypatch):
    # tub: an odd answer, then no; xray: undone; tub again; xray yes; smoke and dysp not to be had;
    # bronc by its number, undone after the decision, and again.
    answers = iter(["maybe", "no", "u", "no", "yes", "n", "n", "1", "u", "2", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run("advise", "asia", "--policy", "greedy-la", "--interactive")
    assert status == 0
    assert next(answers, None) is None
    assert "Please type one of: yes, no, 1, 2, n, u." in out
    bill = out[out.rindex("the bill") :]
    assert [line.split()[0] for line in bill.splitlines()[2:5]] == ["tub", "xray", "bronc"]
    assert "spent on features" in bill
    assert "44.00" in bill
    assert "Decide: " in out


def test_nothing_to_undo_is_said(run, monkeypatch):
    answers = iter(["u", "yes", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    out = run("advise", "asia", "--policy", "greedy-la", "--interactive")[1]
    assert "There is nothing to undo." in out


def test_the_best_set_as_json_and_for_people(run, monkeypatch):
    document = json.loads(run("best", "asia", "--json")[1])
    assert document["features"] == ["dysp", "smoke", "tub", "xray"]
    assert document["benefit"] == pytest.approx(document["evi"] - document["cost"])
    assert document["optimal"] is True
    assert document["bound"] == document["benefit"]
    assert document["sets"] == 36
    assert document["evaluated"] > 0
    assert "No set of features has a higher benefit." in run("best", "asia")[1]
    monkeypatch.setattr("voilattice.valuation.best_set.WHOLE_CELLS", 4)
    monkeypatch.setattr("voilattice.valuation.best_set.SPLIT_CELLS", 4)
    monkeypatch.setattr("voilattice.valuation.best_set.MAX_COUNTED_FLOODS", 1)
    document = json.loads(run("best", "asia", "--time-limit", "0", "--json")[1])
    assert document["optimal"] is False
    assert document["bound"] > document["benefit"]
    assert document["sets"] is None
    assert "Time is up (--time-limit)" in run("best", "asia", "--time-limit", "0")[1]


def test_the_values_of_a_lattice_as_json(run):
    document = json.loads(run("lattice", "figure3", "--values", "--json")[1])
    assert document["values"][0]["features"] == ["X3", "X4"]
    assert document["values"][0]["benefit"] == pytest.approx(8.9)
    assert len(document["values"]) == 9


def test_a_time_limit_that_is_no_number_is_refused(run):
    status, out, err = run("best", "asia", "--time-limit", "nan", "--json")
    assert (status, out) == (2, "")
    assert err == "--time-limit: must be a number of seconds >= 0, got nan\n"


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
    assert lines[0] == "kind,expected,policy,expected_total_cost,savings,exact"
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


def test_undo_inside_a_batch_takes_back_one_answer(run, monkeypatch):
    # smoke yes, taken back and no; dysp, xray, tub.
    answers = iter(["yes", "u", "no", "yes", "no", "no", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run("advise", "asia", "--policy", "batch", "--interactive")
    assert status == 0
    assert next(answers, None) is None
    assert "There is nothing to undo." not in out


def test_a_sweep_sets_the_stakes_itself(run):
    status, out, err = run("compare", "asia", "--emc", "0:9:3", "--expected", "5", "--json")
    assert (status, out) == (2, "")
    assert err == "--expected: cannot be used together with --emc, which sets the stakes too\n"
