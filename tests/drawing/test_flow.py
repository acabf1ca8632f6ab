import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations

import pytest
from helpers.rich_worlds import rich_problem
from helpers.ward import ward

from voilattice import build_policy, load_problem
from voilattice.drawing.flow import COLOURS, HEIGHT, LINE_HEIGHT, draw_flow, flow_svg
from voilattice.drawing.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"


def parts(policy):
    svg = ET.fromstring(flow_svg(policy))
    places = [(g.find(f"{SVG}title").text, g.find(f"{SVG}rect")) for g in svg.iter(f"{SVG}g")]
    bands = [path for path in svg.iter(f"{SVG}path") if path.get("class") == "band"]
    return svg, places, bands


@pytest.mark.parametrize("name", ["asia", "heart", "car", "figure1", "diabetes"])
def test_all_cases_end_in_a_decision_or_in_paths_that_are_drawn_as_one(name):
    policy = build_policy(load_problem(name), "greedy-la" if name == "diabetes" else "optimal")
    _, places, bands = parts(policy)
    ends = [
        float(rect.get("height"))
        for title, rect in places
        if " for " not in title and "rect" in rect.tag
    ]
    drawn = [h / HEIGHT for h in ends if h > 2.0]  # thin ones are drawn thicker than they are
    assert sum(drawn) <= 1.01
    assert sum(drawn) >= 0.9
    if bands:
        widest = max(float(band.get("stroke-width")) for band in bands)
        assert widest <= HEIGHT + 1e-6


@pytest.mark.parametrize("seed", range(25))
def test_any_policy_can_be_drawn_and_stays_inside_the_picture(seed):
    policy = build_policy(rich_problem(seed), "optimal")
    svg, places, _ = parts(policy)
    width, height = float(svg.get("width")), float(svg.get("height"))
    flow = draw_flow(policy)
    assert (width, height) == pytest.approx((flow.width, flow.height), rel=1e-4)
    for _, rect in places:
        x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
    assert "nan" not in flow_svg(policy)


@pytest.mark.parametrize("name", ["asia", "car", "figure1", "heart-treadmill"])
def test_no_text_runs_over_the_border_or_over_another_text(name):
    policy = build_policy(load_problem(name), "greedy-la")
    svg, _, _ = parts(policy)
    width, height = float(svg.get("width")), float(svg.get("height"))
    boxes = []
    for text in svg.iter(f"{SVG}text"):
        size, weight = float(text.get("font-size")), int(text.get("font-weight"))
        x, y = float(text.get("x")), float(text.get("y"))
        wide = text_width(text.text, size, weight)
        left = x - wide if text.get("text-anchor") == "end" else x
        boxes.append((text.text, left, left + wide, y - 0.7 * size, y))
    for said, left, right, top, bottom in boxes:
        assert 0 <= left <= right <= width, said
        assert 0 <= top <= bottom <= height, said
    for a, b in combinations(boxes, 2):
        beside = a[2] <= b[1] or b[2] <= a[1]
        assert beside or a[4] <= b[3] or b[4] <= a[3], (a, b)


def test_a_long_title_is_broken_and_cut_to_the_width():
    problem = replace(load_problem("figure1"), title="A heat pump station that makes noise " * 9)
    svg, _, _ = parts(build_policy(problem, "none"))
    lines = [t for t in svg.iter(f"{SVG}text") if t.get("font-weight") == "600"]
    assert len(lines) == 2
    assert lines[-1].text.endswith("…")
    for line in lines:
        assert text_width(line.text, 14, 600) <= 1.1 * float(svg.get("width"))


def is_label(text, band):
    """Whether a line of text, which may be cut, is what a band is labelled with."""
    outcomes = band.find(f"{SVG}title").text.rpartition(": ")[0]
    n_outcomes = outcomes.count(" or ") + 1
    return text.removesuffix("…") in outcomes or text == f"{n_outcomes} outcomes"


@pytest.mark.parametrize("name", ["heart-treadmill", "asia", "car", "heart"])
def test_each_band_that_has_room_has_a_label_of_its_own_with_a_halo(name):
    svg, _, bands = parts(build_policy(load_problem(name), "greedy-la"))
    labels = [t for t in svg.iter(f"{SVG}text") if t.get("class") == "outcome"]
    ends = []
    for band in bands:
        thick = float(band.get("stroke-width"))
        x, y = map(float, band.get("d").split()[-2:])
        # Room for two lines, and for those of thinner bands above it.
        if thick >= 2 * LINE_HEIGHT:
            ends.append((band, x, y, thick))
    assert len(ends) > 2
    own = []
    for band, x, y, thick in ends:
        beside = [
            label for label in labels
            if abs(float(label.get("x")) - x) < 8
            and abs(float(label.get("y")) - y) < thick / 2
            and is_label(label.text, band)
        ]  # fmt: skip
        assert beside, band.find(f"{SVG}title").text
        own += beside
    assert len(own) == len(set(own))  # no label is that of two bands
    assert all(label.get("paint-order") == "stroke" for label in labels)
    assert "style" not in svg.attrib


def test_a_column_has_one_place_for_each_decision_and_a_colour_for_it():
    policy = build_policy(ward(), "optimal")
    _, places, _ = parts(policy)
    fills = {
        title.split(":")[0]: rect.get("fill") for title, rect in places if " for " not in title
    }
    decisions = policy.problem.decisions
    assert all(fills[d] == COLOURS[decisions.index(d)] for d in fills)
    assert "X-ray, consent for 26.00 CAD: 100 %" in [title for title, _ in places]


def test_bands_name_their_outcomes():
    _, _, bands = parts(build_policy(load_problem("heart-treadmill"), "optimal"))
    titles = [band.find(f"{SVG}title").text for band in bands]
    assert "under 55: 46.7 %" in titles


def test_rare_paths_are_drawn_as_one():
    text = "".join(parts(build_policy(load_problem("heart"), "optimal"))[0].itertext())
    assert re.search(r"and \d+ rarer paths", text)
    text = "".join(parts(build_policy(load_problem("car"), "optimal"))[0].itertext())
    assert re.search(r"and \d+ longer paths", text)


def test_names_are_shown_as_text():
    problem = replace(load_problem("figure1"), title="<b>bold</b>", labels={"X1": "<i>"})
    assert "<b>" not in flow_svg(build_policy(problem.with_expected("symmetric", 500), "optimal"))
