import re

import numpy as np
import pyagrum
import pytest
from helpers.strategies import damaged, networks
from helpers.worlds import examples
from hypothesis import example, given
from hypothesis import strategies as st

from voilattice import Network, VoilatticeError
from voilattice.errors import InputError, TooLargeError
from voilattice.files.bif import parse_bif, to_bif

SMALL = """network small {}
variable A { type discrete [ 2 ] { <5, 12+ }; }
variable B { type discrete [ 3 ] { Asy/Patch, "in quotes, \\"so\\"", 0-3_days }; }
probability ( A ) { table 0.25, 0.75; }
probability ( B | A ) {
  (<5) 0.1, 0.2, 0.7;
  (12+) 0.5, 0.25, 0.25;
}
"""


def test_labels_stay_as_they_are():
    network = parse_bif(SMALL)
    assert network.states == (("<5", "12+"), ("Asy/Patch", 'in quotes, "so"', "0-3_days"))
    assert network.tables[1].tolist() == [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]


def test_old_style_is_read():
    network = parse_bif(
        """
        // a comment
        network "Dog-Problem" { property "credal-set constant-density-bounded 1.1" ; }
        /* another
           one */
        variable  "light-on" { type discrete[2] {  "true"  "false" }; property "at = (1, 2)" ; }
        variable  "family-out" { type discrete[2] {  "true"  "false" }; }
        probability ( "light-on"  "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
        probability ( "family-out" ) { property x; table 0.15 0.85; }
        """
    )
    assert network.names == ("light-on", "family-out")
    # In a table the node varies slowest: P(on | out) = 0.6, P(on | not out) = 0.05.
    assert network.tables[0].tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_a_table_with_two_parents_is_read_as_pyagrum_reads_it(tmp_path):
    text = (
        "network x {}"
        + "".join(f"variable {v} {{ type discrete [2] {{ a, b }}; }}" for v in "ABC")
        + "probability (A) { table 0.1, 0.9; } probability (C) { table 0.1, 0.9; }"
        + "probability (B | A, C) { table 0.6, 0.05, 0.3, 0.11, 0.4, 0.95, 0.7, 0.89; }"
    )
    (tmp_path / "x.bif").write_text(text)
    theirs = Network.from_pyagrum(pyagrum.loadBN(str(tmp_path / "x.bif")))
    ours = parse_bif(text)
    b = ours.index("B")
    axes = [theirs.parents[b].index(p) for p in ours.parents[b]] + [2]
    np.testing.assert_allclose(ours.tables[b], theirs.tables[b].transpose(axes), atol=1e-6)


def test_a_default_fills_the_rows_that_are_not_given():
    text = SMALL.replace("(<5) 0.1, 0.2, 0.7;", "default 0, 0, 1;")
    assert parse_bif(text).tables[1].tolist() == [[0, 0, 1], [0.5, 0.25, 0.25]]


@given(networks())
def test_writing_and_reading_changes_no_bit(network):
    assert parse_bif(to_bif(network)) == network


