"""The page's types of what the server answers are those of the server's description."""

import json
import re
from pathlib import Path

import voilattice.web
from voilattice import load_problem
from voilattice.web.app import create_app

TYPES = Path(voilattice.web.__file__).parent / "static" / "js" / "types.d.ts"


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
