import os
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import DATA, damaged, needs_data, problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

import voilattice
from voilattice import Discount, VoilatticeError, load_problem, write_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.files.problems import builtin_problems, find_problem, parse_toml, read_costs

GOOD = """title = "test"
[network]
target = "Y"
features = ["A", "B"]
[network.joint]
variables = ["A", "B", "H", "Y"]
states = { A = ["T", "F"], B = ["T", "F"], H = ["T"], Y = ["T", "F"] }
probabilities = [0.144, 0.036, 0.168, 0.252, 0.020, 0.180, 0.020, 0.180]
[costs]
A = 5
B = 10.5
[[groups]]
name = "blood"
overhead = 2.1
features = ["A", "B"]
[[conditional_costs]]
feature = "A"
when = { B = "T" }
cost = 3
[misclassification]
T = { T = 0, F = 50 }
F = { T = 50, F = 0 }
[evidence]
B = "F"
"""


def load_text(tmp_path, text):
    path = tmp_path / "p.toml"
    path.write_text(text)
    return load_problem(path)


def test_every_part_of_the_file_is_read(tmp_path):
    problem = load_text(tmp_path, GOOD)
    assert problem.title == "test"
    assert problem.features == ("A", "B")
    assert problem.hidden == ("H",)
    assert problem.evidence == {"B": "F"}
    assert problem.costs.cost(frozenset({"A"}), {}) == pytest.approx(7.1)
    assert problem.costs.cost(frozenset({"A"}), {"B": "T"}) == pytest.approx(3)
    assert problem.misclassification.tolist() == [[0, 50], [50, 0]]


OWN = GOOD.replace("T = { T = 0, F = 50 }\n", "refer = { F = 20, T = 20 }\nT = { T = 1, F = 2 }\n")


def test_the_rows_of_the_matrix_are_decisions(tmp_path):
    problem = load_text(tmp_path, OWN)
    assert problem.classes == ("T", "F")
    assert problem.decisions == ("refer", "T", "F")
    assert problem.misclassification.tolist() == [[20, 20], [1, 2], [50, 0]]
    path = write_problem(problem, tmp_path / "again")
    assert tomllib.loads(path.read_text())["misclassification"] == {
        "refer": {"T": 20, "F": 20}, "T": {"T": 1, "F": 2}, "F": {"T": 50, "F": 0},
    }  # fmt: skip
    assert load_problem(path) == problem
    one = load_text(tmp_path, GOOD.replace("T = { T = 0, F = 50 }\n", ""))
    assert (one.decisions, one.misclassification.tolist()) == (("F",), [[50, 0]])


def test_rows_that_are_the_classes_stand_in_their_order(tmp_path):
    rows = "T = { T = 0, F = 50 }\nF = { T = 50, F = 0 }\n"
    swapped = "F = { T = 50, F = 0 }\nT = { T = 0, F = 50 }\n"
    assert load_text(tmp_path, GOOD.replace(rows, swapped)) == load_text(tmp_path, GOOD)


def test_a_scaled_kind_decides_on_the_classes(tmp_path):
    problem = load_text(tmp_path, OWN).with_expected("symmetric", 30)
    assert problem.decisions == problem.classes
    assert problem.misclassification.shape == (2, 2)


def test_stakes_of_a_kind_are_not_written_for_own_decisions(tmp_path):
    problem = load_text(tmp_path, OWN)
    with pytest.raises(InputError, match="differ from the problem's misclassification costs"):
        write_problem(problem, tmp_path / "again", stakes=("symmetric", 10))


DISCOUNT = GOOD.replace("[[groups]]", "[[discounts]]").replace(
    'overhead = 2.1\nfeatures = ["A", "B"]', "off = { A = 2.5, B = 2 }"
)


def test_discounts_are_read(tmp_path):
    costs = load_text(tmp_path, DISCOUNT).costs
    assert costs.discounts == (Discount("blood", {"A": 2.5, "B": 2}),)
    assert costs.groups == ()


