"""How results look for people."""

import pytest

from voilattice import load_problem
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
    *_, last = printed(console.print_best, found)
    assert said in last
    assert exact or last.endswith("no set has a benefit above 4.50.")


def test_a_policy_that_is_not_proved_shows_its_gap(printed):
    leaf = Leaf("no", (0.1, 0.9), 50.0)
    asia = load_problem("asia")
    lines = printed(console.print_policy, Policy(asia, "optimal", (leaf,), UNPROVED), 110.0)
    assert ["savings", "60.00"] in [line.split() for line in lines]
    assert lines[-1] == (
        "Not proved optimal: no policy costs less than 40.00 on average. "
        "It is within 10.00 (20.0%) of the optimum."
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
