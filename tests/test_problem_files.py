import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

import voilattice
from voilattice import InputError, VoilatticeError, builtin_problems, load_problem, write_problem

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


def test_built_in_problems_load():
    assert {"figure1", "figure3", "asia"} <= set(builtin_problems())
    for name in builtin_problems():
        assert load_problem(name).title


def test_a_folder_and_its_file_are_the_same_problem():
    folder = Path(voilattice.__file__).parent / "problems" / "asia"
    assert load_problem(folder) == load_problem(folder / "problem.toml") == load_problem("asia")


@settings(max_examples=40)
@given(problem=problems())
def test_writing_and_reading_gives_an_equal_problem(tmp_path_factory, problem):
    folder = tmp_path_factory.mktemp("problem") / "new"
    path = write_problem(problem, folder)
    assert load_problem(folder) == problem == load_problem(path)


def test_another_network_format_can_be_written(tmp_path):
    problem = load_problem("asia")
    write_problem(problem, tmp_path, network="asia.bifxml")
    assert tomllib.loads((tmp_path / "problem.toml").read_text())["network"]["file"] == (
        "asia.bifxml"
    )
    assert load_problem(tmp_path).features == problem.features


def test_nothing_is_overwritten(tmp_path):
    write_problem(load_problem("asia"), tmp_path)
    with pytest.raises(InputError, match="is there already; choose another folder"):
        write_problem(load_problem("figure1"), tmp_path)


def test_costs_that_a_file_cannot_hold_are_refused(tmp_path):
    class Free:
        def cost(self, features, evidence):
            return 0.0

    problem = load_problem("figure1")
    free = voilattice.Problem.create(problem.network, "Y", Free(), problem.misclassification)
    with pytest.raises(InputError, match="costs of type Free cannot be written"):
        write_problem(free, tmp_path)