@needs_data
def test_the_costs_of_public_data_sets_are_read():
    files = sorted((DATA / "lomax").glob("*/*.toml"))
    assert len(files) == 24
    costs = {f"{file.parent.name}-{file.stem}": read_costs(file).costs for file in files}
    assert sum(bool(each.discounts) for each in costs.values()) == 21
    (discount,) = costs["heart-low"].discounts
    assert discount == Discount("a", {"thal": 101.9, "thalach": 101.9})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("A = 2.5", "A = 5.5", "discounts[0].off.A: must be at most the price 5, got 5.5"),
        ("A = 2.5", "A = -1", "discounts[0].off.A: must be >= 0, got -1"),
        ("A = 2.5", 'A = "1"', "discounts[0].off.A: must be a number >= 0, got '1'"),
        ("A = 2.5", "C = 2.5", "discounts[0].off: no feature 'C' (there are: A, B)"),
        ("A = 2.5, B = 2", "", "discounts[0].off: at least one feature is needed, found none"),
        ("off = {", "of = {", "discounts[0].of: unknown key (nearest: 'off')"),
        ("off = { A = 2.5, B = 2 }", "", "discounts[0].off: is missing"),
        ("off = { A = 2.5, B = 2 }", "off = 2", "discounts[0].off: must be a table, got 2"),
        ('name = "blood"', 'name = ""', "discounts[0].name: must not be empty, got ''"),
        (
            "cost = 3",
            "cost = 2",
            "conditional_costs[0].cost: "
            "must be at least 2.5, what its discount takes off 'A'; got 2",
        ),
        (
            "[[conditional",
            '[[groups]]\nname = "x"\noverhead = 1\nfeatures = ["A"]\n[[conditional',
            "discounts[0].off: 'A' is in group 'x' already; "
            "a feature belongs to one group or discount at most, once",
        ),
    ],
)
def test_a_mistake_in_a_discount_ends_with_status_2_and_its_place(run, tmp_path, old, new, message):
    assert old in DISCOUNT
    path = tmp_path / "p.toml"
    path.write_text(DISCOUNT.replace(old, new, 1))
    assert run("show", str(path)) == (2, "", f"{path}: {message}\n")


def test_built_in_problems_load():
    assert {"figure1", "figure3", "asia"} <= set(builtin_problems())
    for name in builtin_problems():
        assert load_problem(name).title


def test_a_folder_and_its_file_are_the_same_problem():
    folder = Path(voilattice.__file__).parent / "problems" / "asia"
    assert load_problem(folder) == load_problem(folder / "problem.toml") == load_problem("asia")


@examples(40)
@given(problem=problems())
def test_writing_and_reading_gives_an_equal_problem(tmp_path_factory, problem):
    folder = tmp_path_factory.mktemp("problem") / "new"
    path = write_problem(problem, folder)
    assert load_problem(folder) == problem == load_problem(path)


def test_bins_are_written_and_read(tmp_path):
    text = GOOD.replace("[evidence]", "[bins]\nB = [36.6]\n[evidence]")
    problem = load_text(tmp_path, text)
    assert problem.bins == {"B": (36.6,)}
    assert load_problem(write_problem(problem, tmp_path / "again")) == problem
    assert load_text(tmp_path, text.replace('B = "F"', "B = 40")) == problem  # evidence


def test_another_network_format_can_be_written(tmp_path):
    problem = load_problem("asia")
    write_problem(problem, tmp_path, network="asia.bifxml")
    assert tomllib.loads((tmp_path / "problem.toml").read_text())["network"]["file"] == (
        "asia.bifxml"
    )
    assert load_problem(tmp_path).features == problem.features


def test_nothing_is_overwritten(tmp_path):
    write_problem(load_problem("asia"), tmp_path)
    with pytest.raises(InputError, match=r"problem\.toml is there already; choose another folder"):
        write_problem(load_problem("figure1"), tmp_path)
    (tmp_path / "problem.toml").unlink()
    with pytest.raises(InputError, match=r"network\.bif is there already; choose another folder"):
        write_problem(load_problem("figure1"), tmp_path)


@pytest.mark.parametrize("name", ["../n.bif", "folder/n.bif", "n.uai"])
def test_the_network_stays_in_the_folder_and_keeps_its_names(tmp_path, name):
    with pytest.raises(InputError, match="must be a plain name in a format that keeps names"):
        write_problem(load_problem("figure1"), tmp_path, network=name)
    assert not list(tmp_path.iterdir())


