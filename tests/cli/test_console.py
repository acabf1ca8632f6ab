"""How results look for people."""

import json
import re

import pytest
from helpers.labels import LABELLED, labelled

from voilattice import load_problem, value
from voilattice.cli import console
from voilattice.paper.claims import Case, Claim
from voilattice.policy.comparison import ComparisonRow
from voilattice.policy.policy import Certificate, Leaf, Policy
from voilattice.valuation.best_set import Best

UNPROVED = Certificate(lower_bound=40.0, exact=False, status="time")


@pytest.fixture
def printed(capsys, monkeypatch):
    """What a function prints, lines without the spaces around them."""
    monkeypatch.setenv("COLUMNS", "200")

    def printed(show, *arguments):
        show(*arguments)
        return [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]

    return printed


def test_of_many_names_the_first_are_listed_and_the_others_counted():
    names = tuple(f"X{k}" for k in range(14))
    assert console.list_some(names[:12]) == ", ".join(names[:12])
    assert console.list_some(names).endswith("X11 and 2 more")


def test_json_is_one_line_and_holds_no_nan(printed):
    assert printed(console.print_json, {"a": [1, 2.5]}) == ['{"a": [1, 2.5]}']
    with pytest.raises(ValueError, match="not JSON compliant"):
        console.print_json({"a": float("nan")})


@pytest.mark.parametrize(
    ("short_of", "said"),
    [
        (None, "No set of features has a higher benefit."),
        ("time", "Time is up (--time-limit). This is the best set found; "),
        ("memory", "Some sets do not fit the memory budget (--memory). "),
        ("costs", "There are too many sets to check with prices of your own. "),
    ],
)
def test_how_sure_the_best_set_is(printed, short_of, said):
    exact = short_of is None
    found = Best(frozenset("A"), 5.0, 2.0, 3.0, exact, 3.0 if exact else 4.5, 7, None, short_of)
    *_, last = printed(console.print_best, load_problem("asia"), found)
    assert said in last
    assert exact or last.endswith("no set has a benefit above 4.50.")


def test_a_policy_that_is_not_proved_shows_its_gap(printed):
    leaf = Leaf("no", (0.1, 0.9), 50.0)
    asia = load_problem("asia")
    lines = printed(console.print_policy, Policy(asia, "optimal", (leaf,), UNPROVED), 110.0)
    assert ["savings", "60.00"] in [line.split() for line in lines]
    assert lines[-1] == (
        "Not proved optimal: no policy costs less than 40.00 on average. "
        "It costs at most 10.00 (20.0%) too much."
    )
    proved = Certificate(lower_bound=50.0)
    lines = printed(console.print_policy, Policy(asia, "optimal", (leaf,), proved), 110.0)
    assert lines[-1] == "Proved optimal: no policy costs less than 50.00 on average."


def row(policy, cost, expected=100.0, kind="symmetric", certificate=Certificate()):  # noqa: B008
    return ComparisonRow(kind, expected, policy, cost, expected - cost, certificate)


def test_at_one_point_each_policy_is_a_row_and_the_lowest_is_marked(printed):
    lines = printed(console.print_comparison, [row("none", 100.0), row("batch", 80.0)])
    assert [line.split() for line in lines[-2:]] == [
        ["none", "100.00", "0.00", "+25.0%"],
        ["batch", "80.00", "20.00", "lowest"],
    ]


def test_an_optimum_that_is_not_proved_is_not_called_the_best(printed):
    rows = [row("batch", 40), row("optimal", 50, certificate=UNPROVED)]
    *_, last = printed(console.print_comparison, rows)
    said = "The optimum was not proved: its row is the best that the search found within its limits"
    assert last == f"{said}."


def test_along_a_sweep_each_point_is_a_row(printed):
    rows = [
        *(row("none", 100.0), row("optimal", 80.0, certificate=UNPROVED)),
        *(row("none", 50.0, 50.0), row("optimal", 50.0, 50.0)),
    ]
    lines = printed(console.print_comparison, rows)
    assert ["100.00", "100.00", "80.00~*"] in [line.split() for line in lines]
    assert ["50.00", "50.00*", "50.00*"] in [line.split() for line in lines]
    assert lines[-1] == (
        "Expected total costs; * marks the lowest; ~ was not finished or not proved in time."
    )