KEYS = "title, network, costs, groups, conditional_costs, misclassification, evidence"
MISTAKES = [
    ('title = "test"', "title = 3", "title: must be text, got 3"),
    ("[costs]", "[cots]", f"cots: unknown key (nearest: 'costs'); known are {KEYS}"),
    ("[costs]\nA = 5\nB = 10.5", "", "costs: is missing"),
    ("[evidence]", "[evidence", "not valid TOML: Expected ']' at the end of a table declaration"),
    ("A = 5\n", "A = 5\nA = 6\n", "not valid TOML: Cannot overwrite a value"),
    ('target = "Y"', 'target = "Z"', "network.target: the network has no node 'Z'"),
    ('target = "Y"', "", "network: target: is missing"),
    ('target = "Y"', 'target = ["Y"]', "network: target: must be text, got ['Y']"),
    ('target = "Y"', 'target = "Y"\nfile = "a.bif"', "network: must have either file or joint"),
    ('features = ["A", "B"]\n[', 'features = ["A", 2]\n[', "network: features[1]: must be text, g"),
    ('features = ["A", "B"]\n[', 'features = "A"\n[', "network: features: must be a list, got 'A'"),
    (
        'features = ["A", "B"]\n[',
        "fetures = []\n[",
        "network: fetures: unknown key (nearest: 'feat",
    ),
    ('H = ["T"], ', "", "network: joint: no states are given for 'H'"),
    ("0.144,", "0.044,", "network: joint: the joint table sums to 0.9, not 1"),
    ("0.144,", "", "network: joint: the joint table needs 8 probabilities (2 x 2 x 1 x 2), got 7"),
    ("0.144,", "true,", "network: joint: probabilities[0]: must be a number, got True"),
    ("0.144,", "nan,", "network: joint: the joint table holds nan, which is not a probability"),
    ("A = 5", "A = -3", "costs.A: must be >= 0, got -3"),
    ("A = 5", 'A = "5"', "costs.A: must be a number >= 0, got '5'"),
    ("A = 5", "A = inf", "costs.A: must be finite, got inf"),
    ("A = 5", "AA = 5", "costs.AA: no feature 'AA' (nearest: 'A')"),
    ("A = 5\n", "", "costs.A: every feature needs a price >= 0, found none"),
    ("B = 10.5", "B = 10.5\nH = 1", "costs.H: 'H' is hidden: it is not one of the features"),
    ("overhead = 2.1", "overhead = -1", "groups[0]: overhead: must be >= 0, got -1"),
    ("overhead = 2.1", "", "groups[0]: overhead: is missing"),
    ("overhead = 2.1", "overheads = 2.1", "groups[0]: overheads: unknown key (nearest: 'overhead"),
    ('features = ["A", "B"]\n[[', 'features = ["C"]\n[[', "groups[0].features: no feature 'C'"),
    ('features = ["A", "B"]\n[[', "features = []\n[[", "groups[0]: features: at least one is need"),
    (
        "[[conditional",
        '[[groups]]\nname = "x"\noverhead = 1\nfeatures = ["A"]\n[[conditional',
        "groups[1]: features: 'A' is in group 'blood' already; a feature belongs to one group",
    ),
    ('feature = "A"', 'feature = "Q"', "conditional_costs[0].feature: no feature 'Q'"),
    ('when = { B = "T" }', "when = {}", "conditional_costs[0]: when: at least one known feature"),
    ('when = { B = "T" }', 'when = { B = "U" }', "conditional_costs[0].when.B: 'B' has no state"),
    ('when = { B = "T" }', "when = { B = 1 }", "conditional_costs[0]: when.B: must be text, got 1"),
    ('when = { B = "T" }', 'when = { A = "T" }', "conditional_costs[0]: when: 'A' cannot be known"),
    ("cost = 3", "cost = -3", "conditional_costs[0]: cost: must be >= 0, got -3"),
    ("T = { T = 0, F = 50 }\n", "", "misclassification: the predicted class 'T' is missing"),
    ("T = { T = 0, F = 50 }", "T = { T = 0 }", "misclassification: T: the actual class 'F' is mis"),
    ("T = { T = 0, F = 50 }", "T = 0", "misclassification: T: must be a table { actual = cost"),
    ("F = 50 }", "F = nan }", "misclassification: T: F: must be finite, got nan"),
    ("F = 50 }", "F = -1 }", "misclassification: T: F: must be >= 0, got -1"),
    ("T = { T = 0, F = 50 }\n", 'kind = "symmetric"\n', "misclassification: F: unknown key"),
    ('B = "F"', 'B = "maybe"', "evidence.B: 'B' has no state 'maybe'; its states are 'T', 'F'"),
    ('B = "F"', "B = 0", "evidence.B: must be text, got 0"),
    ('B = "F"', 'Y = "F"', "evidence.Y: 'Y' is the target, not a feature"),
    ('B = "F"', 'H = "T"', "evidence.H: 'H' is hidden: it is not one of the features"),
    ('B = "F"', 'B = "F"\nB = "T"', "not valid TOML: Cannot overwrite a value"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_named_with_its_place(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(VoilatticeError) as caught:
        load_text(tmp_path, GOOD.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'p.toml'}: {message}")


def test_a_missing_file_and_an_unknown_name_are_told_apart(tmp_path):
    with pytest.raises(VoilatticeError, match=r"'figur1' is neither a file nor a built-in probl"):
        load_problem("figur1")
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
        load_problem(tmp_path / "none.toml")


def test_a_network_file_that_is_not_there_is_named(tmp_path):
    text = GOOD.replace("[network]", '[network]\nfile = "gone.bif"', 1)
    start, end = text.index("[network.joint]"), text.index("[costs]")
    with pytest.raises(InputError, match=r"p\.toml: network: file: .*gone\.bif: cannot be read"):
        load_text(tmp_path, text[:start] + text[end:])


def test_deep_nesting_is_refused(tmp_path):
    with pytest.raises(InputError, match="nested too deeply"):
        load_text(tmp_path, "x = " + "[" * 100_000)


def test_a_huge_problem_file_is_refused(tmp_path):
    path = tmp_path / "p.toml"
    path.write_bytes(b"#" * 10_000_001)
    with pytest.raises(VoilatticeError, match="may have at most 10000000"):
        load_problem(path)


@settings(max_examples=400)
@given(st.data())
def test_damaged_files_give_a_problem_or_a_clear_error(tmp_path_factory, data):
    text = GOOD
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        match data.draw(st.integers(0, 3)):
            case 0:
                text = text[:place]
            case 1:
                text = text[:place] + text[place + data.draw(st.integers(1, 12)) :]
            case 2:
                snippets = ["[", "]", "{", "=", '"', "nan", "1e999", "-1", "é", "true", "\n", "0.9"]
                text = text[:place] + data.draw(st.sampled_from(snippets)) + text[place:]
            case 3:
                text = text[:place] + text[place : place + 30] + text[place:]
    path = tmp_path_factory.getbasetemp() / "damaged.toml"
    path.write_text(text)
    try:
        result = repr(load_problem(path))
    except VoilatticeError as error:
        result = str(error)
    assert result
    assert "\n" not in result
