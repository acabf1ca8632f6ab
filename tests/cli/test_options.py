"""What the commands share: evidence, stakes, budgets, files to write."""

import json
import os

import pytest
from helpers.problems import SURE, structured

from voilattice import emc, evi, load_problem
from voilattice.cli.options import check_jobs, feature_list, write
from voilattice.errors import InputError


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


def test_a_number_is_evidence_for_a_feature_with_bins(run):
    documents = [
        run("advise", "heart", "--policy", "greedy", "--evidence", item, "--json")
        for item in ("age=46", "age=<54.5", "age=4.6e1")
    ]
    assert documents[0] == documents[1] == documents[2]
    assert documents[0][0] == 0
    assert run("show", "heart", "--evidence", "age=nan") == (
        2,
        "",
        "--evidence age=nan: 'age' must be a finite number or one of its states, got 'nan'\n",
    )


ASIA = ("value", "asia", "--features", "xray")


FIGURE1 = ("value", "figure1", "--features")


LATTICE, NONE = ("lattice", "asia"), ("policy", "asia", "--policy", "none")


SWEEP = ("compare", "figure1", "--emc", "0:10:10", "--jobs", "1")


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
        (("show", ""), "must name a problem, got ''"),
        ((*LATTICE, "--svg", "-"), "--svg: must name a file, got '-'"),
        ((*LATTICE, "--svg", ""), "--svg: must name a file, got ''"),
        (
            (*SWEEP, "--kind", "symmetric"),
            "--kind: a sweep (--emc) has both kinds; leave --kind out",
        ),
        (("show",), "voilattice show: Missing argument 'PROBLEM'."),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_bad_arguments_end_with_status_2_and_one_line(run, arguments, message, more):
    status, out, err = run(*arguments, *more)
    assert status == 2
    assert out == ""
    assert err == f"{message}\n"


def test_impossible_evidence_on_the_command_line(run, tmp_path):
    (tmp_path / "sure.toml").write_text(SURE)
    arguments = ("value", tmp_path / "sure.toml", "--features", "", "--json")
    status, out, err = run(*arguments, "--evidence", "A=T", "--evidence", "B=F")
    assert (status, out) == (2, "")
    assert err == "--evidence: A=T, B=F is impossible: its probability is 0 in this network\n"


def test_the_memory_budget_is_an_option(run):
    arguments = ("value", "asia", "--features", "xray,dysp", "--memory")
    assert run(*arguments, "1")[0] == 0
    status, out, err = run(*arguments, "0", "--json")
    assert (status, out) == (2, "")
    assert "--memory" in err


@pytest.mark.parametrize("given", ["nan", "abc", "-1", ""])
def test_a_time_limit_that_is_no_number_is_refused(run, given):
    for command in (("best", "asia"), ("evaluate", "t.csv", "--target", "y", "--costs", "c.toml")):
        status, out, err = run(*command, "--time-limit", given, "--json")
        assert (status, out) == (2, "")
        assert err == f"--time-limit: must be a number of seconds >= 0, got {given!r}\n"


@pytest.mark.parametrize(
    ("command", "option", "file", "wanted"),
    [
        (LATTICE, "--svg", "out.png", ".svg"),
        (LATTICE, "--html", "a.svg", ".html or .htm"),
        (LATTICE, "--graphml", "a.dot", ".graphml or .xml"),
        (NONE, "--dot", "a.svg", ".dot or .gv"),
        (NONE, "--svg", "a.html", ".svg"),
        (NONE, "--html", "a.json", ".html or .htm"),
        (NONE, "--save", "a.toml", ".json"),
        (SWEEP, "--csv", "a.xls", ".csv"),
        (SWEEP, "--plot", "a.doc", ".svg, .png or .pdf"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    run, tmp_path, monkeypatch, command, option, file, wanted
):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*command, option, file, "--json")
    assert (status, out, err) == (2, "", f"{option}: {file}: must end in {wanted}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_name_without_an_extension_is_fine(run, tmp_path):
    plain, upper, plot = tmp_path / "drawing", tmp_path / "A.SVG", tmp_path / "plot"
    assert run("lattice", "figure3", "--svg", plain, "--html", tmp_path / "page")[0] == 0
    assert plain.read_text().startswith("<?xml")
    assert run("lattice", "figure3", "--svg", upper)[0] == 0
    assert run(*SWEEP, "--plot", plot)[0] == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert run(*SWEEP, "--plot", tmp_path / "plot.pdf")[0] == 0


@pytest.mark.parametrize(
    ("items", "features"),
    [
        (("X1,X2",), ["X1", "X2"]),
        (("X1, X2", "X3"), ["X1", "X2", "X3"]),
        (("A, B",), ["A, B"]),  # the name of a feature, comma and all
        (("",), []),
    ],
)
def test_a_list_of_features_is_split_at_commas_that_are_in_no_name(items, features):
    problem = structured({name: ["Y"] for name in ("X1", "X2", "X3", "A, B")})
    assert feature_list(problem, items) == features


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_number_of_processes_is_positive_or_one_per_core(run, jobs):
    check_jobs(-1)
    check_jobs(3)
    status, out, err = run("compare", "figure1", "--jobs", jobs)
    assert (status, out) == (2, "")
    wanted = "must be a number of processes, or -1 for one per core"
    assert err == f"--jobs: {wanted}, got {jobs}\n"


def test_a_file_that_cannot_be_written_is_refused_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr("voilattice.cli.sets.Lattice", lambda *_, **__: pytest.fail("it began"))
    os.mkfifo(tmp_path / "a.svg")
    err = run("lattice", "figure3", "--svg", tmp_path / "a.svg")[2]
    assert err == f"{tmp_path / 'a.svg'}: cannot be written: this is not a file\n"


def test_a_disk_that_is_full_is_named():
    with pytest.raises(InputError, match="^/dev/full: cannot be written: No space left"):
        write("/dev/full", ["text"] * 10_000)
