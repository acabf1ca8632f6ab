import json
import subprocess
import sys

import pytest

from voilattice import __version__

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
        *("value", "asia", "--features", "xray", "--evidence", "smoke=yes"),
        *("--evidence", "dysp=yes", "--expected", "500", "--kind", "asymmetric", "--json"),
    )
    document = json.loads(out)
    assert document["cost"] == 8
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
        ("voilattice value asia --features xray,b", ["xray,bronc"]),
        ("voilattice value asia --evidence smoke=", ["smoke=yes", "smoke=no"]),
        ("voilattice value nothing --features x", []),
    ],
)
def test_names_are_completed(words, expected):
    environment = {
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
        ((*FIGURE1, "X9"), "--features: no feature 'X9'"),
        ((*FIGURE1, "X1,X1"), "--features: 'X1' is asked for twice"),
        ((*FIGURE1, "X1", "--features", "X1"), "--features: 'X1' is asked for twice"),
        ((*FIGURE1, "Y"), "--features: 'Y' is the target, not a feature"),
        (("value", "asia", "--features", "either"), "--features: 'either' is hidden: it is not"),
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
        ((*ASIA, "--expected", "many"), "voilattice value: Invalid value for '--expected': 'many"),
        ((*ASIA, "--kind", "asymmetric"), "--kind: needs --expected too, as in --expected 500"),
        ((*ASIA, "--kind", "odd"), "voilattice value: Invalid value for '--kind': 'odd' is not"),
        (("value", "asia"), "voilattice value: Missing option '--features'"),
        (("valeu", "asia"), "voilattice: No such command 'valeu'"),
        ((*ASIA, "--jsn"), "voilattice value: No such option '--jsn'"),
        (("show",), "voilattice show: Missing argument 'PROBLEM'"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_bad_arguments_end_with_status_2_and_one_line(run, arguments, message, more):
    status, out, err = run(*arguments, *more)
    assert status == 2
    assert out == ""
    assert err.startswith(message)
    assert err.count("\n") == 1


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
    "evidence.toml": (SURE + '[evidence]\nA = "T"\nB = "F"\n', "evidence: A=T, B=F is impossible"),
    "prior.toml": (
        SURE.replace("0.5, 0, 0, 0, 0, 0, 0, 0.5", "1, 0, 0, 0, 0, 0, 0, 0"),
        "misclassification.kind: symmetric costs need every class to have a prior probability "
        "between 0 and 1, got 1, 0; give the matrix instead",
    ),
    "price.toml": (SURE.replace("A = 1", "A = -3"), "costs.A: must be >= 0, got -3"),
    "escape.toml": (SURE.replace("A = 1", '"\\u001b[31m" = -3'), "costs.\\x1b[31m: must be >= 0"),
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
    assert err.startswith(f"{path}: {message}")
    assert err.count("\n") == 1


CYCLIC = """network n {}
variable A { type discrete [2] { T, F }; } variable B { type discrete [2] { T, F }; }
probability ( A | B ) { (T) 1, 0; (F) 0, 1; } probability ( B | A ) { (T) 1, 0; (F) 0, 1; }
"""


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (CYCLIC, "the network has a cycle: "),
        ("not a network", "line 1: expected network, variable"),
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
    assert err.startswith(f"{path}: network.file: {tmp_path / 'n.bif'}: {message}")


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


@pytest.mark.parametrize("code", ["import voilattice", "import voilattice.cli as c; c.cli(['-h'])"])
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    code = f"import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "'voilattice.network'" in loaded
    for module in HEAVY:
        assert f"'{module}'" not in loaded
