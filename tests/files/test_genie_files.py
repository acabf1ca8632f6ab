"""GeNIe's files, XDSL and DSL: the kinds of nodes that are read, and those that are refused."""

import itertools

import numpy as np
import pytest

from voilattice.errors import InputError
from voilattice.files.dsl import parse_dsl
from voilattice.files.xdsl import parse_xdsl


def smile(nodes: str, rest: str = "") -> bytes:
    """An XDSL file as GeNIe writes it."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        "<!-- This network was created in GeNIe -->\n"
        '<smile version="1.0" id="N" numsamples="10000" discsamples="10000">\n'
        f"\t<nodes>\n{nodes}\t</nodes>\n{rest}</smile>\n"
    ).encode()


def node(kind: str, name: str, states: str, inside: str) -> str:
    labels = "".join(f'\t\t\t<state id="{state}" />\n' for state in states.split())
    return f'\t\t<{kind} id="{name}">\n{labels}{inside}\t\t</{kind}>\n'


def cpt(name: str, states: str, probabilities: str, parents: str = "") -> str:
    given = f"\t\t\t<parents>{parents}</parents>\n" if parents else ""
    table = f"\t\t\t<probabilities>{probabilities}</probabilities>\n"
    return node("cpt", name, states, given + table)


ASIA = (
    cpt("either", "no yes", "0.93 0.07")
    + cpt("bronc", "no yes", "0.55 0.45")
    + cpt("dysp", "no yes", "0.9 0.1 0.2 0.8 0.3 0.7 0.1 0.9", "either bronc")
)


def test_the_last_parent_varies_fastest():
    network = parse_xdsl(smile(ASIA))
    table = network.tables[network.index("dysp")]
    assert network.parents[network.index("dysp")] == (0, 1)
    assert table[0, 1, 1] == 0.8  # P(dysp = yes | either = no, bronc = yes)
    assert table[1, 0, 1] == 0.7


def test_what_says_nothing_about_probabilities_is_skipped():
    text = ASIA.replace('<cpt id="either">', '<cpt id="either" diagtype="target" ranked="true">')
    text = text.replace('<state id="yes" />', '<state id="yes" label="F6" fault="true" />')
    text = text.replace("</cpt>", '<property id="source">a book</property></cpt>')
    rest = (
        '<observationcost><node id="dysp"><cost>3</cost></node></observationcost>'
        '<extensions><genie version="1.0" app="GeNIe 5" name="N"><comment>c</comment>'
        '<submodel id="S"><name>Part</name><node id="either"><name>E?</name></node></submodel>'
        "<textbox><caption>&lt;text&gt;</caption></textbox></genie></extensions>"
    )
    assert parse_xdsl(smile(text, rest)) == parse_xdsl(smile(ASIA))


DETERMINISTIC = (
    cpt("A", "x y", "0.5 0.5")
    + cpt("B", "x y z", "0.2 0.3 0.5")
    + node(
        "deterministic",
        "D",
        "low high",
        "<parents>A B</parents><resultingstates>low low high high low high</resultingstates>",
    )
)


def test_a_deterministic_node_lists_its_states():
    table = parse_xdsl(smile(DETERMINISTIC)).tables[2]
    assert table[..., 1].tolist() == [[0, 0, 1], [1, 0, 1]]
    assert (table.sum(axis=-1) == 1).all()


def noisy_max(strengths: str, parameters: str) -> str:
    return (
        cpt("A", "x y z", "0.2 0.3 0.5")
        + cpt("B", "on off", "0.4 0.6")
        + node(
            "noisymax",
            "N",
            "high mid none",
            f"<parents>A B</parents>\n<strengths>{strengths}</strengths>\n"
            f"<parameters>{parameters}</parameters>",
        )
    )


EFFECTS = "0.5 0.2 0.3 0.1 0.4 0.5 0 0 1 0.6 0.1 0.3 0 0 1 0.05 0.15 0.8"


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_a_noisy_max_node_is_the_largest_of_independent_effects(order):
    strengths = f"{' '.join(map(str, order))} 0 1"
    table = parse_xdsl(smile(noisy_max(strengths, EFFECTS))).tables[2]
    effects = np.array(EFFECTS.split(), dtype=float).reshape(6, 3)
    for a, b in itertools.product(range(3), range(2)):
        expected = np.zeros(3)
        # The row of a state is where its number stands among the strengths.
        rows = (effects[order.index(a)], effects[3 + b], effects[5])
        for outcome in itertools.product(range(3), repeat=3):
            p = np.prod([row[k] for row, k in zip(rows, outcome, strict=True)])
            expected[min(outcome)] += p  # the first state is the largest
        np.testing.assert_allclose(table[a, b], expected, atol=1e-15)


def test_a_noisy_or_by_hand():
    text = (
        cpt("A", "yes no", "0.5 0.5")
        + cpt("B", "no yes", "0.5 0.5")
        + node(
            "noisymax",
            "Y",
            "yes no",
            "<parents>A B</parents><strengths>0 1 1 0</strengths>"
            "<parameters>0.6 0.4 0 1 0.2 0.8 0 1 0.1 0.9</parameters>",
        )
    )
    table = parse_xdsl(smile(text)).tables[2][..., 0]
    both, a, b, leak = 1 - 0.4 * 0.8 * 0.9, 1 - 0.4 * 0.9, 1 - 0.8 * 0.9, 0.1
    np.testing.assert_allclose(table, [[a, both], [leak, b]], atol=1e-15)


def test_a_noisy_max_node_without_parents_has_its_leak():
    text = node("noisymax", "N", "a b", "<parameters>0.3 0.7</parameters>")
    assert parse_xdsl(smile(text)).tables[0].tolist() == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("decision", "decisions and costs belong in the problem file"),
        ("utility", "decisions and costs belong in the problem file"),
        ("mau", "decisions and costs belong in the problem file"),
        ("noisyadder", "change it in GeNIe to a general chance node"),
        ("equation", "discretize it in GeNIe"),
        ("demorgan", "change it in GeNIe to a general chance node"),
    ],
)
def test_other_kinds_of_nodes_are_refused_by_name(kind, advice):
    text = ASIA + node(kind, "Treat", "yes no", "<parents>dysp</parents>")
    message = f"line 21: node 'Treat' is of the kind '{kind}'; only chance, .*: {advice}"
    with pytest.raises(InputError, match=message):
        parse_xdsl(smile(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (smile(ASIA, '<dynamic numslices="9"/>'), "line 22: the network changes over time"),
        (smile(ASIA.replace('"dysp"', '"dysp" dynamic="plate"')), "'dysp' changes over time"),
        (smile(ASIA, "<news/>"), "line 22: <news> is not known inside <smile>"),
        (smile(""), "the nodes: at least one is needed, found none"),
        (b"<smile/>", "line 1: <smile> has no <nodes>"),
        (b"<smiles/>", "line 1: expected <smile>, found <smiles>"),
        (b"", "line 1: not valid XML: no element found"),
        (smile("<cpt/>"), "line 5: <cpt> has no id"),
        (smile("<cpt id='A'/>"), "line 5: node 'A' has no <probabilities>"),
        (smile(ASIA.replace('<state id="yes" />', "<state/>", 1)), "line 7: <state> has no id"),
        (smile(ASIA + cpt("dysp", "a b", "0 1")), "line 24: there are two nodes 'dysp'"),
        (smile(ASIA.replace("0.3 0.7 ", "")), "line 19: the table of 'dysp' needs 8 numbers"),
        (smile(ASIA.replace("0.3 0.7", "0.3 x")), "line 19: <probabilities> of 'dysp': expected"),
        (
            smile(ASIA.replace("0.3 0.7", "0.3 0.6")),
            r"line 19: P\(dysp \| either=yes, bronc=no\) sums to 0.9, not 1",
        ),
        (smile(ASIA.replace("either bronc", "either")), "needs 4 numbers .2 states x 2 of 'either"),
        (smile(ASIA.replace("either bronc", "either lung")), "'dysp' has the parent 'lung', which"),
        (smile(ASIA.replace("either bronc", "either dysp")), "the network has a cycle: dysp"),
        (
            smile(ASIA.replace("</parents>", "</parents><parents>bronc</parents>")),
            "line 18: <cpt> has a second <parents>",
        ),
        (
            smile(ASIA.replace("</cpt>", "<table>0 1</table></cpt>", 1)),
            "line 9: <table> is not known inside <cpt>; the elements are state parents property p",
        ),
        (
            smile(DETERMINISTIC.replace("</parents>", "</parents><probabilities/>", 1)),
            "<probabilities> is not known inside <deterministic>",
        ),
        (smile(ASIA.replace("0.93 0.07", "0.93 <b>0.5</b> 0.07")), "line 8: <probabilities> must "
         "hold text alone, found <b>"),
        (smile(DETERMINISTIC.replace(">low low", ">low")), "needs 6 resulting states, .* got 5"),
        (smile(DETERMINISTIC.replace(">low low", ">low lwo")), r"'D' has no state 'lwo' \(nearest"),
        (smile(noisy_max("0 1 2 0 1", "0.5 0.5")), "needs 5 strengths and 18 numbers, got 5 and 2"),
        (smile(noisy_max("0 1 1 0 1", EFFECTS)), "strengths of 'A' in 'N' must be the num"),
        (smile(noisy_max("0 1 x 0 1", EFFECTS)), "<strengths> of 'N': expected a strength, found"),
        (
            smile(noisy_max("2 0 1 0 1", EFFECTS.replace("0 0 1", "0 1 0", 1))),
            "the weakest state of 'A', 'y', must have no effect",
        ),
        (
            smile(noisy_max("2 0 1 0 1", EFFECTS.replace("0.1 0.4", "0.1 0.3"))),
            r"P\(N \| A=x\) sums to 0.9, not 1",
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_an_xdsl_file_is_named_with_its_line(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_xdsl(text)
    assert "\n" not in str(caught.value)


def dsl_node(kind: str, name: str, parents: str, definition: str) -> str:
    return f"""
 node {name}
  {{
   TYPE = {kind};
   HEADER =
    {{
     ID = {name};
     NAME = "A \\"title\\"; {{";
     COMMENT = "two\\
lines";
    }};
   PARENTS = ({parents});
   DEFINITION =
    {{
     {definition}
    }};
   EXTRA_DEFINITION =
    {{
     FAULT_STATES = (0, 0);
     DOCUMENTATION =
      {{
      }};
    }};
  }};
