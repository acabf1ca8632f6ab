"""Pieces of HTML for notebooks."""

from voilattice.html import html_table, paragraph


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
