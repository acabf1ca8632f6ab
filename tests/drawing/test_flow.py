import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from helpers.rich_worlds import rich_problem
from helpers.ward import ward

from voilattice import build_policy, load_problem
from voilattice.drawing.flow import COLOURS, HEIGHT, flow_svg

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
    for _, rect in places:
        x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
    assert "nan" not in flow_svg(policy)


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