@given(
    st.lists(
        st.text(min_size=1).filter(lambda s: s.strip() and s.isprintable()),
        unique=True,
        min_size=2,
        max_size=4,
    )
)
@example(["//", "/*"])
@example(["network", "{"])
@example(['"', "\\"])
@example([" a", "a"])
def test_any_printable_label_survives(labels):
    network = Network.from_tables(
        {labels[0]: labels, "other " + labels[1]: labels},
        {"other " + labels[1]: [labels[0]]},
        {
            labels[0]: np.full(len(labels), 1 / len(labels)),
            "other " + labels[1]: np.eye(len(labels)),
        },
    )
    assert parse_bif(to_bif(network)) == network


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("network small {}", "netwrok small {}", "line 1: expected network, variable or probabil"),
        ("<5, 12+", "<5, <5", "line 2: the states of 'A': the name '<5' appears twice"),
        ("[ 2 ]", "[ 3 ]", "line 2: 'A' lists 2 states but declares '3'"),
        (
            "discrete [ 2 ]",
            "continuous [ 2 ]",
            "line 2: variable 'A': expected type discrete, found 'continuous",
        ),
        ("type discrete [ 2 ] { <5, 12+ };", "", "line 2: variable 'A' has no type"),
        ("variable B", "variable A", "line 3: variable 'A' is declared twice"),
        ("0.25, 0.75", "0.25, x", "line 4: expected a probability, found 'x'"),
        ("0.25, 0.75", "0.25", "line 4: the table of 'A' needs 2 numbers, got 1"),
        ("0.25, 0.75", "0.25, 0.72", r"line 4: P\(A\) sums to 0.97, not 1"),
        ("0.25, 0.75", "nan, 0.75", r"line 4: P\(A\) holds nan, which is not a probability"),
        ("( B | A )", "( B | AA )", r"line 5: no variable 'AA' is declared \(nearest: 'A'\)"),
        ("( B | A )", "( A )", "line 5: the probabilities of 'A' are given twice"),
        ("(12+) 0.5", "(13+) 0.5", r"line 7: 'A' has no state '13\+' \(nearest: '12\+'\)"),
        ("(12+) 0.5", "(<5) 0.5", r"line 7: the row \(<5\) is given twice"),
        ("(12+) 0.5", "(12+, <5) 0.5", "line 7: the row names 2 states for 1 parent"),
        ("(12+) 0.5,", "(12+)", "line 7: the row needs 3 numbers, got 2"),
        ("  (12+) 0.5, 0.25, 0.25;\n", "", "line 5: 'B' needs 2 rows, got 1 and no default"),
        ("0.1, 0.2, 0.7", "0.1, 0.2, 0.6", r"line 6: P\(B \| A=<5\) sums to 0.9, not 1"),
        ("0.5, 0.25, 0.25", "0.5, 0.2, 0.2", r"line 7: P\(B \| A=12\+\) sums to 0.9, not 1"),
        ("(<5)", "table 1; (<5)", "line 5: 'B' has both a table and rows"),
        ("(<5)", "oops (<5)", r"line 6: expected table, default, '\(' or '}', found 'oops'"),
        ('\\"so\\""', "", "line 3: a quoted name is not closed"),
        ("0.25, 0.25;\n}\n", "0.25", "line 7: expected a name, a number or ';', found the end of"),
        ("probability ( A ) { table 0.25, 0.75; }", "", "variable 'A' has no probability block"),
    ],
)
def test_a_mistake_is_named_with_its_line(old, new, message):
    assert old in SMALL
    with pytest.raises(InputError, match=message):
        parse_bif(SMALL.replace(old, new, 1))


def test_a_table_that_would_not_fit_is_refused_before_it_is_made():
    names = [f"V{k}" for k in range(40)]
    text = "network n {}" + "".join(
        f"variable {name} {{ type discrete [2] {{ a, b }}; }}" for name in names
    )
    text += f"probability ( V0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}"
    text += "".join(f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in names[1:])
    with pytest.raises(
        TooLargeError, match=r"'V0' with 39 parents would have a table of 10\^12 cells"
    ):
        parse_bif(text)


@pytest.mark.slow
@examples(400)
@given(st.data())
def test_damaged_text_gives_a_network_or_a_clear_error(data):
    snippets = ["{", "}", "(", ";", '"', "nan", "1e999", "-1", "\x00", "é", "/*", "[ 9"]
    text = damaged(data.draw, SMALL, snippets, times=4)
    try:
        network = parse_bif(text)
    except VoilatticeError as error:
        message = str(error)
    else:
        assert parse_bif(to_bif(network)) == network
        return
    assert re.fullmatch(r"\S.{10,}", message)  # one line


@pytest.mark.slow
@pytest.mark.parametrize("n", [64, 15_000])
def test_too_many_parents_are_refused(n):
    names = [f"V{k}" for k in range(n + 1)]
    states = "[1] { a }" if n == 64 else "[2] { a, b }"
    text = "network n {}" + "".join(f"variable {v} {{ type discrete {states}; }}" for v in names)
    text += f"probability ( V0 | {', '.join(names[1:])} ) {{ default 1; }}"
    text += "".join(f"probability ( {name} ) {{ default 1; }}" for name in names[1:])
    with pytest.raises(TooLargeError, match=f"'V0' has {n} parents; at most 63"):
        parse_bif(text)


def test_comments_that_are_not_closed_are_found_at_once():
    with pytest.raises(InputError, match="line 3: a comment is not closed"):
        parse_bif("network n {\n/* closed */\n" + "/* " * 100_000)
