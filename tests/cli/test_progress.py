"""Progress on standard error."""

import io
import threading

import pytest

from voilattice.cli import progress


def test_progress_waits_a_second_and_keeps_to_stderr(capsys, monkeypatch):
    clock = iter([0.0, 0.5, 1.5, 2.0, 7.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.progress_line(lambda size, found: f"{size} {found}") as report:
        for k in range(4):
            report(k, 10 * k)
    assert capsys.readouterr() == ("", "1 10\n3 30\n")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_in_a_terminal_one_line_is_rewritten_and_wiped_in_the_end(monkeypatch):
    clock = iter([0.0, 2.0, 2.05, 2.2])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    with progress.progress_line(lambda done, total: "#" * done) as report:
        for done in (5, 4, 3):
            report(done, 10)
    assert progress.sys.stderr.getvalue() == "\r#####\r###  \r   \r"


def test_a_line_is_not_wider_than_the_terminal(monkeypatch):
    clock = iter([0.0, 2.0])
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    with progress.progress_line(lambda done, total: "x" * 50) as report:
        report(1, 2)
    assert progress.sys.stderr.getvalue().split("\r")[1] == "x" * 19


def test_quick_work_says_nothing(capsys):
    with progress.progress_bar("points") as report:
        report(1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "left"), [(30.0, "30 s left"), (300.0, "5 min left")], ids=["seconds", "minutes"]
)
def test_a_bar_shows_what_is_done_and_how_long_the_rest_takes(capsys, monkeypatch, seconds, left):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_bar("points") as report:
        now[0] = 2.0
        report(10, 50)  # found there: they say nothing about the speed
        now[0] = seconds
        report(30, 50)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "[####....................] 10 of 50 points"
    assert second == f"[##############..........] 30 of 50 points, {left}"


def test_work_that_tells_nothing_is_shown_too(capsys, monkeypatch):
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "SECONDS_PER_LOOK", 0.001)
    seen = threading.Event()
    write = progress.sys.stderr.write
    monkeypatch.setattr(progress.sys.stderr, "write", lambda text: (write(text), seen.set())[0])
    with progress.progress_line(lambda first, second: "told", "best"):
        assert seen.wait(30)
    assert capsys.readouterr() == ("", "best: 0 s\n")


def test_work_that_tells_something_is_shown_as_it_tells(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_PER_LOOK", 60.0)
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.progress_line(lambda first, second: f"{first} of {second}", "best") as report:
        now[0] = 2.0
        report(1, 3)
    assert capsys.readouterr() == ("", "1 of 3\n")
