import json
from dataclasses import asdict

import numpy as np
import pytest

from voilattice.arena.methods import Answer
from voilattice.arena.results import Failure, Journal, Key, Result, score
from voilattice.arena.suites import Cell
from voilattice.errors import InputError
from voilattice.learning.data_tables import as_table
from voilattice.learning.evaluation import ask_question
from voilattice.learning.rivals import Decided, list_paths

KEY = Key("clinic", "low", 1, "EG2")
RESULT = Result(3.5, 1.5, 0.25, 0.1, 8, "", None, 0.5)
HEADING = ("1", {"clinic": "abc"})


def test_what_is_appended_is_read(tmp_path):
    journal = Journal(tmp_path / "new", *HEADING)
    assert journal.read() == {}
    with journal.open() as writer:
        writer.append([(KEY, RESULT)])
        assert journal.read() == {KEY: RESULT}
    other = Key("clinic", "low", 2, "EG2")
    with journal.open() as writer:
        writer.append([(other, Failure("it broke"))])
    assert journal.read() == {KEY: RESULT, other: Failure("it broke")}


@pytest.mark.parametrize("cut", range(2, 40, 7))
def test_a_line_that_was_cut_off_is_lost_alone(tmp_path, cut):
    journal = Journal(tmp_path, *HEADING)
    with journal.open() as writer:
        writer.append([(KEY, RESULT), (Key("clinic", "low", 2, "EG2"), RESULT)])
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[:-cut])
    assert set(journal.read()) == {KEY}
    third = Key("clinic", "low", 3, "EG2")
    with journal.open() as writer:
        writer.append([(third, RESULT)])
    assert set(journal.read()) == {KEY, third}


def test_a_heading_that_was_cut_off_is_written_again(tmp_path):
    journal = Journal(tmp_path, *HEADING)
    journal.path.write_bytes(b'{"voilatt')
    with journal.open() as writer:
        writer.append([(KEY, RESULT)])
    assert journal.read() == {KEY: RESULT}


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n", b"{}\n", b"[1]\n", b'{"data_set": "a"}\n', b"\xff\xfe\n",
        json.dumps({**asdict(KEY), **asdict(RESULT), "total_cost": "x"}).encode() + b"\n",
    ],
)  # fmt: skip
def test_damaged_lines_are_ignored(tmp_path, line):
    journal = Journal(tmp_path, *HEADING)
    with journal.open() as writer:
        writer.append([(KEY, RESULT)])
    journal.path.write_bytes(journal.path.read_bytes() + line)
    assert journal.read() == {KEY: RESULT}


def test_results_of_other_data_or_another_version_are_never_mixed(tmp_path):
    with Journal(tmp_path, *HEADING).open() as writer:
        writer.append([(KEY, RESULT)])
    with pytest.raises(InputError, match="results on other clinic data"):
        Journal(tmp_path, "1", {"clinic": "xyz"}).read()
    with pytest.raises(InputError, match="results of another version of voilattice;"):
        Journal(tmp_path, "2", {"clinic": "abc"}).read()
    (tmp_path / "journal.jsonl").write_text("hello\n")
    with pytest.raises(InputError, match="is no journal"):
        Journal(tmp_path, *HEADING).read()


def test_data_sets_may_come_later_to_a_journal(tmp_path):
    with Journal(tmp_path, *HEADING).open() as writer:
        writer.append([(KEY, RESULT)])
    both = Journal(tmp_path, "1", {"clinic": "abc", "other": "d"})
    new = Key("other", "low", 1, "EG2")
    with both.open() as writer:
        writer.append([(new, RESULT)])
    assert set(both.read()) == {KEY, new}
    with pytest.raises(InputError, match="results on other other data"):
        Journal(tmp_path, "1", {"other": "e"}).read()


def test_two_runs_cannot_write_at_once(tmp_path):
    with (
        Journal(tmp_path, *HEADING).open(),
        pytest.raises(InputError, match="another run writes"),
        Journal(tmp_path, *HEADING).open(),
    ):
        pass


def test_score_is_the_bill_and_the_decisions():
    table = as_table({"test": ["+", "-"] * 6, "ill": ["yes", "no", "no", "no"] * 3})
    stakes = {"yes": {"yes": 0, "no": 20}, "no": {"yes": 90, "no": 0}}
    question, _ = ask_question(table, "ill", {"test": 4}, stakes)
    place = {name: k for k, name in enumerate(question.decisions)}
    decision = np.array([place["yes"], place["no"]] * 6)
    paid = np.array([4.0, 0.0] * 6)
    decided = Decided(decision, np.full((12, 2), 0.5), paid, list_paths([("test",), ()] * 6))
    result = score(Answer(decided, 0.1), Cell(table, table, question))
    assert result.feature_cost == 2
    assert result.total_cost == pytest.approx(2 + 3 * 20 / 12)
    assert result.errors == 0.25
    assert result.normalized == pytest.approx(result.total_cost / (4 + 0.25 * 90))
    assert result.n_cases == 12