def test_numpy_numbers_are_written(tmp_path):
    problem = load_problem("figure1")
    prices = {name: np.int64(3) for name in problem.features}
    priced = voilattice.Problem.create(problem.network, "Y", prices, problem.misclassification)
    assert load_problem(write_problem(priced, tmp_path)) == priced


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path / "pipe.toml", Path("/dev/zero")):
        with pytest.raises(InputError, match="this is not a file"):
            load_problem(path)
    with pytest.raises(InputError, match=r"the folder holds no problem\.toml"):
        load_problem(tmp_path)
    for name in ("x" * 300, "a\0b"):
        with pytest.raises(VoilatticeError):
            load_problem(name)


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load_problem(path).title == "test"


def check_problem_or_error(path, tmp_path_factory):
    """What is read can be written and read again; an error is one line and names the file."""
    try:
        problem = load_problem(path)
    except VoilatticeError as error:
        message = str(error)
    else:
        copy = tmp_path_factory.getbasetemp() / "copy-of-damaged"
        shutil.rmtree(copy, ignore_errors=True)
        assert load_problem(write_problem(problem, copy)) == problem
        return
    assert re.fullmatch(rf"{re.escape(str(path))}\S*: \S.{{10,}}", message)


@pytest.mark.slow
@examples(200)
@given(st.data())
def test_a_damaged_network_file_gives_a_problem_or_a_clear_error(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "damaged"
    if not folder.exists():
        write_problem(load_problem("figure3"), folder)
        (folder / "whole.bif").write_bytes((folder / "network.bif").read_bytes())
    text = (folder / "whole.bif").read_text()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 20, len(text))))
    junk = data.draw(
        st.sampled_from(["", "{", "}", ";", "0.5", "nan", "-1", "X9", "(T)", '"', "\0"])
    )
    (folder / "network.bif").write_text(text[:start] + junk + text[stop:])
    check_problem_or_error(folder, tmp_path_factory)


def test_costs_that_a_file_cannot_hold_are_refused(tmp_path):
    class Free:
        def cost(self, features, evidence):
            return 0.0

    problem = load_problem("figure1")
    free = voilattice.Problem.create(problem.network, "Y", Free(), problem.misclassification)
    with pytest.raises(InputError, match="costs of type Free cannot be written"):
        write_problem(free, tmp_path)


