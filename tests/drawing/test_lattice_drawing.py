import re
import xml.etree.ElementTree as ET

import networkx
import pytest
from helpers.labels import labelled
from helpers.problems import naive_bayes, structured
from helpers.ward import ward

from voilattice import Lattice, load_problem
from voilattice.drawing.lattice import MAX_DRAWN, lattice_graphml, lattice_html, lattice_svg
from voilattice.valuation.lattice_values import value_lattice

SVG = "{http://www.w3.org/2000/svg}"


def drawn_sets(svg):
    groups = ET.fromstring(svg).iter(f"{SVG}g")
    return [group.find(f"{SVG}title").text for group in groups]


@pytest.mark.parametrize("problem", [load_problem("figure3"), load_problem("asia"), naive_bayes(7)])
def test_every_set_and_every_edge_isdraw_cases(problem):
    v = Lattice(problem)
    svg = lattice_svg(v)
    assert sorted(drawn_sets(svg)) == sorted(", ".join(sorted(s)) or "∅" for s in v)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}line"))) == v.n_edges


@pytest.mark.parametrize(
    "problem",
    [
        load_problem("asia"),
        naive_bayes(7),  # bands of several rows
        structured({f"{'long' * 30}{k}": ["Y"] for k in range(4)}),
    ],
)
@pytest.mark.parametrize("with_values", [False, True])
def test_boxes_do_not_overlap_and_stay_inside(problem, with_values):
    lattice = Lattice(problem)
    values = value_lattice(problem, lattice=lattice) if with_values else None
    svg = ET.fromstring(lattice_svg(lattice, values))
    boxes = [
        tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))
        for box in svg.iter(f"{SVG}rect")
        if box.get("class") == "box"
    ]
    width, height = float(svg.get("width")), float(svg.get("height"))
    for i, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for a, b, c, d in boxes[i + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y


def test_roots_and_core_are_marked():
    groups = ET.fromstring(lattice_svg(Lattice(load_problem("figure3")))).iter(f"{SVG}g")
    kinds = {group.find(f"{SVG}title").text: group.get("class").split() for group in groups}
    assert [name for name, kind in kinds.items() if "root" in kind] == ["X1, X3, X4", "X2, X3, X4"]
    assert [name for name, kind in kinds.items() if "core" in kind] == ["X1, X3, X4"]


def test_a_large_lattice_is_summed_up_by_level():
    v = Lattice(naive_bayes(9))
    assert len(v) > MAX_DRAWN
    svg = ET.fromstring(lattice_svg(v))
    bars = [rect for rect in svg.iter(f"{SVG}rect") if rect.get("class") == "bar"]
    assert len(bars) == 10
    assert "126 of 126 (100 %)" in "".join(svg.itertext())


def test_a_cut_lattice_does_not_pretend_to_be_whole():
    v = Lattice(load_problem("asia"), max_size=2)
    page = lattice_html(v)
    assert "14 irreducible sets of at most 2 features" in page
    assert "fewer" not in page
    assert "thick border" not in page
    whole = Lattice(load_problem("asia"), max_size=9)
    assert "36 irreducible sets among 64 (43.8 % fewer)" in lattice_html(whole)


@pytest.mark.slow
def test_counts_beyond_doubles_are_summed_up_too():
    # One chain of colliders: 501 sets, and C(1200, 250) of all.
    parents = {"C0": ["Y", "C1"]}
    parents |= {f"C{k}": [f"C{k - 1}", f"C{k + 1}"] for k in range(2, 500, 2)}
    parents |= {f"Z{k}": [] for k in range(700)}
    v = Lattice(structured(parents), engine="compiled")
    assert len(v) > MAX_DRAWN
    assert "10^" in lattice_svg(v)


def test_names_are_shown_as_text():
    problem = structured({"<script>": ["Y"], "a&b": ["Y"]})
    page = lattice_html(Lattice(problem))
    assert "<script>, a" not in page
    assert "&lt;script&gt;, a&amp;b" in page
    assert "<script>, a&b" in drawn_sets(lattice_svg(Lattice(problem)))


def test_the_page_needs_nothing_from_outside():
    page = lattice_html(Lattice(load_problem("figure3")))
    outside = page.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in outside
    assert "src=" not in outside


def test_graphml_is_the_lattice(tmp_path):
    v = Lattice(load_problem("figure3"))
    path = tmp_path / "v.graphml"
    path.write_text("".join(lattice_graphml(v)))
    graph = networkx.read_graphml(path)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (9, 12)
    labels = networkx.get_node_attributes(graph, "label")
    edges = {(labels[a], labels[b]) for a, b in graph.edges}
    assert ("X1, X3, X4", "X1, X3") in edges


def test_values_stand_in_the_boxes_and_the_best_set_is_marked():
    problem = load_problem("figure3")
    v = Lattice(problem)
    values = value_lattice(problem, lattice=v)
    for drawn in (lattice_svg(v, values), lattice_html(v, values)):
        svg = ET.fromstring(drawn[drawn.index("<svg") : drawn.index("</svg>") + 6])
        shown = {
            group.find(f"{SVG}title").text: [text.text for text in group.iter(f"{SVG}text")]
            for group in svg.iter(f"{SVG}g")
        }
        best = [g.find(f"{SVG}title").text for g in svg.iter(f"{SVG}g") if "best" in g.get("class")]
        assert best == ["X3, X4: EVI 13.90, cost 5.00, benefit 8.90"]
        assert shown[best[0]] == ["X3, X4", "13.90 − 5.00 = 8.90"]
        assert shown["∅: EVI 0.00, cost 0.00, benefit 0.00"] == ["∅", "0.00 − 0.00 = 0.00"]
    assert "Highest benefit: <b>X3, X4</b>" in lattice_html(v, values)


def test_the_legend_fits_the_drawing():
    problem = load_problem("figure3")
    v = Lattice(problem)
    svg = ET.fromstring(lattice_svg(v, value_lattice(problem, lattice=v)))
    width = float(svg.get("width"))
    legend = [text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "size"]
    assert "EVI − cost = benefit" in legend[-1].replace("\u00a0", " ")
    assert all(7.2 * len(line) <= width for line in legend)


def test_of_a_large_lattice_the_best_sets_of_each_level_are_drawn():
    problem = load_problem("heart")
    values = value_lattice(problem)
    v = values.lattice
    assert len(v) > MAX_DRAWN
    svg = ET.fromstring(lattice_svg(v, values))
    assert float(svg.get("height")) < 1200
    groups = list(svg.iter(f"{SVG}g"))
    assert len(groups) == sum(min(4, n) for n in v.level_sizes)
    best = [g.find(f"{SVG}title").text for g in groups if "best" in g.get("class").split()]
    assert [title.split(":")[0] for title in best] == ["age, cp, sex"]
    assert "and 124 more" not in "".join(svg.itertext())
    assert "and 123 more" in "".join(svg.itertext())
    assert "Highest benefit: " in lattice_html(v, values)


def test_people_read_labels_in_the_drawings_and_programs_names_in_graphml():
    lattice = Lattice(labelled())
    values = value_lattice(labelled())
    for drawn in (lattice_svg(lattice, values), lattice_html(lattice, values)):
        assert "Chest pain, Resting ECG" in drawn
        assert "EVI 60.00 CAD, cost 30.00 CAD, benefit 30.00 CAD" in drawn
        assert ">cp" not in drawn
    assert ">cp, ecg<" in "".join(lattice_graphml(lattice))


def test_sets_that_cannot_be_acquired_are_dashed_and_explained():
    lattice = Lattice(ward())
    picture = lattice_svg(lattice)
    n_barred = len(lattice) - int(lattice.feasible.sum())
    assert len(re.findall(r'<g class="node[^"]* barred"', picture)) == n_barred == 8
    assert "dashed:\N{NO-BREAK SPACE}cannot" in picture
    assert "<title>biopsy (cannot be acquired as it is)" in picture
    assert "8 of these sets can be acquired as they are." in lattice_html(lattice)
    known = {"consent": "given", "age": "young", "xray": "clear"}
    assert 'barred"' not in lattice_svg(Lattice(ward(), known))


def test_graphml_says_which_sets_can_be_acquired():
    written = "".join(lattice_graphml(Lattice(ward())))
    assert written.count('<data key="feasible">false</data>') == 8
    assert written.count('<data key="feasible">true</data>') == 8
    assert "feasible" not in "".join(lattice_graphml(Lattice(load_problem("figure3"))))


def test_a_large_lattice_counts_what_can_be_acquired(monkeypatch):
    monkeypatch.setattr("voilattice.drawing.lattice.MAX_DRAWN", 3)
    assert "8 of these sets can be acquired as they are" in lattice_svg(Lattice(ward()))


def test_only_sets_without_a_superset_have_a_thick_border():
    # The legend says so. Colours mark the other kinds.
    svg = lattice_svg(Lattice(load_problem("figure3")))
    assert "thick border: no irreducible superset" in svg.replace("\N{NO-BREAK SPACE}", " ")
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        is_thick = float(group.find(f"{SVG}rect").get("stroke-width")) > 2
        assert is_thick == ("root" in group.get("class").split())
