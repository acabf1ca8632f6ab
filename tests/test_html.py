"""Pieces of HTML for notebooks."""

from dataclasses import replace

from helpers.labels import labelled

from voilattice import Lattice, build_policy, compare, value
from voilattice.html import Strong, html_table, paragraph
from voilattice.valuation.lattice_values import value_lattice


def test_names_are_escaped_everywhere():
    drawn = paragraph("<b>&") + html_table(["<script>"], [["</td>"], ['"']])
    assert "<p>&lt;b&gt;&amp;</p>" in drawn
    assert "&lt;script&gt;" in drawn
    assert "&lt;/td&gt;" in drawn
    assert "<script>" not in drawn
    assert paragraph("a<b", strong=True) == "<p><b>a&lt;b</b></p>"


def test_text_stands_left_and_figures_right():
    drawn = html_table(["feature", "why", "price"], [["X", "cheap", 7]], n_text=2)
    cells = [part.split(">")[1] for part in drawn.split("text-align: left")[1:]]
    assert [cell.removesuffix("</th").removesuffix("</td") for cell in cells] == [
        *("feature", "why"),
        *("X", "cheap"),
    ]
    assert drawn.count("text-align: right") == 2
    assert drawn.count("<tr>") == 2


def test_a_table_shows_what_is_strong_in_bold():
    assert "<b>a&lt;b</b></td>" in html_table(["x"], [[Strong("a<b")]])


def test_what_a_notebook_shows_has_labels_and_the_currency():
    problem = labelled()
    shown = problem._repr_html_()
    for text in (
        "cp (Chest pain)",
        "asym (no pain at all)",
        "price (CAD)",
        "deciding diseased (CAD)",
    ):
        assert text in shown
    worth = value(problem, {"cp"})
    assert "acquire Chest pain" in worth._repr_html_()
    assert ">CAD</th>" in worth._repr_html_()
    best = value_lattice(problem).top(1)[0]
    assert "acquire Resting ECG" in best._repr_html_()
    assert best == replace(best, problem=None)  # what people read is no part of what it is
    costs = compare(problem, policies=["none", "greedy"])
    assert "expected total cost (CAD)" in costs._repr_html_()
    assert str(costs).splitlines()[0].endswith("in CAD")
    assert "Chest pain" in build_policy(problem, "markov-blanket")._repr_html_()
    assert "Chest pain" in Lattice(problem)._repr_html_()
