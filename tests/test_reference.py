"""The reference has every public name, every JSON key and every command."""

import inspect
import json
import pkgutil
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click
import pytest

import voilattice
from voilattice.cli import main
from voilattice.cli.group import COMMANDS, cli
from voilattice.documents.printed import PRINTED

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
sys.path.append(str(ROOT / "docs" / "_ext"))

# Modules without a room of their own whose names are public all the same.
PUBLIC_MODULES = ("voilattice.testing",)


def documented_names():
    fence = re.compile(r"^```\{api\} (\S+)\n(.*?)^```$", re.M | re.S)
    for page in sorted(REFERENCE.glob("api/*.md")):
        for module, names in fence.findall(page.read_text()):
            yield from ((module, name) for name in names.split())


def public_names():
    """Yield the names at the top, and those of every room."""
    yield from (("voilattice", name) for name in voilattice.__all__)
    for found in pkgutil.iter_modules(voilattice.__path__, "voilattice."):
        if found.ispkg:
            room = pkgutil.resolve_name(found.name)
            yield from ((found.name, name) for name in getattr(room, "__all__", ()))
    for module in PUBLIC_MODULES:
        yield from ((module, name) for name in pkgutil.resolve_name(module).__all__)


def test_the_reference_has_every_public_name():
    documented = {id(pkgutil.resolve_name(f"{m}:{name}")) for m, name in documented_names()}
    # The entry of the command line is documented by its commands, and an alias by its type.
    others = {("voilattice.cli", "main"), ("voilattice.documents", "Json")}
    missing = [
        f"{module}.{name}"
        for module, name in public_names()
        if (module, name) not in others
        and id(pkgutil.resolve_name(f"{module}:{name}")) not in documented
    ]
    assert missing == []


def test_a_name_is_documented_once_and_has_a_docstring():
    names = list(documented_names())
    assert len(set(names)) == len(names) > 150
    for module, name in names:
        found = pkgutil.resolve_name(f"{module}:{name}")
        if inspect.isclass(found) or inspect.isfunction(found):
            assert inspect.getdoc(found), f"{module}.{name}"


def names_used_in_docs():
    """Yield the names that the pages, the README and the examples import."""
    imported = re.compile(r"^(?:>>> )?from (voilattice[\w.]*) import (.+)$", re.M)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    for page in pages:
        for module, names in imported.findall(page.read_text()):
            yield from ((module, name.strip()) for name in names.split(","))


def test_the_reference_has_every_name_that_the_docs_use():
    documented = {id(pkgutil.resolve_name(f"{m}:{name}")) for m, name in documented_names()}
    used = set(names_used_in_docs())
    assert len(used) > 10
    missing = [
        f"{module}.{name}"
        for module, name in sorted(used)
        if id(pkgutil.resolve_name(f"{module}:{name}")) not in documented
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["Group", "Discount", "ConditionalCost", "Constraint"])
def test_what_problem_files_are_made_of_describes_each_field(name):
    found = getattr(voilattice, name)
    text = inspect.getdoc(found)
    for field in inspect.signature(found).parameters:
        assert re.search(rf"^{field}$", text, re.M), field
    assert ">>>" in text


def test_the_page_on_installation_has_every_extra():
    from voilattice.extras import EXTRAS

    text = (REFERENCE / "install.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", text, re.M) == sorted(EXTRAS)


@pytest.fixture
def printed(capsys):
    """Run a command and return what it prints; no key is there that its declaration lacks."""
    pydantic = pytest.importorskip("pydantic")

    def run(command, section=None):
        main([*command.split(), "--json"])
        text = capsys.readouterr().out
        declared = pydantic.TypeAdapter(PRINTED[section or command.split()[0]])
        declared.validate_json(text, strict=True)
        return json.loads(text)

    return run


def keys_of(declared):
    """Return the keys of what a command prints: of the objects, if it is a list."""
    return {field.name for field in fields((*get_args(declared), declared)[0])}


