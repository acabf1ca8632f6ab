"""Networks that are written in the problem file, node by node."""

import tomllib
from contextlib import suppress

import pytest
from helpers.strategies import damaged, problems
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Network, Problem, VoilatticeError, load_problem, write_problem
from voilattice.errors import InputError

# The child comes first. Its parents are in the order opposite to that of the file.
CAR = """title = "Car"
[network]
target = "fault"
[[network.nodes]]
name    = "lights"
states  = ["dim", "bright"]
parents = ["fault", "age"]
table   = [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9], [0.05, 0.95], [0, 1]]
[[network.nodes]]
name    = "age"
states  = ["old", "new"]
table   = [[0.5, 0.5]]
[[network.nodes]]
name    = "fault"
states  = ["battery", "starter", "none"]
table   = [[0.3, 0.2, 0.5]]
[costs]
lights = 1
age    = 0
[misclassification]
kind     = "symmetric"
expected = 100
"""


def load_text(tmp_path, text):
    path = tmp_path / "p.toml"
    path.write_text(text)
    return load_problem(path)


def test_rows_are_read_with_the_last_parent_varying_fastest(tmp_path):
    problem = load_text(tmp_path, CAR)
    network = problem.network
    assert network.names == ("lights", "age", "fault")
    assert network.parents == ((2, 1), (), ())
    fault, age = network.states[2].index("starter"), network.states[1].index("new")
    assert network.tables[0][fault, age].tolist() == [0.1, 0.9]
    assert problem.features == ("lights", "age")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[0.3, 0.2, 0.5]", "[0.3, 0.2, 0.4]", "nodes.fault.table: P(fault) sums to 0.9, not 1"),
        (
            "[0.2, 0.8]",
            "[0.2, 0.7]",
            "nodes.lights.table: P(lights | fault=starter, age=old) sums to 0.9, not 1",
        ),
        (
            "[0, 1]",
            "[-1, 2]",
            "nodes.lights.table: P(lights | fault=none, age=new) holds -1.0",
        ),
        (
            "[0, 1]",
            "[0, nan]",
            "nodes.lights.table: P(lights | fault=none, age=new) holds nan",
        ),
        (
            "[0.9, 0.1], ",
            "",
            "nodes.lights.table: needs 6 rows, one for each combination of the states of 'fault', "
            "'age'; got 5",
        ),
        (
            "[[0.5, 0.5]]",
            "[[0.5, 0.5], [0.5, 0.5]]",
            "nodes.age.table: needs 1 row, since 'age' has no parents; got 2",
        ),
        (
            "[0.8, 0.2]",
            "[0.7, 0.2, 0.1]",
            "nodes.lights.table: row 2 needs 2 probabilities, one for each state of 'lights'; got",
        ),
        ("[0.8, 0.2]", "0.8", "nodes.lights.table[1]: must be a list, got 0.8"),
        ("[0.8, 0.2]", '["0.8", 0.2]', "nodes.lights.table[1][0]: must be a number, got '0.8'"),
        ("[[0.5, 0.5]]", "0.5", "nodes.age.table: must be a list, got 0.5"),
        (
            '"fault", "age"]',
            '"faults", "age"]',
            "nodes.lights.parents[0]: no node 'faults'",
        ),
        ('"fault", "age"]', '"age", "age"]', "nodes.lights.parents[1]: 'age' appears twice"),
        (
            "table   = [[0.5, 0.5]]",
            'parents = ["lights"]\ntable   = [[0.5, 0.5], [0.5, 0.5]]',
            "nodes: the network has a cycle: ",
        ),
        ('name    = "age"', 'name = "fault"', "nodes[2].name: 'fault' appears twice; names must"),
        ('name    = "age"', 'name = " "', "nodes[1].name: the node: a name must be printable text"),
        ('name    = "age"', "name = 3", "nodes[1].name: must be text, got 3"),
        ('name    = "age"', "", "nodes[1].name: is missing"),
        ('states  = ["old", "new"]', "", "nodes.age.states: is missing"),
        ("table   = [[0.5, 0.5]]", "", "nodes.age.table: is missing"),
        ("table   = [[0.5", "tabel = [[0.5", "nodes.age.tabel: unknown key (nearest: 'table')"),
        (
            '["old", "new"]',
            '["old", "old"]',
            "nodes.age.states: the states of 'age': the name 'old'",
        ),
        ('["old", "new"]', "[]", "nodes.age.states: the states of 'age': at least one is needed"),
        ('["old", "new"]', '"old"', "nodes.age.states: must be a list, got 'old'"),
        (
            "[[0.5, 0.5]]",
            "[[0,50, 0,50]]",
            "nodes.age.table: row 1 needs 2 probabilities, one for each state of 'age'; got 4 "
            "numbers: write a decimal point, not a comma",
        ),
        ('target = "fault"', 'target = "faul"', "target: the network has no node 'faul' (nearest"),
    ],
)
def test_a_mistake_in_a_node_ends_with_status_2_and_its_place(run, tmp_path, old, new, message):
    assert old in CAR
    path = tmp_path / "p.toml"
    path.write_text(CAR.replace(old, new, 1))
    status, out, err = run("show", str(path))
    assert (status, out) == (2, "")
    assert err.startswith(f"{path}: network.{message}")
    assert err.count("\n") == 1