MISTAKES = [
    ('title = "test"', "title = 3", "title: must be text, got 3"),
    (
        "[[groups]]",
        "[groups]",
        "groups: must be a list of tables: write [[groups]] above each, not [groups]",
    ),
    (
        "[evidence]",
        '[constraints]\nfeature = "A"\n[evidence]',
        "constraints: must be a list of tables: write [[constraints]] above each, not "
        "[constraints]",
    ),
    (
        "[evidence]",
        '[discounts]\nname = "a"\n[evidence]',
        "discounts: must be a list of tables: write [[discounts]] above each, not [discounts]",
    ),
    ("[costs]", "[cots]", "cots: unknown key (nearest: 'costs')"),
    ("[costs]\nA = 5\nB = 10.5", "", "costs: is missing"),
    (
        "[evidence]",
        "[evidence",
        "not valid TOML: Expected ']' at the end of a table declaration (at line 23, column 10): "
        "[evidence",
    ),
    (
        "A = 5\n",
        "A = 5\nA = 6\n",
        "not valid TOML: Cannot overwrite a value (at line 11, column 6): A = 6",
    ),
    (
        'target = "Y"',
        'target = "Z"',
        "network.target: the network has no node 'Z' (there are: A, B, H, Y)",
    ),
    ('target = "Y"', "", "network.target: is missing"),
    ('target = "Y"', 'target = ["Y"]', "network.target: must be text, got ['Y']"),
    (
        'target = "Y"',
        'target = "Y"\nfile = "a.bif"',
        "network: needs one of file, joint and nodes, found file and joint",
    ),
    (
        'features = ["A", "B"]\n[',
        'features = ["A", 2]\n[',
        "network.features[1]: must be text, got 2",
    ),
    ('features = ["A", "B"]\n[', 'features = "A"\n[', "network.features: must be a list, got 'A'"),
    (
        'features = ["A", "B"]\n[',
        "fetures = []\n[",
        "network.fetures: unknown key (nearest: 'features')",
    ),
    ('H = ["T"], ', "", "network.joint: no states are given for 'H'"),
    ("0.144,", "0.044,", "network.joint: the joint table sums to 0.9, not 1"),
    ("0.144,", "", "network.joint: the joint table needs 8 probabilities (2 x 2 x 1 x 2), got 7"),
    ("0.144,", "true,", "network.joint.probabilities[0]: must be a number, got true"),
    ("0.144,", "nan,", "network.joint: the joint table holds nan, which is not a probability"),
    ("A = 5", "A = -3", "costs.A: must be >= 0, got -3"),
    ("A = 5", 'A = "5"', "costs.A: must be a number >= 0, got '5'"),
    ("A = 5", "A = inf", "costs.A: must be finite, got inf"),
    ("A = 5", "AA = 5", "costs.AA: no feature 'AA' (nearest: 'A')"),
    ("A = 5\n", "", "costs.A: every feature needs a price >= 0, found none"),
    ("B = 10.5", "B = 10.5\nH = 1", "costs.H: 'H' is hidden: it is not one of the features"),
    ("overhead = 2.1", "overhead = -1", "groups[0].overhead: must be >= 0, got -1"),
    ("overhead = 2.1", "", "groups[0].overhead: is missing"),
    ("overhead = 2.1", "overheads = 2.1", "groups[0].overheads: unknown key (nearest: 'overhead')"),
    (
        'features = ["A", "B"]\n[[',
        'features = ["C"]\n[[',
        "groups[0].features: no feature 'C' (there are: A, B)",
    ),
    (
        'features = ["A", "B"]\n[[',
        "features = []\n[[",
        "groups[0].features: at least one is needed, found none",
    ),
    (
        "[[conditional",
        '[[groups]]\nname = "x"\noverhead = 1\nfeatures = ["A"]\n[[conditional',
        "groups[1].features: 'A' is in group 'blood' already; "
        "a feature belongs to one group or discount at most, once",
    ),
    (
        'feature = "A"',
        'feature = "Q"',
        "conditional_costs[0].feature: no feature 'Q' (there are: A, B)",
    ),
    (
        'when = { B = "T" }',
        "when = {}",
        "conditional_costs[0].when: at least one known feature is needed; "
        "give 'A' that price under costs if it always holds",
    ),
    (
        'when = { B = "T" }',
        'when = { B = "U" }',
        "conditional_costs[0].when.B: 'B' has no state 'U'; its states are 'T', 'F'",
    ),
    ('when = { B = "T" }', "when = { B = 1 }", "conditional_costs[0].when.B: must be text, got 1"),
    (
        'when = { B = "T" }',
        'when = { A = "T" }',
        "conditional_costs[0].when: 'A' cannot be known before it is acquired",
    ),
    ("cost = 3", "cost = -3", "conditional_costs[0].cost: must be >= 0, got -3"),
    (
        "T = { T = 0, F = 50 }",
        "T = { T = 0 }",
        "misclassification.T: the cost for the class 'F' is missing",
    ),
    (
        "T = { T = 0, F = 50 }",
        "T = 0",
        "misclassification.T: must be a table { class = cost, ... }, got 0",
    ),
    ("F = 50 }", "F = nan }", "misclassification.T.F: must be finite, got nan"),
    ("F = 50 }", "F = -1 }", "misclassification.T.F: must be >= 0, got -1"),
    (
        "T = { T = 0, F = 50 }\n",
        'kind = "symmetric"\n',
        "misclassification.F: unknown key (there are: kind, expected)",
    ),
    ('B = "F"', 'B = "maybe"', "evidence.B: 'B' has no state 'maybe'; its states are 'T', 'F'"),
    ('B = "F"', "B = 0", "evidence.B: 'B' has no state 0; its states are 'T', 'F'"),
    ('B = "F"', "B = ['F']", "evidence.B: must be text or a number, got ['F']"),
    ("[evidence]", "[bins]\nB = 1\n[evidence]", "bins.B: must be a list, got 1"),
    ("[evidence]", "[bins]\nB = ['1']\n[evidence]", "bins.B[0]: must be a number, got '1'"),
    (
        "[evidence]",
        "[bins]\nB = [inf]\n[evidence]",
        "bins.B: a cut must be a finite number, got inf",
    ),
    (
        "[evidence]",
        "[bins]\nB = [1, 2]\n[evidence]",
        "bins.B: 2 states need 1 cut between them, got 2",
    ),
    (
        "[evidence]",
        "[bins]\nH = []\n[evidence]",
        "bins.H: 'H' is hidden: it is not one of the features",
    ),
    ("[evidence]", "[bins]\nY = [1]\n[evidence]", "bins.Y: 'Y' is the target, not a feature"),
    ('B = "F"', 'Y = "F"', "evidence.Y: 'Y' is the target, not a feature"),
    ('B = "F"', 'H = "T"', "evidence.H: 'H' is hidden: it is not one of the features"),
    (
        'B = "F"',
        'B = "F"\nB = "T"',
        'not valid TOML: Cannot overwrite a value (at line 25, column 8): B = "T"',
    ),
    (
        "A = 5",
        "A = 1" + "0" * 399,
        "costs.A: must be at most 1e+100, got 1" + "0" * 56 + "...",
    ),
    (
        "A = 5",
        "A = 1" + "0" * 5000,
        "not valid TOML: a number has thousands of digits",
    ),
    ("A = 5", "A = 1e200", "costs.A: must be at most 1e+100, got 1e+200"),
    (
        '[[groups]]\nname = "blood"',
        '[[groups]]\nname = ""',
        "groups[0].name: must not be empty, got ''",
    ),
    ('title = "test"', "title = 2020-01-01", "title: must be text, got 2020-01-01"),
    ("[network.joint]", "[network.jiont]", "network.jiont: unknown key (nearest: 'joint')"),
    (
        "T = { T = 0, F = 50 }\n",
        "T = { T = 0, F = 50 }\nrefer = {}\n",
        "misclassification.refer: the cost for the class 'T' is missing",
    ),
    (
        "T = { T = 0, F = 50 }\n",
        "refer = { T = 60, F = 60, U = 60 }\n",
        "misclassification.refer.U: this is not a class; the classes are 'T', 'F'",
    ),
    (
        "T = { T = 0, F = 50 }\n",
        "refer = { T = 60, F = inf }\n",
        "misclassification.refer.F: must be finite, got inf",
    ),
    (
        "T = { T = 0, F = 50 }\n",
        'refer = { T = 60, F = "60" }\n',
        "misclassification.refer.F: must be a number >= 0, got '60'",
    ),
    (
        "T = { T = 0, F = 50 }\n",
        '"" = { T = 60, F = 60 }\n',
        "misclassification: the name of a decision must be a text, got ''",
    ),
    (
        "T = { T = 0, F = 50 }\nF = { T = 50, F = 0 }",
        'kind = "symmetric"\nexpected = -1',
        "misclassification.expected: must be >= 0, got -1",
    ),
    (
        "T = { T = 0, F = 50 }\nF = { T = 50, F = 0 }",
        'kind = "odd"\nexpected = 1',
        "misclassification.kind: must be symmetric or asymmetric, got 'odd'",
    ),
    (
        "T = { T = 0, F = 50 }\nF = { T = 50, F = 0 }",
        'kind = "symmetric"',
        "misclassification.expected: is missing",
    ),
    (
        "T = { T = 0, F = 50 }\nF = { T = 50, F = 0 }",
        "",
        "misclassification: must hold the matrix, or kind and expected",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_ends_with_status_2_and_its_place(run, tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "p.toml"
    path.write_text(GOOD.replace(old, new, 1))
    assert run("show", path, "--json") == (2, "", f"{path}: {message}\n")


def test_a_missing_file_and_an_unknown_name_are_told_apart(tmp_path):
    with pytest.raises(VoilatticeError, match=r"'figur1' is neither .* \(nearest: 'figure1'\)"):
        load_problem("figur1")
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
        load_problem(tmp_path / "none.toml")


def test_a_network_file_that_is_not_there_is_named(tmp_path):
    text = GOOD.replace("[network]", '[network]\nfile = "gone.bif"', 1)
    start, end = text.index("[network.joint]"), text.index("[costs]")
    with pytest.raises(InputError, match=r"p\.toml: network.file: .*gone\.bif: cannot be read"):
        load_text(tmp_path, text[:start] + text[end:])


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 100_000, "[" + "a." * 4_000_000 + "a]", "'a' . " * 1_000_000 + "a = 1"]
)
def test_deep_nesting_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="nested too deeply"):
        load_text(tmp_path, text)


