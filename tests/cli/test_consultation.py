"""Consultations in the terminal, with answers that are typed in."""


def test_a_consultation_to_the_decision(run, monkeypatch):
    # tub: an odd answer, then no; xray: undone; tub again; xray yes; smoke and dysp not to be had;
    # bronc by its number, undone after the decision, and again.
    answers = iter(["maybe", "no", "u", "no", "yes", "n", "n", "1", "u", "2", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run("advise", "asia", "--policy", "greedy-la", "--interactive")
    assert status == 0
    assert next(answers, None) is None
    assert "Please type one of: yes, no, 1, 2, n, u." in out
    bill = out[out.rindex("the bill") :]
    assert [line.split()[0] for line in bill.splitlines()[2:5]] == ["tub", "xray", "bronc"]
    assert "spent on features" in bill
    assert "44.00" in bill
    assert "Decide: " in out


def test_nothing_to_undo_is_said(run, monkeypatch):
    answers = iter(["u", "yes", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    out = run("advise", "asia", "--policy", "greedy-la", "--interactive")[1]
    assert "There is nothing to undo." in out


def test_undo_inside_a_batch_takes_back_one_answer(run, monkeypatch):
    # smoke yes, taken back and no; dysp, xray, tub.
    answers = iter(["yes", "u", "no", "yes", "no", "no", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run("advise", "asia", "--policy", "batch", "--interactive")
    assert status == 0
    assert next(answers, None) is None
    assert "There is nothing to undo." not in out


def test_a_consultation_keeps_to_its_time_limit(run, monkeypatch):
    from voilattice.policy import advice

    asked = []

    def noted(problem, policy, evidence=None, *, time_limit=None):
        asked.append(time_limit)
        return advice.advise(problem, policy, evidence, time_limit=time_limit)

    monkeypatch.setattr("voilattice.cli.consultation.advise", noted)
    monkeypatch.setattr("click.prompt", lambda *_, **__: "yes")
    run("advise", "asia", "--policy", "optimal", "--interactive", "--time-limit", "7")
    assert set(asked) == {7.0}