def test_a_single_node_needs_two_brackets_too(tmp_path):
    text = CAR.split("[[network.nodes]]")
    with pytest.raises(InputError, match=r"network.nodes: must be .* write \[\[network.nodes\]\]"):
        load_text(tmp_path, f"{text[0]}[network.nodes]{text[3]}")


def test_a_network_must_come_from_one_place(tmp_path):
    with pytest.raises(InputError, match="network: needs one of .*, found file and nodes"):
        load_text(tmp_path, CAR.replace("[network]", '[network]\nfile = "a.bif"'))
    with pytest.raises(InputError, match="network: needs one of .*, found none"):
        load_text(tmp_path, "[network]\ntarget = 'Y'\n[costs]\n[misclassification]\n")


def test_many_parents_are_refused_in_words(tmp_path):
    root = '[[network.nodes]]\nname = "{}"\nstates = ["s"]\ntable = [[1]]\n'
    parents = ", ".join(f'"P{k}"' for k in range(64))
    child = f'[[network.nodes]]\nname = "C"\nstates = ["s"]\nparents = [{parents}]\ntable = [[1]]\n'
    nodes = "".join(root.format(f"P{k}") for k in range(64)) + child
    with pytest.raises(VoilatticeError, match="'C' has 64 parents; at most 63"):
        load_text(tmp_path, f'[network]\ntarget = "C"\n{nodes}[costs]\n[misclassification]\n')


def test_a_problem_read_from_nodes_is_written_as_nodes(tmp_path):
    problem = load_text(tmp_path, CAR)
    path = write_problem(problem, tmp_path / "again")
    assert [file.name for file in path.parent.iterdir()] == ["problem.toml"]
    assert "file" not in tomllib.loads(path.read_text())["network"]
    assert load_problem(path) == problem


def test_what_becomes_of_a_problem_is_still_written_as_nodes(tmp_path):
    problem = load_text(tmp_path, CAR).with_evidence({"age": "new"}).without(["lights"])
    path = write_problem(problem.with_expected("asymmetric", 3), tmp_path / "again")
    assert len(tomllib.loads(path.read_text())["network"]["nodes"]) == 3


def test_the_name_of_a_file_moves_the_network_there(tmp_path):
    problem = load_text(tmp_path, CAR)
    path = write_problem(problem, tmp_path / "again", network="car.bif")
    assert (path.parent / "car.bif").exists()
    assert "nodes" not in tomllib.loads(path.read_text())["network"]
    assert load_problem(path) == problem


def test_other_networks_have_a_file_of_their_own(tmp_path):
    path = write_problem(load_problem("asia"), tmp_path / "asia")
    assert (path.parent / "network.bif").exists()


def as_written(problem: Problem) -> Problem:
    """Return the same problem, its network to be written in the problem file."""
    n = problem.network
    network = Network(n.names, n.states, n.parents, n.tables, is_inline=True)
    return Problem.create(
        network, problem.target, problem.costs, problem.misclassification,
        features=problem.features, evidence=problem.evidence, title=problem.title,
        decisions=problem.decisions,
    )  # fmt: skip


@examples(60)
@given(problem=problems())
def test_writing_and_reading_nodes_gives_an_equal_problem(tmp_path_factory, problem):
    written = as_written(problem)
    path = write_problem(written, tmp_path_factory.mktemp("problem"))
    assert not (path.parent / "network.bif").exists()
    assert load_problem(path) == written  # tables are compared to the last bit


ODD = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6)


@examples(40)
@given(names=st.lists(ODD, min_size=2, max_size=4, unique=True))
def test_any_name_is_written_and_read(tmp_path_factory, names):
    states = {name: [name, f"not {name}"] for name in names}
    parents = {names[1]: [names[0]]}
    tables = {name: [0.25, 0.75] for name in names} | {names[1]: [[0.1, 0.9], [0.7, 0.3]]}
    network = Network.from_tables(states, parents, tables)
    costs = dict.fromkeys(names[1:], 1.0)
    problem = Problem.create(network, names[0], costs, ("symmetric", 10.0))
    written = as_written(problem)
    assert load_problem(write_problem(written, tmp_path_factory.mktemp("p"))) == written


@examples(150)
@given(data=st.data())
def test_damaged_nodes_give_a_problem_or_a_clear_error(tmp_path_factory, data):
    snippets = [
        "[",
        "]",
        ",",
        '"',
        "0.5",
        "-1",
        "[[0.5]]",
        "[[network.nodes]]\n",
        "parents = [1]\n",
    ]
    path = tmp_path_factory.getbasetemp() / "damaged-nodes.toml"
    path.write_text(damaged(data.draw, CAR, snippets))
    with suppress(VoilatticeError):
        load_problem(path)
