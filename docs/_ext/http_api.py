"""The reference of the HTTP API, from its OpenAPI document.

The line ``<!-- http -->`` of a page becomes a section for each route and each object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from voilattice import load_problem
from voilattice.web.app import create_app

_MARK = "<!-- http -->"
PREFIX = "#/components/schemas/"


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _expand(app: Any, docname: str, source: list[str]) -> None:
    if _MARK in source[0]:
        source[0] = source[0].replace(_MARK, describe_routes())


def describe_routes() -> str:
    """Return sections of Markdown for the routes and the objects of the API."""
    document = create_app({"asia": load_problem("asia")}).openapi()
    lines = ["## Routes", "", "| request | does |", "| --- | --- |"]
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for request, operation in operations:
        lines.append(f"| [`{request}`](#{_anchor(operation)}) | {_first_line(operation)} |")
    for request, operation in operations:
        lines += _route(request, operation)
    lines += ["", "## Objects", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += describe_object(name, schema)
    return "\n".join(lines)


def describe_object(name: str, schema: Mapping[str, Any], page: str = "object") -> Iterator[str]:
    """Yield the lines of a section on an object; `page` makes its link one of that page."""
    yield from (f"({page}-{name.lower()})=", "", f"### {name}", "", schema.get("description", ""))
    yield from ("", *describe_fields(schema, page), "")


def _first_line(operation: Mapping[str, Any]) -> str:
    return str(operation.get("description") or operation["summary"]).split("\n")[0]


def _anchor(operation: Mapping[str, Any]) -> str:
    return f"http-{operation['operationId'].replace('_', '-')}"


def _route(request: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"({_anchor(operation)})=", "", f"### {request}", "")
    yield from (operation.get("description") or operation["summary"], "")
    for parameter in operation.get("parameters", ()):
        yield f"- `{parameter['name']}`, in the {parameter['in']}: {_type(parameter['schema'])}"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield from ("", f"Asked with {_type(content['schema'])} (`{kind}`).", "")
        if "example" in content:
            yield from ("```json", json.dumps(content["example"], indent=2), "```")
    yield ""
    for status, response in operation["responses"].items():
        types = ", ".join(
            _type(content["schema"])
            for content in response.get("content", {}).values()
            if content.get("schema")
        )
        yield f"- **{status}** {response['description'].rstrip('.')}" + (
            f": {types}" if types else ""
        )


def describe_fields(schema: Mapping[str, Any], page: str = "object") -> Iterator[str]:
    """Yield the lines of a table of the fields of an object."""
    if not schema.get("properties"):
        return
    yield from ("| field | type | | |", "| --- | --- | --- | --- |")
    for name, field in schema["properties"].items():
        needed = "" if name in schema.get("required", ()) else "optional"
        yield f"| `{name}` | {_type(field, page)} | {needed} | {field.get('description', '')} |"


def _type(schema: Mapping[str, Any], page: str = "object") -> str:
    """Return what values a schema allows, in words."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PREFIX)
        return f"[{name}](#{page}-{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one, page) for one in schema["anyOf"]))
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join(f"`{value}`" for value in values)
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), page)}"
    if kind == "object" and isinstance(inner := schema.get("additionalProperties"), Mapping):
        return f"table of {_type(inner, page)}"
    return kind