"""


DSL = (
    "net N\n{\n HEADER = { ID = N; };\n /* a\n comment */ NUMSAMPLES = 1000;"
    + dsl_node("CPT", "A", "", "NAMESTATES = (x, y, z); PROBABILITIES = (0.2, 0.3, 0.5);")
    + dsl_node("CPT", "B", "", "NAMESTATES = (on, off); PROBABILITIES = (0.4, 0.6);")
    + dsl_node(
        "NOISY_MAX",
        "N",
        "A, B",
        "NAMESTATES = (high, mid, none); STRENGTHS = (2, 0, 1, 0, 1);"
        f" PROBABILITIES = ({', '.join(EFFECTS.split())});",
    )
    + dsl_node(
        "TRUTHTABLE",
        "D",
        "B, A",
        "NAMESTATES = (no, yes); RESULTINGSTATES = (no, yes, no, yes, yes, no);",
    )
    + " OBSERVATION_COST =\n  {\n   node A\n    {\n     COSTS = (0.0);\n    };\n  };\n};\n"
)


def test_a_dsl_file_has_the_same_kinds_of_nodes():
    network = parse_dsl(DSL)
    assert network.names == ("A", "B", "N", "D")
    other = parse_xdsl(smile(noisy_max("2 0 1 0 1", EFFECTS)))
    assert np.array_equal(network.tables[2], other.tables[2])
    assert network.tables[3][..., 1].tolist() == [[0, 1, 0], [1, 1, 0]]


def test_statements_of_a_dsl_file_that_are_not_read_may_be_repeated():
    text = DSL.replace("DOCUMENTATION =", "DOCUMENTATION = { };\n DOCUMENTATION =")
    assert parse_dsl(text) == parse_dsl(DSL)


def test_the_last_semicolon_of_a_dsl_file_may_be_missing():
    assert parse_dsl(DSL.rstrip().removesuffix(";")) == parse_dsl(DSL)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("net N", "nett N", "line 1: expected net, found 'nett'"),
        ("TYPE = TRUTHTABLE", "TYPE = LIST", "line .*: node 'D' is of the kind 'decision'; only"),
        ("TYPE = TRUTHTABLE", "TYPE = TABLE", "node 'D' is of the kind 'utility'; only chance"),
        ("TYPE = TRUTHTABLE", "TYPE = MAU", "node 'D' is of the kind 'mau'; only chance"),
        ("TYPE = TRUTHTABLE", "TYPE = NEW", "node 'D' is of the kind 'NEW'; only chance"),
        ("TYPE = CPT", "TIPE = CPT", "line 7: node 'A' has no TYPE"),
        ("(0.2, 0.3, 0.5)", "(0.2, 0.3, x)", "line 19: expected a probability, found 'x'"),
        ("(0.2, 0.3, 0.5)", "(0.2, 0.3)", "line 19: the table of 'A' needs 3 numbers"),
        ("(0.2, 0.3, 0.5)", "(0.2, 0.3, 0.4)", r"line 19: P\(A\) sums to 0.9, not 1"),
        ("node B", "node A", "there are two nodes 'A'"),
        (
            "(0.2, 0.3, 0.5);",
            "(0.2, 0.3, 0.5); PROBABILITIES = (1, 0, 0);",
            "line 19: PROBABILITIES is given twice",
        ),
        ("ID = A;", "ID = E;", "line 11: node 'A' has the ID 'E' in its header; give it one name"),
        ("ID = A;", "ID = A; ID = E;", "line 11: ID is given twice"),
        ("PARENTS = ();", "PARENTS = (); PARENTS = (B);", "line 16: PARENTS is given twice"),
        (
            "COSTS = (0.0);\n    };\n  };\n};",
            "COSTS = (0.0);\n    };\n  };\n}; node",
            "line 108: expected the end of the file, found 'node'",
        ),
        ("NUMSAMPLES = 1000;", "NUMSAMPLES = 1000", "line 6: expected ';', found 'node'"),
        ("NUMSAMPLES = 1000;", "X = " + "{ X = " * 99, "more than 50 blocks are inside each other"),
    ],
)
def test_a_mistake_in_a_dsl_file_is_named_with_its_line(old, new, message):
    assert old in DSL
    with pytest.raises(InputError, match=message):
        parse_dsl(DSL.replace(old, new, 1))