def test_many_points_are_no_nesting(tmp_path):
    assert load_text(tmp_path, "# " + "and so on. " * 1000 + "x" * 1_000_000 + "\n" + GOOD)


def test_a_huge_problem_file_is_refused(tmp_path):
    path = tmp_path / "p.toml"
    path.write_bytes(b"#" * 10_000_001)
    with pytest.raises(VoilatticeError, match="may have at most 10000000"):
        load_problem(path)


@pytest.mark.slow
@examples(400)
@given(st.data())
def test_damaged_files_give_a_problem_or_a_clear_error(tmp_path_factory, data):
    snippets = ["[", "]", "{", "=", '"', "nan", "1e999", "-1", "é", "true", "\n", "0.9"]
    text = damaged(data.draw, GOOD, snippets)
    path = tmp_path_factory.getbasetemp() / "damaged.toml"
    path.write_text(text)
    check_problem_or_error(path, tmp_path_factory)


@pytest.fixture
def own_heart(tmp_path, monkeypatch):
    """A problem of the user's own in a folder of a built-in problem's name, here."""
    write_problem(load_problem("figure1"), tmp_path / "heart")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "heart"


def test_a_path_wins_over_a_built_in_problem_of_that_name(own_heart):
    assert load_problem("heart").features == ("X1", "X2")
    assert load_problem("builtin:heart").target == "class"
    source = find_problem("heart")
    assert source.note == "the folder heart is used, not the built-in problem (builtin:heart)"
    assert find_problem("./heart").note == find_problem("asia").note == ""


