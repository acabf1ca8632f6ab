"""Every network format: the order of its tables, its names, and what happens to damaged files.

`HAND` has one network in each format, written by hand in the order that the format documents: a
node D with parents A, B, C of 2, 3 and 4 states, where P(D = d0 | a, b, c) is the number
0.01 (1 + 12 a + 4 b + c).
"""

import itertools
import json
import random
import re

import numpy as np
import pyagrum
import pytest
from helpers.strategies import full_joint, networks
from helpers.worlds import examples
from hypothesis import given

from voilattice import Network, VoilatticeError, read_network, write_network
from voilattice.errors import InputError, TooLargeError
from voilattice.files import networks as files
from voilattice.files import xml_tree
from voilattice.files.bifxml import parse_bifxml
from voilattice.files.net import parse_net
from voilattice.files.node_tables import check_table_size
from voilattice.files.uai import parse_uai

OWN = [e for e in files.WRITABLE if e not in files.PYAGRUM]

ROWS = " ".join(f"{k / 100:.2f} {1 - k / 100:.2f}" for k in range(1, 25))
BY_STATE = ", ".join(ROWS.split()[::2] + ROWS.split()[1::2])  # all of d0, then all of d1


def nested(numbers: str) -> str:
    """The 24 rows as Hugin writes them: a level of parentheses for each parent."""
    rows = re.findall(r"\S+ \S+", numbers)
    b = ["(" + " ".join(f"( {row} )" for row in rows[k : k + 4]) + ")" for k in range(0, 24, 4)]
    return f"(({' '.join(b[:3])})({' '.join(b[3:])}))"


def xdsl_node(name: str, states: str, table: str, parents: str = "") -> str:
    labels = "".join(f'<state id="{state}" />' for state in states.split())
    given = f"<parents>{parents}</parents>" if parents else ""
    return f'<cpt id="{name}">{labels}{given}<probabilities>{table}</probabilities></cpt>\n'


def dsl_node(name: str, states: str, table: str, parents: str = "") -> str:
    listed = (", ".join(words.split()) for words in (parents, states, table))
    return (
        " node {}\n {{\n TYPE = CPT;\n PARENTS = ({});\n DEFINITION =\n  {{\n"
        "   NAMESTATES = ({});\n   PROBABILITIES = ({});\n  }};\n }};\n"
    ).format(name, *listed)


def net_node(name: str, states: str) -> str:
    labels = " ".join(f'"{state}"' for state in states.split())
    return f'node {name}\n{{\n label = "";\n position = (10 20);\n states = ({labels});\n}}\n'


def xmlbif_variable(name: str, states: str) -> str:
    outcomes = "".join(f"<OUTCOME>{state}</OUTCOME>" for state in states.split())
    return f'<VARIABLE TYPE="nature"><NAME>{name}</NAME>{outcomes}</VARIABLE>\n'


def xmlbif_table(name: str, table: str, parents: str = "") -> str:
    given = "".join(f"<GIVEN>{parent}</GIVEN>" for parent in parents.split())
    return f"<DEFINITION><FOR>{name}</FOR>{given}<TABLE>{table}</TABLE></DEFINITION>\n"