def test_each_claim_has_its_verdict(printed):
    claims = [
        Claim("It pays.", "Section 1", "", (Case("a", "", True), Case("b", "", False))),
        Claim("It never pays.", "Section 2", "", ()),
    ]
    lines = printed(console.print_claims, claims)
    assert [line.split("  ")[-1].strip() for line in lines[-2:]] == [
        "holds in 1 of 2",
        "not measured",
    ]


NAMES = re.compile(r"\b(cp|ecg|typ|asym|ill)\b")


@pytest.mark.parametrize(
    "arguments",
    [
        ("value", "--features", "cp,ecg"),
        ("best",),
        ("advise", "--policy", "optimal"),
        ("advise", "--policy", "greedy-la", "--evidence", "ecg=+"),
        ("advise", "--policy", "markov-blanket"),
        ("policy", "--policy", "optimal", "--text"),
        ("compare",),
        ("compare", "--emc", "0:100:100", "--jobs", "1"),
        ("lattice", "--values", "--evidence", "cp=typ"),
        ("explain", "--features", "cp,ecg"),
    ],
)
def test_people_read_labels_and_the_currency_and_no_names(run, tmp_path, arguments):
    path = tmp_path / "clinic.toml"
    path.write_text(LABELLED)
    command, *options = arguments
    status, out, _ = run(command, str(path), *options)
    assert status == 0
    assert NAMES.findall(out) == []
    if command != "explain":
        assert "CAD" in out
    if command != "compare":
        assert "Resting ECG" in out or "diseased" in out


def test_a_table_names_the_currency_in_its_headings_only(printed):
    problem = labelled()
    heading, _, *rows, sentence = printed(console.print_value, problem, value(problem, {"cp"}))
    assert heading.split() == ["acquire", "Chest", "pain", "CAD"]
    assert not any("CAD" in row for row in rows)
    assert sentence == (
        "Knowing Chest pain takes 12.00 CAD off the expected cost of deciding and costs "
        "16.50 CAD: it does not pay."
    )


def test_show_says_which_name_stands_for_what(printed):
    lines = printed(console.print_problem, labelled(), {"cp": "asym"})
    assert "Known: Chest pain = no pain at all" in lines
    assert "Deciding now costs 144.00 CAD on average (EMC)." in lines
    shown = "\n".join(lines)
    for text in ("cp (Chest pain)", "asym (no pain at all)", "price (CAD)", "ill (Heart disease)"):
        assert text in shown
    assert "visit costs 4.00 CAD, paid once: with the first of Chest pain and age." in lines


def test_json_keeps_the_names(run, tmp_path):
    path = tmp_path / "clinic.toml"
    path.write_text(LABELLED)
    found = json.loads(run("advise", str(path), "--policy", "greedy", "--json")[1])
    assert found["features"] == ["ecg"]
    assert list(found["posterior"]) == ["yes", "no"]
    assert found["reasons"][0].startswith("Resting ECG ")  # a sentence is for people
    shown = json.loads(run("show", str(path), "--json")[1])
    assert shown["labels"]["cp"] == "Chest pain"
    assert shown["state_labels"]["cp"]["asym"] == "no pain at all"
    assert shown["currency"] == "CAD"
    assert shown["states"]["cp"] == ["typ", "asym"]


def test_labels_are_no_input(run, tmp_path):
    path = tmp_path / "clinic.toml"
    path.write_text(LABELLED)
    status, _, err = run("value", str(path), "--features", "Chest pain")
    assert status == 2
    assert "no feature 'Chest pain'" in err
    assert run("best", str(path), "--evidence", "cp=typical angina")[0] == 2


def test_cases_are_counted_by_the_labels_of_decisions(run, tmp_path):
    path, data = tmp_path / "clinic.toml", tmp_path / "cases.csv"
    path.write_text(LABELLED)
    data.write_text("cp,ecg,age,ill\ntyp,+,old,yes\nasym,-,young,no\n")
    status, out, _ = run("apply", str(path), str(data), "--policy", "greedy")
    assert status == 0
    assert ["diseased", "1"] in [line.split() for line in out.splitlines()]
    assert "total cost (CAD)" in out
