import datetime
import html
import re
from dataclasses import replace

import pytest
from helpers.problems import noisy_bayes
from helpers.strategies import OwnCosts
from helpers.ward import ward

from voilattice import build_policy, load_problem
from voilattice.consultation.first_steps import find_first_steps
from voilattice.drawing import report
from voilattice.drawing.policy import policy_text
from voilattice.drawing.report import report_html
from voilattice.model.costs import ConditionalCost, Discount, FeatureCosts, Group
from voilattice.policy.solvers import policy_from_rule

DAY = datetime.date(2026, 11, 17)


def test_the_report_has_all_its_parts():
    problem = ward()
    page = report_html(build_policy(problem, "optimal"), find_first_steps(problem), date=DAY)
    for part in (
        "Lung ward", "2026-11-17, policy optimal", "First, acquire X-ray and consent for 26.00 CAD",
        "Proved optimal", "The problem", "Limits of each path", "Stakes", "refer",
        "Where the cases go", "Why this first", "Prices, and the bill to expect", "The plan",
        "What this rests on", "each round",
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
    assert policy.depth
    rows = bill_rows(report_html(policy, date=DAY))
    assert any("100.0 %" in row for row in rows)
    (own,) = (row for row in rows if row[0] == "all of them")
    assert own[-1] == f"{policy.expected_feature_cost:.2f}"


def plain(text):
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def bill_rows(page):
    """The rows of the bill, each a list of texts."""
    (bill,) = re.findall(r"the bill to expect</h2>\s*(.*?)</section>", page, re.S)
    return [
        [plain(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", bill, re.S)
    ]


def test_a_group_named_like_a_known_feature_is_not_known():
    asia = load_problem("asia")
    costs = FeatureCosts(
        dict.fromkeys(asia.features, 1.0),
        (Group("smoke", 3, ("xray", "tub")),),
        discounts=(Discount("asia", {"dysp": 0.5, "bronc": 0.5}),),
    )
    known = replace(asia, costs=costs).with_evidence({"smoke": "yes", "asia": "no"})
    page = report_html(build_policy(known, "optimal"), date=DAY)
    paid = {row[0].split(",")[0]: row[2] for row in bill_rows(page)}
    assert paid["smoke"].endswith(" %")  # the group; its row comes after that of the feature
    assert paid["discount asia"] != "known"
    assert paid["asia"] == "known"


def test_the_amounts_of_low_prices_add_up():
    asia = load_problem("asia")
    costs = FeatureCosts(
        dict.fromkeys(asia.features, 1e-4),
        discounts=(Discount("lab", {"bronc": 5e-5, "xray": 5e-5, "dysp": 5e-5}),),
    )
    policy = build_policy(replace(asia, costs=costs), "optimal")
    amounts = {row[0]: row[-1] for row in bill_rows(report_html(policy, date=DAY))[1:]}
    together = float(amounts.pop("features together"))
    assert together == pytest.approx(policy.expected_feature_cost, rel=1e-3)
    for sums in ("total", "expected cost of the decision"):
        del amounts[sums]
    paid = [float(shown.replace("−", "-")) for shown in amounts.values() if shown]
    assert min(paid) < 0 < together
    assert sum(paid) == pytest.approx(together, rel=2e-3)


def test_the_report_has_each_leaf_of_a_small_tree_unfolded():
    policy = build_policy(ward(), "optimal")
    page = report_html(policy, date=DAY)
    shown = plain(page)
    for line in policy_text(policy):
        assert re.sub(r"^.*?\): |^[├└│─ ]*", "", line) in shown
    assert page.count("decide ") >= policy.n_paths
    assert "<details>" not in page
    assert "not drawn" not in page


def test_of_a_large_tree_the_report_says_what_is_left_out():
    problem = noisy_bayes(9)
    order = problem.features
    policy = policy_from_rule(problem, lambda e: {order[len(e)]} if len(e) < 9 else set())
    page = report_html(policy, date=DAY)
    assert "The policy has 512 paths. This is the most probable part of it" in page
    assert "(not drawn)" in page
    drawn = [float(p) for p in re.findall(r"<b>decide .*?reached ([\d.]+) %", page)]
    said = float(re.search(r"part of it: ([\d.]+) % of the cases", page)[1])
    assert said == pytest.approx(sum(drawn), abs=0.06 * len(drawn))


def test_a_flow_that_does_not_fit_paper_is_for_the_screen(monkeypatch):
    policy = build_policy(load_problem("asia"), "optimal")
    assert '<figure class="flow">' in report_html(policy)
    monkeypatch.setattr(report, "LEAST_SCALE", 1.0)
    assert '<section class="lying">' in report_html(policy)
    monkeypatch.setattr(report, "LEAST_SCALE", 3.0)
    page = report_html(policy)
    assert '<p class="paper">The picture of where the cases go is too large' in page
    assert '<figure class="flow screen">' in page


def test_prices_never_paid_groups_discounts_and_conditions_have_rows_of_their_own():
    costs = FeatureCosts(
        {"asia": 1, "tub": 6, "smoke": 1, "bronc": 30, "xray": 8, "dysp": 2},
        (Group("visit", 3, ("asia", "smoke")),),
        (ConditionalCost("tub", {"xray": "yes"}, 4),),
        (Discount("lab", {"bronc": 2, "xray": 2}),),
        round_cost=0.5,
    )
    shown = plain(report_html(build_policy(replace(load_problem("asia"), costs=costs), "optimal")))
    for part in (
        "bronc30.00", "visit, once for asia or smoke3.00", "tub: 4.00 if xray = yes",
        "discount lab, from the second on: bronc −2.00, xray −2.00", "each round0.50",
    ):  # fmt: skip
        assert part in shown, part


def test_the_page_needs_nothing_from_outside_and_escapes_names():
    problem = replace(load_problem("asia"), title="<script>", labels={"xray": "a < b"})
    page = report_html(build_policy(problem, "optimal"), date=DAY)
    assert "<script>" not in page
    assert "a &lt; b" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