ROOTS = {
    "A": ("a0 a1", "0.3 0.7"),
    "B": ("b0 b1 b2", "0.2 0.3 0.5"),
    "C": ("c0 c1 c2 c3", "0.1 0.2 0.3 0.4"),
}
NODES = {**{name: states for name, (states, _) in ROOTS.items()}, "D": "d0 d1"}
HAND = {
    ".xdsl": '<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="N"><nodes>\n'
    + "".join(xdsl_node(name, *root) for name, root in ROOTS.items())
    + xdsl_node("D", "d0 d1", ROWS, "A B C")
    + '</nodes><extensions><genie version="1.0" app="GeNIe" name="N"><submodel id="S">'
    '<node id="A"><name>First</name></node></submodel></genie></extensions></smile>',
    ".dsl": "net N\n{\n HEADER = { ID = N; };\n // by hand\n"
    + "".join(dsl_node(name, *root) for name, root in ROOTS.items())
    + dsl_node("D", "d0 d1", ROWS, "A B C")
    + "};\n",
    ".net": "net\n{\n node_size = (80 40);\n}\n"
    + "".join(net_node(name, states) for name, states in NODES.items())
    + "".join(
        f"potential ({name})\n{{\n data = ( {table} ); % by hand\n}}\n"
        for name, (_, table) in ROOTS.items()
    )
    + f"potential (D | A B C)\n{{\n data = {nested(ROWS)};\n}}\n",
    ".bifxml": '<?xml version="1.0"?>\n<!DOCTYPE BIF [\n <!ELEMENT BIF (NETWORK)*>\n'
    "<!ATTLIST BIF VERSION CDATA #REQUIRED>\n]>\n"
    '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>\n'
    + "".join(xmlbif_variable(name, states) for name, states in NODES.items())
    + "".join(xmlbif_table(name, table) for name, (_, table) in ROOTS.items())
    + xmlbif_table("D", ROWS, "A B C")
    + "</NETWORK></BIF>",
    ".uai": "BAYES\n4\n2 3 4 2\n4\n1 0\n1 1\n1 2\n4 0 1 2 3\n\n2\n.3 .7\n3\n.2 .3 .5\n4\n"
    f".1 .2 .3 .4\n48\n{ROWS}\n",
    ".bif": "network n {}\n"
    + "".join(
        f"variable {name} {{ type discrete [ {len(states.split())} ] "
        f"{{ {', '.join(states.split())} }}; }}\n"
        for name, states in NODES.items()
    )
    + "".join(
        f"probability ( {name} ) {{ table {', '.join(table.split())}; }}\n"
        for name, (_, table) in ROOTS.items()
    )
    # In a BIF table the node varies slowest.
    + f"probability ( D | A, B, C ) {{ table {BY_STATE}; }}",
    ".o3prm": "type Ta labels(a0, a1); type Tb labels(b0, b1, b2); type Tc labels(c0, c1, c2, c3);"
    " type Td labels(d0, d1); class Hand { Ta A { [0.3, 0.7] }; Tb B { [0.2, 0.3, 0.5] };"
    " Tc C { [0.1, 0.2, 0.3, 0.4] };"
    # In O3PRM too.
    f" Td D dependson A, B, C {{ [{BY_STATE}] }}; }}",
    ".jgum": json.dumps(
        {
            "type": "BN",
            "GumJsonVersion": "1.0",
            "nodes": [f"{name}{{{'|'.join(states.split())}}}" for name, states in NODES.items()],
            "parents": {"A": [], "B": [], "C": [], "D": ["A", "B", "C"]},
            "cpt": {
                **{name: list(map(float, table.split())) for name, (_, table) in ROOTS.items()},
                # The node varies fastest, then its first parent, and its last parent slowest.
                "D": [
                    p if d == 0 else 1 - p
                    for c, b, a in itertools.product(range(4), range(3), range(2))
                    for p in [(1 + 12 * a + 4 * b + c) / 100]
                    for d in range(2)
                ],
            },
            "properties": {"name": "hand"},
        }
    ),
}
COUNTED = np.arange(1, 25).reshape(2, 3, 4) / 100


def write_by_hand(folder, extension):
    # pyAgrum wants an O3PRM file to have the name of its class.
    path = folder / f"Hand{extension}"
    path.write_text(HAND[extension])
    return path


def by_names(network: Network, child: str, parents: tuple[str, ...]) -> np.ndarray:
    """Return P(child | parents) with the parents in the order asked for."""
    i = network.index(child)
    found = [network.names[p] for p in network.parents[i]]
    return network.tables[i].transpose([*map(found.index, parents), len(parents)])


@pytest.mark.parametrize("extension", HAND)
def test_a_file_by_hand_is_read_in_the_order_of_its_format(tmp_path, extension):
    network = read_network(write_by_hand(tmp_path, extension))
    if extension in files.NAMELESS:
        assert network.names == ("0", "1", "2", "3")
        table = by_names(network, "3", ("0", "1", "2"))
    else:
        assert set(network.names) == set(NODES)
        for name, states in NODES.items():
            assert network.states[network.index(name)] == tuple(states.split())
        table = by_names(network, "D", ("A", "B", "C"))
    tolerance = 1e-6 if extension == ".o3prm" else 1e-15  # pyAgrum: single precision
    np.testing.assert_allclose(table[..., 0], COUNTED, atol=tolerance)