@pytest.mark.parametrize(
    "commands",
    [
        ["problems"],
        ["show car --tables"],
        ["value figure1 --features X1"],
        ["best figure1"],
        ["lattice car --max-size 1", "lattice figure3 --values"],
        ["explain figure3 --features X2,X4"],
        [
            "advise figure3 --policy optimal --why X3",
            "advise car --policy greedy --why jump",
            "advise heart --policy greedy --evidence chol=200",
        ],
        ["policy figure1 --policy optimal"],
        ["compare figure1"],
        ["threshold figure1 --feature X1"],
    ],
    ids=lambda commands: commands[0].split()[0],
)
def test_a_command_prints_the_keys_that_are_declared(commands, printed):
    documents = [printed(command) for command in commands]
    objects = [d[0] if isinstance(d, list) else d for d in documents]
    assert set().union(*objects) == keys_of(PRINTED[commands[0].split()[0]])


def test_a_command_that_writes_files_prints_the_keys_that_are_declared(printed, tmp_path):
    report = printed(f"report figure1 --out {tmp_path / 'report.html'}")
    assert keys_of(PRINTED["report"]) == set(report) == {"file", *keys_of(PRINTED["policy"])}
    changes = printed("threshold figure1 --feature X1 --first-step", "threshold --first-step")
    assert set(changes) == {"price", "stakes"}


def test_a_command_for_tables_prints_the_keys_that_are_declared(tmp_path, printed):
    table = "ill,test\n" + "no,a\nyes,b\n" * 20
    (tmp_path / "cases.csv").write_text(table)
    (tmp_path / "costs.toml").write_text(
        '[costs]\ntest = 1\n[misclassification]\nkind = "symmetric"\nexpected = 20\n'
    )
    data, costs = tmp_path / "cases.csv", tmp_path / "costs.toml"
    learned = printed(f"learn {data} --target ill --costs {costs} --recipe naive -o {tmp_path}/out")
    assert keys_of(PRINTED["learn"]) == set(learned)
    applied = printed(f"apply {tmp_path}/out {data} --policy greedy")
    assert keys_of(PRINTED["apply"]) == set(applied)
    printed(
        f"evaluate {data} --target ill --costs {costs} --recipes naive --policies none "
        f"--folds 2 --no-rivals --jobs 1"
    )


def test_every_command_that_prints_json_has_a_declaration():
    context = click.Context(cli)
    for name in COMMANDS:
        options = {o for p in cli.get_command(context, name).params for o in p.opts}
        assert ("--json" in options) == (name in PRINTED), name


def test_the_page_on_json_has_every_command_and_every_key():
    from json_documents import describe_documents

    text = describe_documents()
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(sections) == [*PRINTED, "Objects"]
    for name, declared in PRINTED.items():
        assert set(re.findall(r"^\| `(\w+)` \|", sections[name], re.M)) == keys_of(declared)
    assert "### BillItem\n" in sections["Objects"]
    assert "| |\n" not in text.replace("| | |\n", "")  # every key is described
    for name in re.findall(r"\(#(json-object-\w+)\)", text):
        assert f"({name})=\n" in text


def help_texts():
    context = click.Context(cli, info_name="voilattice")
    yield "voilattice", cli.get_help(context)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        yield name, command.get_help(click.Context(command, info_name=name, parent=context))


@pytest.mark.parametrize(("name", "text"), list(help_texts()))
def test_help_spells_out_what_it_abbreviates(name, text):
    text = " ".join(text.split())
    spelled_out = {
        "EMC": "expected misclassification cost",
        "EVI": "expected value of information",
        "Equation 7": "set of highest benefit",
        "mdl": "minimum description length",
    }
    for short, words in spelled_out.items():
        if re.search(rf"\b{short}\b", text):
            assert words in text, short


def test_every_option_says_what_it_does():
    context = click.Context(cli)
    for name in COMMANDS:
        for option in cli.get_command(context, name).params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.opts[0]}"


def test_the_page_on_commands_has_every_command():
    text = (REFERENCE / "commands.md").read_text()
    for name in COMMANDS:
        assert f"[{name}](#{name})" in text


def test_the_page_on_http_has_every_route():
    from http_api import describe_routes

    from voilattice.web.app import create_app

    text = describe_routes()
    for path, methods in create_app({}).openapi()["paths"].items():
        for method in methods:
            assert f"### {method.upper()} {path}\n" in text
    assert text.count("\n### ") > 40
