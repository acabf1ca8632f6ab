"""Links of the documentation lead somewhere, and what checks the site notices one that does not."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_files_work_on_a_code_host_too(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    for link in (a or b for a, b in links):
        path = link.partition("#")[0]
        if path and "://" not in path and not path.startswith("mailto:"):
            assert (page.parent / path).exists(), link


@pytest.fixture
def broken_links():
    return runpy.run_path(str(ROOT / "tools" / "site_links.py"))["broken_links"]


def test_a_site_whose_links_all_lead_somewhere(tmp_path, broken_links):
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="#top">a</a><a href="b/c.html#there">b</a>'
        '<a href="https://example.org/x">c</a><img src="p%20q.png">'
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.html").write_text('<a id="there" href="../index.html">up</a>')
    (tmp_path / "p q.png").write_bytes(b"")
    assert broken_links(tmp_path) == []


def test_links_that_lead_nowhere_are_named(tmp_path, broken_links):
    (tmp_path / "index.html").write_text('<a href="no.html">a</a><a href="#no">b</a>')
    assert broken_links(tmp_path) == [
        "index.html: #no: no such place",
        "index.html: no.html: no such file",
    ]
