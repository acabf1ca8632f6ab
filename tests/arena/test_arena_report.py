"""The page of an arena, and its CSV files."""

import csv
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from helpers.standings import result, standings

from voilattice.arena.methods import OURS
from voilattice.arena.report import write_report
from voilattice.errors import InputError

ODD = '<script>alert("x")</script> $1 & $2'


def arena():
    return standings(
        {
            (OURS, "heart"): [result(12, 6, recipe="smooth"), result(11, recipe="smooth"), 10, 10],
            (OURS, ODD): [10, 11, 12, 13],
            ("EG2", "heart"): [9, 8, 9, 8],
            ("EG2", ODD): [20, 21, "ValueError: a < b", 20],
            ("ICET", "heart"): [15, 15, 15, 15],
            ("ICET", ODD): ["KeyError: <i>'x'"] * 4,
        },
        n_splits=2,
        levels=("low", "high"),
    )


def read(folder, name):
    with (folder / name).open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_the_page_has_all_sections(tmp_path):
    paths = write_report(arena(), tmp_path / "new")
    assert [path.name for path in paths] == [
        "results.csv", "times.csv", "summary.csv", "report.html"
    ]  # fmt: skip
    shown = (tmp_path / "new" / "report.html").read_text()
    for title in (
        "What was compared", "Verdict", "Mean ranks", "Summary",
        "Where our default is not best, the worst first", "All cells", "Failures",
        "How it was measured",
    ):  # fmt: skip
        assert f"<h2>{title}</h2>" in shown
    assert shown.count("<svg") == 2
    assert "not finished" not in shown
    assert "11.50 ± 0.50" in shown
    assert "smooth (2 of 2)" in shown


def test_failures_are_listed_with_their_reason(tmp_path):
    write_report(arena(), tmp_path)
    shown = (tmp_path / "report.html").read_text()
    assert "ValueError: a &lt; b" in shown
    assert "KeyError: &lt;i&gt;&#x27;x&#x27;" in shown
    assert "5 results failed" in shown
    assert "Not ranked: ICET (has no result for &lt;script&gt;" in shown


def test_names_are_escaped_and_the_page_is_well_formed(tmp_path):
    write_report(arena(), tmp_path)
    shown = (tmp_path / "report.html").read_text()
    assert "<script" not in shown
    assert "<i>" not in shown
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; $1 &amp; $2" in shown
    _Balance().feed(shown)


class _Balance(HTMLParser):
    """Fails if a tag is not closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_results_are_sorted_and_have_no_times(tmp_path):
    found = arena()
    write_report(found, tmp_path)
    head, *rows = read(tmp_path, "results.csv")
    assert head == [
        "data_set", "level", "split", "method", "total_cost", "feature_cost", "errors",
        "normalized", "n_cases", "recipe", "model_cost",
    ]  # fmt: skip
    assert len(rows) == len(found.results)
    assert rows == sorted(rows)
    assert rows[-1][:5] == ["heart", "low", "2", OURS, "11"]
    times = read(tmp_path, "times.csv")
    assert times[0] == ["data_set", "level", "split", "method", "seconds"]
    assert [row[:4] for row in times[1:]] == [row[:4] for row in rows]


def test_files_depend_on_the_results_and_not_on_times_or_order(tmp_path):
    found = arena()
    slower = {key: replace(r, seconds=99.5) for key, r in reversed(found.results.items())}
    write_report(found, tmp_path / "a")
    write_report(replace(found, results=slower), tmp_path / "b")
    for name in ("results.csv", "summary.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert (tmp_path / "a/times.csv").read_bytes() != (tmp_path / "b/times.csv").read_bytes()


def test_the_same_results_give_the_same_page(tmp_path):
    for name in ("a", "b"):
        write_report(arena(), tmp_path / name)
    assert (tmp_path / "a/report.html").read_bytes() == (tmp_path / "b/report.html").read_bytes()


def test_the_summary_has_a_row_for_each_ranked_method(tmp_path):
    write_report(arena(), tmp_path)
    head, *rows = read(tmp_path, "summary.csv")
    assert head[:3] == ["method", "mean_rank", "normalized"]
    assert "seconds" not in head
    assert [row[0] for row in rows] == [OURS, "EG2"]


def test_an_unfinished_arena_says_how_much_is_there(tmp_path):
    table = {(OURS, "x"): [1, None], ("A", "x"): [2, None]}
    write_report(standings(table, n_splits=2), tmp_path)
    shown = (tmp_path / "report.html").read_text()
    assert "This arena is not finished: 2 of 4 results are there." in shown
    assert "Nowhere: no method costs less in any cell." in shown


@pytest.mark.parametrize("outcome", [None, "broken", 1.0])
def test_an_arena_without_a_comparison_has_a_page(outcome, tmp_path):
    write_report(standings({(OURS, "x"): [outcome]}), tmp_path)
    shown = (tmp_path / "report.html").read_text()
    assert "There are not yet two methods that can be compared." in shown


def test_an_arena_of_others_has_no_section_on_our_default(tmp_path):
    write_report(standings({("A", "x"): [1, 2], ("B", "x"): [2, 1]}, n_splits=2), tmp_path)
    assert "Where our default" not in (tmp_path / "report.html").read_text()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "results.csv").mkdir()
    with pytest.raises(InputError, match="results.csv: cannot be written"):
        write_report(arena(), tmp_path)
