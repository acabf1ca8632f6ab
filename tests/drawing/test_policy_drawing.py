import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from helpers.labels import labelled
from helpers.problems import noisy_bayes, structured
from helpers.ward import ward

from voilattice import load_problem
from voilattice.drawing.policy import (
    LINE_LIMITS,
    MAX_OPEN,
    UNFOLD_FOR_PRINT,
    policy_dot,
    policy_html,
    policy_svg,
    policy_text,
    policy_tree,
)
from voilattice.drawing.svg import text_width
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
        drawn = "".join(drawing(build_policy(own, "none")))
        assert "decide refer, risk 100.00 (no 94.5 %)" in re.sub(r"</?b>", "", drawn)


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
    lines = " ".join(text.text for text in above if text.get("class") == "heading")
    assert lines == f"{policy.problem.title} {cost} {policy.verdict}".strip()
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
    drawn = draw(policy).replace(UNFOLD_FOR_PRINT, "")
    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn
    assert '\\"b' in "\n".join(policy_dot(policy))


def texts_and_boxes(svg):
    """Return the place of each text, and of each box with its texts."""
    places = []
    for text in svg.iter(f"{SVG}text"):
        size, weight = float(text.get("font-size")), int(text.get("font-weight"))
        x, y = float(text.get("x")), float(text.get("y"))
        places.append((text, x, y - size, x + text_width(text.text, size, weight), y + size / 4))
    return places


def wordy():
    """Return a problem with names and a title that are too long for any line."""
    name = "a rather long name of a measurement "
    states = {"X3": {"T": "within the limits of the norm", "F": "Rindfleischetikettierung" * 3}}
    labels = {f"X{k}": name * k for k in range(1, 5)}
    return replace(
        load_problem("figure3"), title="A long title " * 30, labels=labels, state_labels=states
    )


@pytest.mark.parametrize("problem", [load_problem("asia"), ward(), labelled(), wordy()])
@pytest.mark.parametrize("name", ["none", "batch", "optimal"])
def test_svg_keeps_its_texts_inside_the_border_and_inside_their_boxes(problem, name):
    svg = ET.fromstring(policy_svg(build_policy(problem, name)))
    width, height = float(svg.get("width")), float(svg.get("height"))
    for text, left, top, right, bottom in texts_and_boxes(svg):
        assert left >= 0, text.text
        assert top >= 0, text.text
        assert right <= width, text.text
        assert bottom <= height, text.text
    for group in svg.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect")
        end = float(box.get("x")) + float(box.get("width"))
        inside = [t for t in texts_and_boxes(group) if t[0].get("class") == "what"]
        assert inside
        assert all(right <= end for _, _, _, right, _ in inside)


def test_svg_cuts_a_long_name_before_the_state_that_was_found():
    svg = ET.fromstring(policy_svg(build_policy(wordy(), "batch")))
    found = [t.text for t in svg.iter(f"{SVG}text") if t.get("class") == "found"]
    for state in ("= T (", "= F (", "= within the limits", "= Rindfleisch"):
        assert any(line.startswith(state) for line in found), state


def test_svg_shows_a_state_with_an_equals_sign_whole_where_the_name_is_cut():
    problem = load_problem("figure1").with_expected("symmetric", 500)
    name, state = "the temperature of the water that comes back at night", "dT = 3"
    labels = {"state_labels": {"X1": {"T": state}}, "labels": {"X1": name}}
    policy = policy_from_rule(replace(problem, **labels), lambda e: set() if e else {"X1"})
    svg = ET.fromstring(policy_svg(policy))
    found = [t.text for t in svg.iter(f"{SVG}text") if t.get("class") == "found"]
    assert any(line.startswith(f"= {state}") for line in found)
    assert not any("dT" in line and "…" in line for line in found)


@pytest.mark.parametrize("problem", [load_problem("asia"), ward(), load_problem("car")])
def test_svg_aligns_its_levels_and_no_box_covers_another(problem):
    svg = ET.fromstring(policy_svg(build_policy(problem, "greedy-la")))
    levels = {}
    for box in svg.iter(f"{SVG}rect"):
        if box.get("class") in ("buy", "say"):
            top = float(box.get("y"))
            level = levels.setdefault(float(box.get("x")), [])
            level.append((top, top + float(box.get("height")), box.get("width")))
    assert len(levels) == build_policy(problem, "greedy-la").depth + 1
    for level in levels.values():
        assert len({width for *_, width in level}) == 1
        level.sort()
        assert all(bottom < top for (_, bottom, _), (top, *_) in itertools.pairwise(level))


def test_svg_of_about_ten_leaves_is_readable_on_a4():
    policy = build_policy(labelled(), "optimal")
    svg = ET.fromstring(policy_svg(policy))
    sizes = {float(text.get("font-size")) for text in svg.iter(f"{SVG}text")}
    long, short = 1045, 718  # A4 inside its margins, in pixels
    width, height = float(svg.get("width")), float(svg.get("height"))
    scale = max(min(long / width, short / height), min(short / width, long / height), 0)
    assert min(scale, 1) * min(sizes) >= 8


def test_short_lines_are_taken_where_they_make_the_print_larger():
    assert [sum(limits) for limits in LINE_LIMITS] == sorted(map(sum, LINE_LIMITS), reverse=True)
    short = policy_svg(build_policy(load_problem("asia"), "optimal"))
    assert float(ET.fromstring(short).get("width")) < 1200  # six levels


def test_a_small_tree_is_open_and_a_large_one_opens_for_print():
    small = policy_html(ASIA)
    assert ASIA.n_paths <= MAX_OPEN
    assert small.count("<details open>") == ASIA.n_acquisitions
    large = policy_html(large_policy())
    assert "<details>" in large
    for page in (small, large):
        assert "beforeprint" in page
    assert "<details>" not in policy_tree(large_policy(), unfolded=True)


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
