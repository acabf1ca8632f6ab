"""Pages without any outside part."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import voilattice
from voilattice import Lattice, build_policy, load_problem
from voilattice.drawing.lattice import lattice_html
from voilattice.drawing.pages import TRACE, page, render
from voilattice.drawing.policy import policy_html


def test_a_page_has_its_title_its_style_and_its_body():
    made = page("a & b", "p { color: red; }", "<p>text</p>")
    assert made.startswith("<!doctype html>")
    assert "<title>a &amp; b</title>" in made
    assert "<h1>a &amp; b</h1><p>text</p>" in made
    assert "p { color: red; }" in made[made.index("<style>") : made.index("</style>")]
    assert made.rstrip().endswith("</body></html>")


def test_a_template_escapes_its_values_and_needs_all_of_them():
    template, title = "drawing/page.html.j2", "<script>\"'&"
    made = render(template, title=title, style="", body="")
    assert made.count("&lt;script&gt;&#34;&#39;&amp;") == 2
    assert "<script>" not in made
    with pytest.raises(UndefinedError, match="'body' is undefined"):
        render(template, title=title, style="")


def test_only_drawings_and_tables_are_not_escaped():
    templates = sorted(Path(voilattice.__file__).parent.rglob("*.j2"))
    assert len(templates) == 5
    safe = {name for file in templates for name in re.findall(r"(\S+)\|safe", file.read_text())}
    tables = {"rows)", "n_text=n_text)"}  # html_table escapes
    drawings = {"tree", "network", "flow.svg", "ranks", "costs", "svg"}
    assert safe == {"style", "body"} | tables | drawings


def test_no_page_asks_for_anything_from_outside():
    figure3 = load_problem("figure3")
    drawn = lattice_html(Lattice(figure3))
    for made in (page("t", "", ""), drawn, policy_html(build_policy(figure3, "batch"))):
        assert not re.search(r"<link|@import|url\(|src=|href=", made)


def test_the_script_finds_the_classes_and_the_data_of_the_drawing():
    drawn = lattice_html(Lattice(load_problem("figure3")))
    assert TRACE in drawn
    svg = drawn[drawn.index("<svg") : drawn.index("</svg>")]
    for name in re.findall(r"querySelectorAll\('([^']*)'\)", TRACE):
        if name != ".lit":  # the script gives that class itself
            kind = name.split(".")[1]
            assert re.search(rf'class="(?:[^"]* )?{kind}[ "]', svg)
    for data in ("data-node", "data-from", "data-to"):
        assert f'{data}="' in svg