@pytest.mark.parametrize("extension", [".net", ".dsl", ".bifxml", ".bif", ".jgum", ".bgum"])
def test_pyagrum_reads_what_is_written(tmp_path, extension):
    """Where pyAgrum has the order of the format (not in XDSL and UAI), it agrees."""
    network = read_network(write_by_hand(tmp_path, ".bif"))
    path = tmp_path / f"copy{extension}"
    write_network(network, path)
    model = pyagrum.loadBN(str(path))
    for a, b, c in np.ndindex(2, 3, 4):  # asked by name, so that no order of axes matters
        row = model.cpt("D")[{"A": a, "B": b, "C": c}]
        np.testing.assert_allclose(row, [COUNTED[a, b, c], 1 - COUNTED[a, b, c]], atol=1e-6)
    copy = read_network(path)
    np.testing.assert_allclose(by_names(copy, "D", ("A", "B", "C"))[..., 0], COUNTED, atol=1e-6)


@pytest.mark.parametrize("extension", [e for e in HAND if e in OWN and e != ".bif"])
def test_what_is_written_has_the_numbers_in_the_order_of_the_file_by_hand(tmp_path, extension):
    path = tmp_path / f"copy{extension}"
    write_network(read_network(write_by_hand(tmp_path, ".bif")), path)
    numbers = r"0\.\d+(?![\d.])"
    written, by_hand = (
        [float(number) for number in re.findall(numbers, text)]
        for text in (path.read_text(), HAND[extension])
    )
    assert written[-48:] == pytest.approx(by_hand[-48:])


def test_a_bif_file_names_the_states_of_each_row(tmp_path):
    path = tmp_path / "copy.bif"
    write_network(read_network(write_by_hand(tmp_path, ".net")), path)
    rows = re.findall(r"\(a(\d), b(\d), c(\d)\) ([\d.]+), ([\d.]+);", path.read_text())
    found = {(int(a), int(b), int(c)): float(p) for a, b, c, p, _ in rows}
    assert found == pytest.approx({place: COUNTED[place] for place in np.ndindex(2, 3, 4)})
    assert all(float(p) + float(q) == pytest.approx(1) for *_, p, q in rows)


@examples(60)
@given(network=networks())
def test_writing_and_reading_changes_no_bit(tmp_path_factory, network):
    folder = tmp_path_factory.getbasetemp()
    for extension in OWN:
        path = folder / f"random{extension}"
        if extension in (".xdsl", ".dsl") and min(network.n_states) == 1:
            with pytest.raises(InputError, match="a node of GeNIe has two states or more"):
                write_network(network, path)
            continue
        write_network(network, path)
        copy = read_network(path)
        if extension in files.NAMELESS:
            assert (copy.parents, copy.n_states) == (network.parents, network.n_states)
            assert all(map(np.array_equal, copy.tables, network.tables))
        elif extension in (".xdsl", ".dsl"):  # parents come first
            assert set(copy.names) == set(network.names)
            for i, name in enumerate(network.names):
                j = copy.index(name)
                assert copy.states[j] == network.states[i]
                assert [copy.names[p] for p in copy.parents[j]] == [
                    network.names[p] for p in network.parents[i]
                ]
                assert np.array_equal(copy.tables[j], network.tables[i])
        else:
            assert copy == network


