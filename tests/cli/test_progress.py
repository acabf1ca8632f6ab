"""Progress on standard error."""


def test_progress_waits_a_second_and_keeps_to_stderr(capsys, monkeypatch):
    from voilattice.cli import progress

    clock = iter([0.0, 0.5, 1.5, 2.0, 7.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.progress_line(lambda size, found: f"{size} {found}") as report:
        for k in range(4):
            report(k, 10 * k)
    assert capsys.readouterr() == ("", "1 10\n3 30\n")
