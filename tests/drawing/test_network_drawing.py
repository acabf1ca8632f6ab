import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from helpers.problems import naive_bayes, structured
from helpers.strategies import DATA, needs_data, networks, problems
from helpers.ward import ward
from helpers.worlds import examples
from hypothesis import given

from voilattice import Problem, load_problem, read_network
from voilattice.drawing.network import MAX_DRAWN, network_svg

SVG = "{http://www.w3.org/2000/svg}"


def boxes_and_arcs(problem, **limits):
    svg = ET.fromstring(network_svg(problem, **limits))
    boxes = {
        group.find(f"{SVG}title").text: (group.get("class"), group.find(f"{SVG}rect"))
        for group in svg.iter(f"{SVG}g")
    }
    arcs = [path for path in svg.iter(f"{SVG}path") if path.get("class") == "arc"]
    return svg, boxes, arcs


@examples(60)
@given(problem=problems(max_features=6))
def test_every_node_and_every_arc_is_drawn_and_no_box_covers_another(problem):
    svg, boxes, arcs = boxes_and_arcs(problem)
    assert len(boxes) == len(problem.network)
    assert len(arcs) == problem.network.n_arcs
    width, height = float(svg.get("width")), float(svg.get("height"))
    places = [
        tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for _, rect in boxes.values()
    ]
    for i, (x, y, w, h) in enumerate(places):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for a, b, c, d in places[i + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y


@examples(40)
@given(network=networks(min_nodes=2, max_nodes=7))
def test_parents_stand_above_their_children(network):
    target = network.names[0]
    problem = Problem.create(
        network, target, dict.fromkeys(network.names[1:], 1.0),
        [[0.0] * len(network.states[0])],  # one decision
        decisions=["go"],
    )  # fmt: skip
    _, boxes, _ = boxes_and_arcs(problem)
    y = {title.split(":")[0]: float(rect.get("y")) for title, (_, rect) in boxes.items()}
    for node, parents in enumerate(network.parents):
        assert all(y[network.names[p]] < y[network.names[node]] for p in parents)


def test_target_features_hidden_and_known_nodes_are_told_apart():
    problem = replace(load_problem("asia"), evidence={"smoke": "yes"})
    _, boxes, _ = boxes_and_arcs(problem)
    kinds = {title.split(":")[0]: kind.split()[1] for title, (kind, _) in boxes.items()}
    assert kinds[problem.target] == "target"
    assert kinds["smoke"] == "known"
    assert kinds["xray"] == "feature"
    assert {kinds[name] for name in problem.hidden} <= {"hidden"}
    assert "X-ray" in "".join(ET.fromstring(network_svg(ward())).itertext())


@pytest.mark.parametrize("problem", [naive_bayes(60), structured({"a" * 90: ["Y"]})])
def test_wide_and_long_networks_fit(problem):
    svg = ET.fromstring(network_svg(problem))
    assert float(svg.get("width")) <= 1200


@needs_data
def test_of_a_large_network_the_nodes_nearest_to_the_target_are_drawn():
    network = read_network(DATA / "networks" / "hepar2.bif")
    prices = {name: 1.0 for name in network.names if name != "Cirrhosis"}
    problem = Problem.create(network, "Cirrhosis", prices, ("asymmetric", 100))
    assert len(boxes_and_arcs(problem)[1]) == 70 <= MAX_DRAWN
    svg, boxes, _ = boxes_and_arcs(problem, max_nodes=40)
    assert len(boxes) == 40
    assert "40 of 70 nodes: those nearest to the target" in "".join(svg.itertext())
    target = network.index("Cirrhosis")
    blanket = {network.names[p] for p in network.parents[target]}
    blanket |= {network.names[n] for n, ps in enumerate(network.parents) if target in ps}
    assert blanket <= {title.split(":")[0] for title in boxes}