def test_a_network_with_parents_first_keeps_its_order(tmp_path):
    names = [f"N{k}" for k in range(12)]
    parents = {name: [names[k // 2]] for k, name in enumerate(names) if k % 3}
    tables = {n: [[0.5, 0.5]] * 2 if n in parents else [0.5, 0.5] for n in names}
    network = Network.from_tables({n: ["a", "b"] for n in names}, parents, tables)
    for extension in (".xdsl", ".dsl"):
        write_network(network, tmp_path / f"n{extension}")
        assert read_network(tmp_path / f"n{extension}") == network


LABELS = ["<5", "12+", 'say "so"', "a & b", "back\\slash", "é", "1"]


@pytest.mark.parametrize("extension", [".net", ".bifxml", ".bif"])
def test_odd_labels_survive(tmp_path, extension):
    network = Network.from_tables({"A": LABELS}, {}, {"A": np.full(7, 1 / 7)})
    path = tmp_path / f"a{extension}"
    write_network(network, path)
    assert read_network(path) == network


@pytest.mark.parametrize(
    ("extension", "states", "message"),
    [
        (".xdsl", {"A": ["<5", "b"]}, "cannot hold the name '<5': GeNIe's names consist of"),
        (".dsl", {"1": ["a", "b"]}, "cannot hold the name '1': GeNIe's names consist of"),
        (".net", {"a b": ["a", "b"]}, "cannot hold the name 'a b': Hugin's names consist of"),
        (".net", {"node": ["a", "b"]}, "cannot hold the name 'node': Hugin's names consist of"),
        (".bifxml", {"A": [" a", "b"]}, "cannot hold the name ' a': white space around a name"),
    ],
)
def test_a_name_that_a_format_cannot_hold_is_refused(tmp_path, extension, states, message):
    network = Network.from_tables(states, {}, {name: [0.5, 0.5] for name in states})
    path = tmp_path / f"a{extension}"
    with pytest.raises(InputError, match=rf"a\{extension}: \{extension} {message}.*; write \.bif"):
        write_network(network, path)
    assert not path.exists()


def is_network(path) -> bool:
    """Return whether a file is read, as a network that can be written and read again."""
    try:
        network = read_network(path)
    except VoilatticeError as error:
        message = str(error)
        assert message.startswith(f"{path}: ")
        assert len(message) > len(f"{path}: ") + 10
        assert "\n" not in message
        return False
    copy = path.with_name("copy.bif")
    write_network(network, copy)
    assert read_network(copy) == network
    return True


@pytest.mark.parametrize("extension", OWN)
def test_damaged_files_give_a_network_or_an_error_in_one_line(tmp_path, extension):
    hand = ".bifxml" if extension in (".xml", ".xmlbif") else extension
    whole = HAND[hand].encode()
    path = tmp_path / f"damaged{extension}"
    rng = random.Random(extension)
    junk = [b"(", b"9999999", b"-1", b"nan", b"\x00", b"\xff", b"<5", b"", b"}", b"&", b'"', b"\n"]
    path.write_bytes(whole)
    assert is_network(path)
    n_refused = 0
    for _ in range(120):
        damaged = bytearray(whole)
        if rng.random() < 0.3:
            del damaged[rng.randrange(len(damaged)) :]
        for _ in range(rng.choice([1, 2, 5])):
            place = rng.randrange(len(damaged) + 1)
            if rng.random() < 0.3 and place < len(damaged):
                damaged[place] ^= 1 << rng.randrange(8)
            else:
                damaged[place : place + rng.randrange(9)] = rng.choice(junk)
        path.write_bytes(damaged)
        n_refused += not is_network(path)
    assert n_refused > 60


# -- XMLBIF, and what all XML files share


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<BIF ", "<BIG ", "line .*: not valid XML: mismatched tag"),
        ('VERSION="0.3"', 'VERSION="0.5"', "line 6: expected VERSION 0.3, found '0.5'"),
        ('TYPE="nature"', 'TYPE="utility"', "line 7: variable 'A' is of the type 'utility'; only"),
        ("<NAME>B<", "<NAME>A<", "line 8: there are two variables 'A'"),
        ("<FOR>B<", "<FOR>A<", "line 12: 'A' is defined twice"),
        ("<FOR>B<", "<FOR>Bee<", "line 12: no variable 'Bee' is declared"),
        ("<GIVEN>C<", "<GIVEN>X<", "line 14: 'D' has the parent 'X', which is not a node of"),
        ("<GIVEN>C<", "<GIVEN>B<", "line 14: 'D' has the parent 'B' twice"),
        ("<GIVEN>C</GIVEN>", "", r"line 14: the table of 'D' needs 12 numbers \(2 states x 2 of"),
        ("0.3 0.7", "0.3 x", "line 11: <TABLE> of 'A': expected a probability, found 'x'"),
        ("0.3 0.7", "0.3 0_7", "line 11: <TABLE> of 'A': expected a probability, found '0_7'"),
        ("0.3 0.7", "0.3 0.6", r"line 11: P\(A\) sums to 0.9, not 1"),
        ("0.3 0.7", "nan 0.7", r"line 11: P\(A\) holds nan, which is not a probability"),
        ("<TABLE>0.3", "<TABEL/><TABLE>0.3", "line 11: <TABEL> is not known inside <DEFINITION>"),
        ("<OUTCOME>a0<", "<OUTCOME>a1<", "line 11: the states of 'A': the name 'a1' appears twice"),
    ],
)
def test_a_mistake_in_xmlbif_is_named_with_its_line(old, new, message):
    text = HAND[".bifxml"]
    assert old in text
    with pytest.raises(InputError, match=message):
        parse_bifxml(text.replace(old, new, 1).encode())


def test_a_comment_separates_numbers():
    text = HAND[".bifxml"].replace("0.3 0.7", "0.3<!-- yes -->0.7")
    assert parse_bifxml(text.encode()) == parse_bifxml(HAND[".bifxml"].encode())


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;',
    ],
)
def test_entities_are_refused(declaration):
    text = f"<!DOCTYPE BIF [{declaration}]><BIF>&a;</BIF>"
    with pytest.raises(InputError, match="line 1: the entity 'a' is refused"):
        parse_bifxml(text.encode())


