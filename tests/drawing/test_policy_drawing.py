import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from helpers.labels import labelled
from helpers.problems import noisy_bayes, structured
from helpers.ward import ward

from voilattice import load_problem
from voilattice.drawing.policy import policy_dot, policy_html, policy_svg, policy_text
from voilattice.model.acquisition import PathLimits
from voilattice.policy.solvers import build_policy, policy_from_rule

SVG = "{http://www.w3.org/2000/svg}"
ASIA = build_policy(load_problem("asia"), "greedy-la")


def large_policy():
    problem = noisy_bayes(9)
    order = problem.features
    return policy_from_rule(problem, lambda e: {order[len(e)]} if len(e) < 9 else set())


def test_text_has_a_line_for_each_place_of_the_tree():
    lines = list(policy_text(ASIA))
    assert len(lines) == ASIA.n_acquisitions + ASIA.n_paths
    assert lines[0] == "buy tub for 6.00"


def test_a_leaf_shows_the_decision_and_the_classes():
    asia = load_problem("asia")
    rows = np.vstack([asia.misclassification, [100.0, 100.0]])
    own = replace(asia, decisions=("treat", "wait", "refer"), misclassification=rows)
    [line] = policy_text(build_policy(own, "none"))
    assert line == "decide refer, risk 100.00 (no 94.5 %)"
    for drawing in (policy_svg, policy_dot, policy_html):
        assert "decide refer, risk 100.00 (no 94.5 %)" in "".join(
            drawing(build_policy(own, "none"))
        )


def test_a_large_tree_is_unfolded_where_it_is_likely():
    policy = large_policy()
    lines = list(policy_text(policy, max_nodes=50))
    assert len(lines) <= 50
    assert sum("paths" in line for line in lines) > 1
    folded = [
        int(re.search(r", then (\d+) paths \(not drawn\)$", line)[1])
        for line in lines
        if "paths" in line
    ]
    leaves = sum("decide" in line for line in lines)
    assert sum(folded) + leaves == policy.n_paths == 512


def test_of_a_root_with_many_outcomes_the_likeliest_aredraw_cases():
    problem = noisy_bayes(9)
    policy = policy_from_rule(problem, lambda e: set() if e else set(problem.features))
    lines = list(policy_text(policy, max_nodes=50))
    assert len(lines) == 50
    assert "464 other outcomes" in lines[-1]
    likeliest = max(b.probability for b in policy.root.branches)
    assert f"({100 * likeliest:.1f} %)" in lines[1]


def test_svg_draws_each_place_inside_the_picture():
    svg = ET.fromstring(policy_svg(ASIA))
    boxes = [rect for rect in svg.iter(f"{SVG}rect") if rect.get("class") in ("buy", "say")]
    assert len(boxes) == ASIA.n_acquisitions + ASIA.n_paths
    for box in boxes:
        right = float(box.get("x")) + float(box.get("width"))
        assert right <= float(svg.get("width"))
        assert float(box.get("y")) + float(box.get("height")) <= float(svg.get("height"))
    assert len(list(svg.iter(f"{SVG}path"))) == len(boxes) - 1


@pytest.mark.parametrize("name", ["greedy-la", "optimal", "none"])
def test_svg_has_a_heading_above_the_tree(name):
    policy = build_policy(load_problem("asia"), name)
    svg = ET.fromstring(policy_svg(policy))
    boxes = [rect for rect in svg.iter(f"{SVG}rect") if rect.get("class") in ("buy", "say")]
    first = min(float(box.get("y")) for box in boxes)
    above = [text for text in svg.iter(f"{SVG}text") if float(text.get("y")) < first]
    cost = f"Policy {name}: expected total cost {policy.expected_total_cost:.2f}"
    assert [text.text for text in above] == [cost, policy.verdict][: 1 + bool(policy.verdict)]
    assert svg.find(f"{SVG}title").text.startswith(f"Policy {name}.")


def test_the_page_tells_costs_and_needs_nothing_from_outside():
    page = policy_html(ASIA)
    assert f"<b>{ASIA.expected_total_cost:,.2f}</b>" in page
    assert page.count("<details") == ASIA.n_acquisitions
    assert page.count("still to pay") == ASIA.n_acquisitions + ASIA.n_paths
    assert "http" not in page
    assert "src=" not in page


@pytest.mark.parametrize("draw", [policy_svg, policy_html])
def test_names_are_shown_as_text(draw):
    problem = structured({"<script>": ["Y"], 'a"b': ["Y"]})
    policy = policy_from_rule(problem, lambda e: set() if e else set(problem.features))
    drawn = draw(policy)
    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn
    assert '\\"b' in "\n".join(policy_dot(policy))


def test_dot_has_every_place_and_every_way():
    lines = list(policy_dot(ASIA))
    assert sum("->" in line for line in lines) == ASIA.n_acquisitions + ASIA.n_paths - 1


def test_people_read_labels_and_the_currency_in_the_drawings():
    policy = build_policy(labelled(), "optimal")
    text = "\n".join(policy_text(policy))
    assert text.startswith("buy age for 4.50 CAD")
    assert "Chest pain = typical angina (29.6 %): decide diseased, risk 48.65 CAD" in text
    dot = "\n".join(policy_dot(policy))
    for drawn in (text, dot, policy_svg(policy), policy_html(policy)):
        assert "Chest pain = no pain at all" in drawn
        assert "decide healthy" in drawn
        assert not re.search(r"\b(cp|ecg|typ|asym)\b", drawn)
    assert "expected total cost 83.48 CAD" in policy_svg(policy)
    assert "<b>83.48 CAD</b>" in policy_html(policy)


def test_a_label_from_a_file_is_no_markup():
    problem = replace(labelled(), labels={"cp": "<b>pain</b>"}, currency="<i>")
    policy = build_policy(problem, "markov-blanket")
    for drawn in (policy_svg(policy), policy_html(policy)):
        assert "<b>pain" not in drawn
        assert "<i> " not in drawn
        assert "&lt;b&gt;pain" in drawn


def test_several_features_of_one_round_and_its_cost_are_said_where_rounds_count():
    policy = build_policy(ward(), "optimal")
    said = f"{policy.expected_rounds:.2f} rounds on average, 5.00 CAD each."
    assert next(policy_text(policy)) == "buy X-ray, consent in one round for 26.00 CAD"
    assert said in policy_html(policy)
    assert said in policy_svg(policy)
    assert "rounds" not in policy_html(build_policy(load_problem("figure3"), "batch"))
    limited = replace(
        ward(), limits=PathLimits(rounds=1), costs=replace(ward().costs, round_cost=0)
    )
    assert "1.00 rounds on average." in policy_html(build_policy(limited, "optimal"))
