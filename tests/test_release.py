"""What a release is made of says the same everywhere."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from voilattice import __version__
from voilattice.cli.group import COMMANDS

ROOT = Path(__file__).parent.parent


def read(name):
    return (ROOT / name).read_text("utf-8")


def test_the_citation_names_this_version():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert str(citation["version"]) == __version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    (paper,) = citation["references"]
    cited = read("docs/how-to/cite.md")
    assert " ".join(paper["title"].split()) in " ".join(cited.replace("> ", "").split())
    assert f"{paper['volume']}, {paper['start']}–{paper['end']}, {paper['year']}" in cited


def test_the_readme_shows_how_to_try_it_and_how_to_test_it():
    install = read("README.md").partition("## Install")[2].partition("\n## ")[0]
    assert re.findall(r"^make \w+", install, re.M) == ["make demo", "make test"]
    assert "make test" in read(".ci/run").splitlines()


def test_the_changelog_begins_with_what_is_to_come_or_with_this_version():
    first, *others = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.M)
    release = first if first != "Unreleased" else others[0]
    date = yaml.safe_load(read("CITATION.cff"))["date-released"]
    assert release == f"{__version__} - {date}"


def test_the_hooks_are_those_of_make_lint():
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local"
    hooks = [hook["entry"] for hook in local["hooks"]]
    recipe = re.search(r"^lint:.*\n((?:\t.+\n)+)", read("Makefile"), re.M)[1]
    assert hooks == [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda p: p.name)
def test_the_forms_are_valid(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    if path.name != "config.yml":
        assert {"name", "description", "body"} <= form.keys()
        assert len({part["id"] for part in form["body"]}) == len(form["body"])


def test_pins_are_complete_and_agree():
    seen = {}
    for path in sorted(ROOT.glob("requirements*.txt")):
        for line in path.read_text("utf-8").splitlines():
            if not line.startswith("#"):
                name, version = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?==([\w.]+)", line).groups()
                name = re.sub(r"[-_.]+", "-", name).lower()
                assert seen.setdefault(name, version) == version, (path.name, name)


def test_the_classifiers_begin_with_the_oldest_python():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    found = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert f">={found[0]}" == project["requires-python"]


def test_the_manual_page_has_every_command_and_option(tmp_path):
    place = importlib.util.spec_from_file_location("man", ROOT / "tools" / "man.py")
    man = importlib.util.module_from_spec(place)
    place.loader.exec_module(man)
    man.main(str(tmp_path))
    text = (tmp_path / "voilattice.1").read_text("ascii")
    for name, (_, line) in COMMANDS.items():
        assert f"\n.SS voilattice {name} " in text
        assert man.escape(line) in text
    assert r"\fB\-\-time\-limit SECONDS\fR" in text
    assert man.escape(".x-\\\n…") == r"\&.x\-\e \[u2026]"
