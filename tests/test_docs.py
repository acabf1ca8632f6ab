"""The README, the documentation and the examples say what the code does."""

import doctest
import pkgutil
import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest
from helpers.pages import agree, follow, with_time

from voilattice.cli import main

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
SLOW_EXAMPLES = {"estimator.py"}
FOLLOWED = sorted(
    path
    for folder in ("start", "tutorials", "how-to", "explanation")
    for path in (ROOT / "docs" / folder).glob("*.md")
)
SLOW_PAGES = {
    "2-from-a-csv.md",
    "3-large-network.md",
    "5-cluster.md",
    "ask-the-server-from-a-program.md",
    "measure-costs-on-new-cases.md",
    "serve-it-behind-a-proxy.md",
}


@pytest.mark.parametrize(
    "file",
    [
        "README.md",
        "docs/index.md",
        "docs/lattice.md",
        "docs/reference/api/index.md",
        "docs/problem-files.md",
        "docs/policies.md",
        "docs/learning.md",
        "docs/evaluation.md",
        "docs/optimal.md",
        "docs/estimator.md",
        "docs/baselines.md",
        "docs/what-if.md",
        "docs/richer-problems.md",
    ],
)
def test_the_python_in_the_documentation_runs_and_prints_what_it_says(file):
    failures, tried = doctest.testfile(str(ROOT / file), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failures == 0


def test_console_output_in_the_documentation_is_what_the_command_prints(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = "".join(path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/*.md")))
    blocks = re.findall(r"```console\n\$ voilattice (.*?)\n(.*?)```", text, re.S)
    assert len(blocks) >= 2
    printed = {}
    for command, shown in blocks:
        if command not in printed:
            main(with_time(command.split()))
            printed[command] = capsys.readouterr().out
        assert [line.rstrip() for line in printed[command].splitlines() if line.strip()] == [
            line.rstrip() for line in shown.splitlines() if line.strip()
        ]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            path,
            id=f"{path.parent.name}/{path.name}",
            marks=[pytest.mark.slow] * (path.name in SLOW_PAGES),
        )
        for path in FOLLOWED
    ],
)
@pytest.mark.filterwarnings("ignore")  # of clusters, servers and classifiers
def test_a_page_can_be_followed_from_an_empty_folder(page, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    if "$ curl" in text and not shutil.which("curl"):
        pytest.skip("curl is not here")
    for _, _, shown, printed in follow(text, tmp_path, seconds=2):
        if not agree(shown, printed):
            assert shown == printed


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.slow] * (path.name in SLOW_EXAMPLES))
        for path in EXAMPLES
    ],
)
def test_examples_run(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed
    if example.name == "estimator.py":
        page = (ROOT / "docs" / "estimator.md").read_text()
        assert f"```text\n{printed}```" in page
        for line in example.read_text().splitlines()[-3:]:
            assert line in page


def test_the_problem_file_in_the_documentation_loads(tmp_path):
    from voilattice import load_problem, write_network

    text = (ROOT / "docs" / "problem-files.md").read_text()
    blocks = re.findall(r"```toml\n(.*?)```", text, re.S)
    assert "network" in tomllib.loads(blocks[0])
    write_network(load_problem("asia").network, tmp_path / "asia.bif")
    (tmp_path / "p.toml").write_text(blocks[0])
    problem = load_problem(tmp_path / "p.toml")
    assert problem.features == ("smoke", "dysp", "xray", "bronc", "tub")
    assert [discount.name for discount in problem.costs.discounts] == ["laboratory"]


def test_the_rules_in_the_documentation_can_be_added_to_its_problem_file(tmp_path):
    from voilattice import load_problem, write_network

    text = (ROOT / "docs" / "problem-files.md").read_text()
    first, *others = re.findall(r"```toml\n(.*?)```", text, re.S)
    (rules,) = (block for block in others if "[[constraints]]" in block)
    write_network(load_problem("asia").network, tmp_path / "asia.bif")
    (tmp_path / "p.toml").write_text(first + rules)
    assert load_problem(tmp_path / "p.toml").describe_rules() == [
        "bronc can be acquired after xray, only if dysp = yes, not if tub = yes.",
        "Limits of each path: 60.00 to spend, 3 features and 2 rounds.",
        "Each round costs 4.00 more, however many features it brings.",
    ]


def test_the_network_by_hand_in_the_documentation_loads(tmp_path):
    from voilattice import load_problem

    text = (ROOT / "docs" / "problem-files.md").read_text()
    (block,) = (b for b in re.findall(r"```toml\n(.*?)```", text, re.S) if "network.nodes" in b)
    (tmp_path / "p.toml").write_text(block)
    problem = load_problem(tmp_path / "p.toml")
    assert problem.label("lights") == "Front lights"
    assert problem.state_label("fault", "none") == "no fault found"


def test_the_glossary_has_the_words_of_the_help_texts():
    from voilattice.engines import ENGINES
    from voilattice.learning.recipes import DISCRETIZATIONS, SCORES
    from voilattice.model.stakes import KINDS
    from voilattice.policy.solvers import policy_names

    text = (ROOT / "docs" / "glossary.md").read_text()
    terms = {
        term.strip(" `")
        for first in re.findall(r"^\| ([^|]+) \|", text, re.M)
        for term in first.split(",")
    }
    assert {"EMC", "EVI", "benefit", *policy_names(), *KINDS} <= terms
    for word in (*DISCRETIZATIONS, *SCORES, *ENGINES):
        assert re.search(rf"\b{word}\b", text), word


def test_a_term_has_one_entry_in_each_part_of_the_glossary():
    text = (ROOT / "docs" / "glossary.md").read_text()
    for part in text.split("\n## ")[1:]:
        entries = re.findall(r"^\| ([^|]+) \|", part, re.M)
        assert len(entries) == len(set(entries))


def test_modules_and_files_that_the_documentation_names_are_there():
    text = "".join(path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")))
    modules = set(re.findall(r"`(voilattice(?:\.[a-z_0-9]+)+)`", text))
    assert len(modules) > 10
    for name in modules:
        pkgutil.resolve_name(name)
    files = set(re.findall(r"`((?:tests|docs|examples|benchmarks)/[\w./-]+\.\w+)`", text))
    for name in files:
        assert (ROOT / name).exists(), name


@pytest.mark.slow
def test_the_figures_are_those_that_their_code_draws(tmp_path):
    make = runpy.run_path(str(ROOT / "docs" / "figures" / "make.py"))["make"]
    make(tmp_path)
    drawn = sorted(tmp_path.glob("*.svg"))
    assert len(drawn) == 8
    for path in drawn:
        assert path.read_text() == (ROOT / "docs" / "figures" / path.name).read_text(), path.name


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda p: p.name
)
def test_a_recipe_is_short_and_listed(page):
    lines = page.read_text().splitlines()
    index = (page.parent / "index.md").read_text()
    if page.name != "index.md":
        assert len(lines) <= 40
        assert f"[{lines[0][2:]}]({page.name})" in index
