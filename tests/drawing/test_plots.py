"""Plots of what policies save along a sweep."""

import re

import pytest

from voilattice.drawing.plots import draw_savings, new_figure, plot_savings, savings_svg
from voilattice.errors import InputError
from voilattice.policy.comparison import ComparisonRow
from voilattice.policy.policy import Certificate


def rows(kinds=("symmetric", "asymmetric"), factor=0.5):
    """A sweep whose greedy policy saves that part of the stakes."""
    return [
        ComparisonRow(kind, x, name, x - saved, saved, Certificate())
        for kind in kinds
        for x in (0.0, 100.0, 200.0)
        for name, saved in (("none", 0.0), ("greedy", factor * x))
    ]


def test_a_plot_has_a_panel_for_each_kind_of_stakes():
    both, one = savings_svg(rows(), "t"), savings_svg(rows(("symmetric",)), "t")
    assert both.startswith("<svg")
    assert (both.count('id="axes_'), one.count('id="axes_')) == (2, 1)


def test_the_same_numbers_give_the_same_svg_and_other_numbers_another():
    drawn = savings_svg(rows(), "t")
    assert drawn == savings_svg(rows(), "t")
    assert drawn != savings_svg(rows(factor=0.4), "t")


def test_a_title_with_dollar_signs_is_no_mathematics():
    assert savings_svg(rows(), "it costs $x^$").startswith("<svg")


def test_each_policy_has_a_line_through_its_savings():
    panel = new_figure(4, 3).subplots()
    draw_savings(panel, {"greedy": ([0, 10], [0, 4]), "of my own": ([0, 10], [0, 6])}, "title")
    lines = {line.get_label(): line.get_ydata() for line in panel.get_lines()}
    assert list(lines["greedy"]) == [0, 4]
    assert list(lines["of my own"]) == [0, 6]
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["greedy", "of my own"]


def test_deciding_at_once_saves_nothing_and_has_no_line(tmp_path):
    plot_savings(rows(), "t", tmp_path / "a.svg")
    names = re.findall(r"<!-- (.*?) -->", (tmp_path / "a.svg").read_text())
    assert "greedy" in names
    assert "none" not in names


def test_the_extension_chooses_the_format(tmp_path):
    for name, begin in (("a.pdf", b"%PDF"), ("a.PNG", b"\x89PNG"), ("plain", b"\x89PNG")):
        plot_savings(rows(("symmetric",)), "t", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)


@pytest.mark.parametrize("name", ["none/a.svg", "a.doc"])
def test_a_plot_that_cannot_be_written_is_named(tmp_path, name):
    with pytest.raises(InputError, match=f"{name}: cannot be written: "):
        plot_savings(rows(("symmetric",)), "t", tmp_path / name)


def test_the_axes_name_the_currency_as_plain_text():
    panel = new_figure(4, 3).subplots()
    draw_savings(panel, {"greedy": ([0, 10], [0, 4])}, "title", "$")
    assert panel.get_xlabel() == "a-priori expected misclassification cost ($)"
    assert panel.get_ylabel() == "savings over no acquisition ($)"
    assert savings_svg(rows(), "t", "$x^$").startswith("<svg")