def test_a_file_wins_over_a_built_in_problem_of_that_name(own_heart, tmp_path):
    own_heart.rename(tmp_path / "own")
    (tmp_path / "heart").write_bytes((tmp_path / "own" / "problem.toml").read_bytes())
    (tmp_path / "network.bif").write_bytes((tmp_path / "own" / "network.bif").read_bytes())
    assert load_problem("heart").features == ("X1", "X2")
    assert find_problem("heart").note.startswith("the file heart is used, not the built-in")


def test_a_folder_without_a_problem_leaves_the_name_to_the_built_in_one(own_heart):
    (own_heart / "problem.toml").unlink()
    assert load_problem("heart").target == "class"
    assert find_problem("heart").note == (
        "the folder heart holds no problem.toml: the built-in problem heart is used"
    )
    with pytest.raises(InputError, match=r"heart: the folder holds no problem\.toml"):
        load_problem("./heart")
    with pytest.raises(InputError, match=r"heart: the folder holds no problem\.toml"):
        load_problem(own_heart)


def test_an_unknown_built_in_problem_is_named(own_heart):
    with pytest.raises(UnknownNameError, match="there is no built-in problem 'hart'.*'heart'"):
        load_problem("builtin:hart")


def test_the_command_line_says_which_problem_a_name_means(own_heart, run):
    status, out, err = run("show", "heart", "--json")
    assert (status, err) == (
        0, "the folder heart is used, not the built-in problem (builtin:heart)\n"
    )  # fmt: skip
    assert '"X1"' in out
    assert run("show", "builtin:heart", "--json")[2] == ""
    assert "Heart" in run("problems")[1]


@pytest.mark.parametrize("given", [3, None])
def test_what_is_no_path_and_no_name_is_refused(given):
    with pytest.raises(InputError, match="^must be the path or the name of a problem, got"):
        load_problem(given)


@pytest.mark.parametrize("part", ["a", '"a b"', "'a.b'"])
def test_a_key_of_thousands_of_parts_is_refused_at_once(part):
    with pytest.raises(InputError, match="nested too deeply"):
        parse_toml(".".join([part] * 20_000) + " = 1")


@pytest.mark.parametrize("text", ["x=[{}]", "x={{{}}}"])
def test_many_decimals_in_a_line_are_no_key(text):
    entries = ["0.5"] * 300 if "[" in text else [f"f{k}=1.5" for k in range(300)]
    assert len(parse_toml(text.format(",".join(entries)))["x"]) == 300
