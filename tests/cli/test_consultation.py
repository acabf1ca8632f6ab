"""Consultations in the terminal, with answers that are typed in."""

import io

import pytest
from helpers.labels import LABELLED
from helpers.problems import SURE
from helpers.ward import WARD

from voilattice import Network, Problem
from voilattice.cli import consultation


def test_a_consultation_to_the_decision(run, monkeypatch):
    # tub: an odd answer, then no; xray: undone; tub again; xray yes; smoke and dysp not to be had;
    # bronc by its number, undone after the decision, and again.
    answers = iter(["maybe", "no", "u", "no", "yes", "n", "n", "1", "u", "2", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run("advise", "asia", "--policy", "greedy-la", "--interactive")
    assert status == 0
    assert next(answers, None) is None
    assert "Please type one of: yes, no, 1, 2, n." in out
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


def test_undo_is_offered_once_there_is_something_to_undo(run, monkeypatch):
    answers, asked = iter(["no", "no", ""]), []

    def answer(question, *, prompt_suffix, default=None, show_default=True):
        asked.append((question, default, show_default))
        return next(answers)

    monkeypatch.setattr("click.prompt", answer)
    run("advise", "asia", "--policy", "greedy-la", "--interactive")
    (first, *_), (second, *_), end = asked
    assert first == "tub?  1 yes  2 no  n not available"
    assert second == "xray?  1 yes  2 no  n not available  u undo"
    assert end == ("Enter to finish, u to undo the last step", "", False)  # no [] behind it


def test_undo_inside_a_batch_takes_back_one_answer(run, monkeypatch):
    # smoke yes, taken back and no; dysp, xray, tub.
    answers = iter(["yes", "u", "no", "yes", "no", "no", ""])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    status, out, _ = run("advise", "asia", "--policy", "batch", "--interactive")
    assert status == 0
    assert next(answers, None) is None
    assert "There is nothing to undo." not in out


def test_a_consultation_keeps_to_its_time_limit(run, monkeypatch):
    from voilattice.consultation import advice

    asked = []

    def noted(problem, policy, evidence=None, *, time_limit=None, **options):
        asked.append(time_limit)
        return advice.advise(problem, policy, evidence, time_limit=time_limit, **options)

    monkeypatch.setattr("voilattice.cli.consultation.advise", noted)
    monkeypatch.setattr("click.prompt", lambda *_, **__: "yes")
    run("advise", "asia", "--policy", "optimal", "--interactive", "--time-limit", "7")
    assert set(asked) == {7.0}


@pytest.mark.parametrize(
    ("states", "typed", "answer"),
    [
        (("low", "high"), "high", "=high"),
        (("low", "high"), "2", "=high"),
        (("2", "1"), "2", "=2"),  # a state that is a number is meant by it
        (("10", "20"), "1 20", "=20"),  # and then no number is a place in the list
        (("y", "n"), "n", "=n"),
        (("y", "n"), "!n", "n"),  # not available, where a state has the letter
        (("low", "high"), "u", "u"),
    ],
)
def test_what_is_typed_is_a_state_a_number_or_a_command(monkeypatch, states, typed, answer):
    typed = iter(typed.split())
    monkeypatch.setattr("click.prompt", lambda *_, **__: f" {next(typed)} ")
    assert consultation._answer(one_feature(states), "X", can_undo=True) == answer
    assert next(typed, None) is None


@pytest.mark.parametrize(
    ("typed", "answer"), [("1", "=low"), ("39", "=high"), ("nan high", "=high"), ("n", "n")]
)
def test_a_number_is_the_value_of_a_feature_with_bins(monkeypatch, capsys, typed, answer):
    words = iter(typed.split())
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(words))
    problem = one_feature(("low", "high"), bins={"X": [36.6]})
    assert consultation._answer(problem, "X", can_undo=False) == answer
    if "nan" in typed:
        assert capsys.readouterr().out == "Please type a number, or one of: low, high, n.\n"


def one_feature(states, bins=None):
    row = [1 / len(states)] * len(states)
    network = Network.from_tables(
        {"Y": ["0", "1"], "X": list(states)}, {"X": ["Y"]}, {"Y": [0.5, 0.5], "X": [row, row]}
    )
    return Problem.create(network, "Y", {"X": 1}, [[0, 1], [1, 0]], bins=bins)


def test_a_result_that_is_impossible_is_asked_for_again(run, tmp_path, monkeypatch):
    (tmp_path / "sure.toml").write_text(SURE)
    answers = iter(["T", "F", "T", "T", ""])  # A and B, and both again
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    arguments = ("advise", tmp_path / "sure.toml", "--policy", "markov-blanket", "--interactive")
    status, out, _ = run(*arguments)
    assert status == 0
    assert next(answers, None) is None
    said = " ".join(out.split())
    assert "A=T, B=F is impossible" in said
    assert "Please enter the last result again." in said
    assert "Decide: T." in out


def test_a_consultation_shows_labels_and_is_answered_with_names_or_numbers(
    run, monkeypatch, tmp_path
):
    (tmp_path / "clinic.toml").write_text(LABELLED.replace("ecg = 30", "ecg = 300"))
    answers, asked = iter(["no pain at all", "2", "old", ""]), []

    def answer(question, **_):
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("click.prompt", answer)
    path = str(tmp_path / "clinic.toml")
    status, out, _ = run("advise", path, "--policy", "markov-blanket", "--interactive",
                         "--unavailable", "ecg")  # fmt: skip
    assert status == 0
    assert asked[0] == "Chest pain?  1 typical angina  2 no pain at all  n not available"
    assert "Please type one of: typ, asym, 1, 2, n." in out
    bill = out[out.rindex("the bill") :]
    assert "Chest pain = no pain at all, age = old (Chest pain " in bill
    assert bill.splitlines()[0].split() == ["the", "bill", "CAD"]


def test_where_states_are_numbers_their_names_stand_beside_their_labels(monkeypatch, tmp_path):
    network = Network.from_tables(
        {"Y": ["T", "F"], "X": ["1", "2"]},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[0.9, 0.1], [0.2, 0.8]]},
    )
    problem = Problem.create(
        network, "Y", {"X": 1}, ("symmetric", 100), state_labels={"X": {"1": "mild"}}
    )
    asked = []

    def answer(question, **_):
        asked.append(question)
        return "2" if len(asked) == 1 else ""

    monkeypatch.setattr("click.prompt", answer)
    consultation.consult(problem, "greedy", {})
    assert asked[0] == "X?  1 (mild)  2  n not available"


def test_input_that_ends_says_what_is_known_and_how_to_go_on(run, monkeypatch, tmp_path):
    (tmp_path / "my ward.toml").write_text(WARD)
    monkeypatch.setattr("sys.stdin", io.StringIO("shadow\n"))  # of a round with two features
    options = ("--policy", "optimal", "--interactive", "--time-limit", "50", "--given", "age=young")
    status, _, err = run("advise", tmp_path / "my ward.toml", *options, "--unavailable", "blood")
    assert status == 2
    assert err == (
        "the input ended before the decision; known so far: age = young, X-ray = shadow; to go on: "
        f"voilattice advise '{tmp_path}/my ward.toml' --policy optimal --given age=young "
        "--time-limit 50 --interactive --evidence xray=shadow --unavailable blood\n"
    )


def test_a_consultation_without_any_input_can_be_begun_again(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    status, out, err = run("advise", "asia", "--interactive")
    assert (status, out.splitlines()[1]) == (2, "Acquire xray.")
    assert err.endswith("known so far: nothing; to go on: voilattice advise asia --interactive\n")