def test_an_entity_of_another_file_is_refused():
    with pytest.raises(InputError, match="line 1: the entity 'a' is refused"):
        parse_bifxml(b'<!DOCTYPE BIF SYSTEM "bif.dtd"><BIF>&a;</BIF>')


def test_depth_and_number_of_elements_are_limited(monkeypatch):
    with pytest.raises(InputError, match="line 1: more than 100 elements are inside each other"):
        parse_bifxml(b"<BIF>" + b"<a>" * 200_000)
    monkeypatch.setattr(xml_tree, "MAX_ELEMENTS", 1000)
    with pytest.raises(TooLargeError, match="line 1: the file has more than 1,000 elements"):
        parse_bifxml(b"<BIF>" + b"<a/>" * 1001)


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-16"])
def test_a_declared_encoding_is_read(encoding):
    text = HAND[".bifxml"].replace('"1.0"', f'"1.0" encoding="{encoding}"').replace("a1", "é")
    assert parse_bifxml(text.encode(encoding)).states[0] == ("a0", "é")


def test_an_unknown_encoding_is_an_error():
    with pytest.raises(InputError, match="encoding"):
        parse_bifxml(b'<?xml version="1.0" encoding="klingon"?><BIF/>')


# -- Hugin


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("node A", "continuous node A", "line 5: node 'A' is of the kind 'continuous'; only"),
        ("node A", "decision A", "line 5: node 'A' is of the kind 'decision'; only discrete"),
        ("node A", "utility A", "line 5: node 'A' is of the kind 'utility'; only discrete chance"),
        ("node A", "function A", "line 5: node 'A' is of the kind 'function'; only discrete"),
        ("node B", "node A", "line 11: there are two nodes 'A'; names must be unique"),
        ("net\n", "instance x\n", "line 1: classes that use each other"),
        ("net\n", "nett\n", "line 1: expected net, node or potential, found 'nett'"),
        ("potential (A)", "potential (A B)", r"line 29: expected '\|' or '\)', found 'B'"),
        ("potential (A)", "potential (E)", "line 29: no node 'E' is declared above"),
        ("potential (B)", "potential (A)", "line 33: the potential of 'A' is given twice"),
        ("potential (A)\n{\n data", "potential (A)\n{\n model_data", "line 29: the potential of"),
        ("potential (A)\n{\n data", "potential (A)\n{\n x", "line 29: the potential of 'A' has no"),
        ("data = ( 0.3 0.7 )", "data = ( 0.3 x )", "line 31: expected a probability, found 'x'"),
        ("data = ( 0.3 0.7 )", "data = ( 3 7 )", r"line 29: P\(A\) holds 3.0, which is not"),
        ("(D | A B C)", "(D | A B)", "line 41: the parentheses in the data of 'D' are"),
        ("(D | A B C)", "(D | C B A)", "a table 2 x 3 x 4 x 2, but its .* have 4 x 3 x 2 x 2 sta"),
        ("(D | A B C)", "(D | A B E)", "line 41: 'D' has the parent 'E', which is not"),
        ("data = ( 0.3", "data = " + "(" * 200 + " 0.3", "more than 100 parentheses are open"),
        ("states = (\"a0\" \"a1\");", "", "line 5: node 'A' has no states"),
        ("data = ( 0.3", "data = (0.5 0.5); data = ( 0.3", "line 31: data is given twice"),
        ("( 0.05 0.95 ) (", "( 0.05 0.95 ", "line 41: the parentheses in the data of 'D' are unev"),
        ("( 0.24 0.76 )", "0.24 0.76", "line 41: the parentheses in the data of 'D' are uneven: t"),
        ("( 0.3 0.7 )", "(0.3) (0.7)", "line 29: .* of 'A' are those of a table 1, but its"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_net_file_is_named_with_its_line(old, new, message):
    text = HAND[".net"]
    assert old in text
    with pytest.raises(InputError, match=message):
        parse_net(text.replace(old, new, 1))


def test_a_class_of_hugin_without_instances_is_a_network():
    inner = HAND[".net"].split("}\n", 1)[1]
    network = parse_net(
        f"class Clinic\n{{\n inputs = ();\n outputs = (D);\n{inner}}} % class Clinic"
    )
    assert network == parse_net(HAND[".net"])
    with pytest.raises(InputError, match="line 3: classes that use each other"):
        parse_net(f"class Clinic\n{{\n inputs = (A);\n{inner}}}")


def test_a_flat_list_of_hugin_has_the_same_order():
    assert parse_net(HAND[".net"].replace(nested(ROWS), f"({ROWS})")) == parse_net(HAND[".net"])


# -- UAI


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BAYES", "MARKOV", r"line 1: a Markov network \(MARKOV\) has no conditional"),
        ("BAYES", "BAYS", "line 1: expected BAYES, found 'BAYS'"),
        ("2 3 4 2", "2 3 x 2", "line 3: expected a number of states, a whole number, found 'x'"),
        ("2 3 4 2", "2 0 4 2", "line 3: variable 1 needs at least one state, got 0"),
        ("2 3 4 2\n4", "2 3 4 2\n3", "line 4: expected 4 tables, one for each variable, got 3"),
        ("4 0 1 2 3", "4 0 1 2 4", "line 8: variable 4 is not one of 0 to 3"),
        ("4 0 1 2 3", "4 3 0 1 2", "line 8: two tables have variable 2 last in their"),
        ("4 0 1 2 3", "3 0 1 3", "line 16: the table of variable 3 needs 12 entries"),
        ("1 1\n", "0\n", "line 6: a table of a Bayesian network has a variable"),
        (".3 .7", ".3 x", "line 11: expected a probability, found 'x'"),
        (".3 .7", ".3 .6", r"line 10: P\(0\) sums to 0.9, not 1"),
        ("0.24 0.76", "0.24", "line 17: expected a probability, found the end of the"),
        (".3 .7", ".3", "line 12: the table of variable 0 holds '3', which is not a probability; "),
        (".3 .7", "-.3 1.3", "line 11: the table of variable 0 holds '-.3', which is not a prob"),
        (".3 .7", "nan .7", "line 11: the table of variable 0 holds 'nan', which is not a prob"),
        ("2 3 4 2", "2 99999999999 4 2", "line 3: '99999999999' is too large for a number of st"),
        ("0.24 0.76", "0.24 0.76 1", "line 17: expected the end of the file after the last table"),
        ("1 0\n1 1", "2 1 0\n2 0 1", "needs 6 entries"),
        ("2 3 4 2", "2 999999999 4 2", "line 12: '1' with 0 parents would have a table of"),
    ],
)
def test_a_mistake_in_a_uai_file_is_named_with_its_line(old, new, message):
    text = HAND[".uai"]
    assert old in text
    with pytest.raises(VoilatticeError, match=message):
        parse_uai(text.replace(old, new, 1))


