"""Pieces of HTML for notebooks."""

import pytest

from voilattice.html import format_amount, html_table, paragraph


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "0.00"),
        (-3.804, "-3.80"),
        (1234567.891, "1,234,567.89"),
        (0.005, "0.01"),
        (0.00123456, "0.001235"),
        (1e12, "1e+12"),
    ],
)
def test_an_amount_has_two_decimals_or_four_digits(amount, shown):
    assert format_amount(amount) == shown


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
