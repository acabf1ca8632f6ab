import datetime
import re
from dataclasses import replace

import pytest
from helpers.rich_worlds import rich_problem
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import build_policy, load_problem
from voilattice.drawing import report
from voilattice.drawing.report import expected_bill, report_html
from voilattice.policy.first_steps import find_first_steps

DAY = datetime.date(2026, 11, 17)


@pytest.mark.parametrize("seed", range(40))
def test_the_bill_to_expect_adds_up_and_has_the_shares_of_the_paths(seed):
    policy = build_policy(rich_problem(seed), "optimal")
    rows = expected_bill(policy)
    assert sum(part for *_, part in rows) == pytest.approx(policy.expected_feature_cost, abs=1e-7)
    shares = {name: share for name, share, _, _ in rows if name}
    for feature, share in shares.items():
        bought = sum(path.probability for path in policy.paths() if feature in dict(path.evidence))
        assert share == pytest.approx(bought)


def test_the_report_has_all_its_parts():
    problem = ward()
    page = report_html(build_policy(problem, "optimal"), find_first_steps(problem), date=DAY)
    for part in (
        "Lung ward", "2026-11-17, policy optimal", "First, acquire X-ray and consent for 26.00 CAD",
        "Proved optimal", "The problem", "Limits of each path", "Stakes", "refer",
        "Where the cases go", "Why this first", "The bill to expect", "What this rests on",
        "Beginning with X-ray, blood and consent costs 7.42 CAD more",
    ):  # fmt: skip
        assert part in page, part
    assert len(re.findall("<svg", page)) == 2
    assert "size: A4" in page


def test_ways_to_begin_that_have_no_row_are_counted(monkeypatch):
    asia = load_problem("asia")
    steps = find_first_steps(asia)
    monkeypatch.setattr(report, "MAX_STEPS", 2)
    page = report_html(build_policy(asia, "optimal"), steps)
    rest = steps.steps[2:]
    assert f"anything else ({len(rest)})" in page
    assert f"from {min(step.cost_to_go for step in rest):.2f}" in page


def test_a_rule_has_a_report_without_first_steps_and_claims_nothing():
    page = report_html(build_policy(load_problem("asia"), "greedy"), date=DAY)
    assert "Why this first" not in page
    assert "The policy greedy is a rule: it is not proved to cost least." in page
    assert "Decide at once: no." in page
    assert "That is what deciding now costs" in page


def test_prices_of_ones_own_are_one_row():
    problem = replace(load_problem("figure1").with_expected("symmetric", 400), costs=OwnCosts(2))
    policy = build_policy(problem, "greedy-la")
    *_, last = expected_bill(policy)
    assert last[3] == pytest.approx(policy.expected_feature_cost)
    assert "100.0 %" in report_html(policy, date=DAY) or not policy.depth


def test_the_page_needs_nothing_from_outside_and_escapes_names():
    problem = replace(load_problem("asia"), title="<script>", labels={"xray": "a < b"})
    page = report_html(build_policy(problem, "optimal"), date=DAY)
    assert "<script>" not in page
    assert "a &lt; b" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