def test_an_empty_uai_file_is_told():
    with pytest.raises(InputError, match="^line 1: expected BAYES, found the end of the file"):
        parse_uai("")


def test_too_many_parents_are_refused_at_once():
    n = 20_000
    scopes = "\n".join(f"1 {k}" for k in range(n - 1))
    parents = " ".join(map(str, range(n - 1)))
    text = f"BAYES\n{n}\n{'1 ' * n}\n{n}\n{scopes}\n{n} {parents} {n - 1}\n{'1 1 ' * n}"
    with pytest.raises(TooLargeError, match="'19999' has 19999 parents; at most 63 are supported"):
        parse_uai(text)


def test_the_cells_of_a_table_with_too_many_parents_are_not_counted(monkeypatch):
    monkeypatch.setattr("voilattice.files.node_tables.math.prod", pytest.fail)
    with pytest.raises(TooLargeError, match="'A' has 200000 parents"):
        check_table_size("A", [4] * 200_001)


def test_comments_of_uai_are_skipped():
    text = "c a comment\n" + HAND[".uai"].replace("1 0\n", "1 0  # A\n")
    assert parse_uai(text) == parse_uai(HAND[".uai"])


def test_the_joint_of_a_uai_file_is_that_of_the_named_one():
    named = parse_net(HAND[".net"])
    np.testing.assert_allclose(full_joint(parse_uai(HAND[".uai"])), full_joint(named), atol=1e-15)
