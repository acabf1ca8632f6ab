"""The modules of the page: what Biome and tsc do not see."""

import json
import re
from pathlib import Path

import voilattice.web
from voilattice import load_problem
from voilattice.web.app import create_app

STATIC = Path(voilattice.web.__file__).parent / "static"
MODULES = sorted((STATIC / "js").glob("*.js"))
TYPES = STATIC / "js" / "types.d.ts"
SCRIPTS = [
    path
    for folder in ("web/js", "helpers")
    for path in Path(__file__).parents[1].joinpath(folder).glob("*.js")
]


def test_every_module_but_the_first_is_preloaded():
    preloaded = re.findall(
        r'rel="modulepreload" href="js/(.+?)"', (STATIC / "index.html").read_text()
    )
    assert sorted([*preloaded, "main.js"]) == [path.name for path in MODULES]


def test_every_module_is_checked_in_editors_too():
    for path in MODULES:
        assert path.read_text("utf-8").startswith("// @ts-check\n"), path.name


def test_no_line_is_longer_than_120_characters():
    # Biome does not break strings and comments.
    for path in [*MODULES, TYPES, *SCRIPTS]:
        assert max(map(len, path.read_text("utf-8").splitlines())) <= 120, path.name


def test_the_types_of_the_page_are_those_of_the_description():
    schemas = create_app({"asia": load_problem("asia")}).openapi()["components"]["schemas"]
    documents = TYPES.read_text("utf-8").partition("-- the documents of the server")[2]
    declared = re.findall(r"^export interface (\w+) \{\n(.*?)^\}", documents, re.M | re.S)
    assert len(declared) > 20
    for name, lines in declared:
        keys = dict(re.findall(r"^  (\w+\??): (.*);$", lines, re.M))
        assert len(keys) == lines.count("\n"), name
        properties, required = schemas[name]["properties"], schemas[name]["required"]
        described = {
            key if key in required else f"{key}?": type_of(schema)
            for key, schema in properties.items()
        }
        assert keys == {key: described.get(key) for key in keys}, name


def type_of(schema):
    """Return a JSON schema as TypeScript writes it."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(map(type_of, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if schema["type"] == "array":
        return f"{type_of(schema['items'])}[]"
    if schema["type"] == "object":
        return f"Record<string, {type_of(schema['additionalProperties'])}>"
    return "number" if schema["type"] == "integer" else schema["type"]
