"""The page that describes the API, made from its OpenAPI document.

It is plain HTML without a script, so it works offline and under the strictest content security
policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

__all__ = ["reference_page", "resolve_schema"]

_PREFIX = "#/components/schemas/"


def reference_page(document: Mapping[str, Any]) -> str:
    """Return the page for an OpenAPI document."""
    schemas = document["components"]["schemas"]
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    routes = "".join(_route(method, path, op, schemas) for method, path, op in operations)
    listed = "".join(
        f'<li><a href="#{_anchor(method, path)}"><b>{method.upper()}</b> '
        f"{escape(path)}</a> {escape(operation['summary'])}</li>"
        for method, path, operation in operations
    )
    models = "".join(_model(name, schema) for name, schema in sorted(schemas.items()))
    info = document["info"]
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(info["title"])}: the API</title>
<link rel="stylesheet" href="reference.css"></head><body>
<header><h1>{escape(info["title"])} {escape(info["version"])}: the API</h1>
<p>{escape(info["description"])} Programs read the same in <a href="openapi.json">openapi.json</a>.
<a href="./">To the page of the advisor.</a></p></header>
<main><nav aria-label="Routes"><ul>{listed}</ul></nav>
<h2>Routes</h2>{routes}<h2>Objects</h2>{models}</main></body></html>
"""


def _anchor(method: str, path: str) -> str:
    return escape(f"{method}-{path.strip('/').replace('/', '-')}".replace("{", "").replace("}", ""))


def _route(method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    parts = [
        f'<section id="{_anchor(method, path)}"><h3><b>{method.upper()}</b> '
        f"<code>{escape(path)}</code></h3><p>{escape(operation.get('description', ''))}</p>"
    ]
    for parameter in operation.get("parameters", ()):
        text = f"{escape(parameter['description'])} In the {escape(parameter['in'])}: "
        text += _type(parameter["schema"])
        example = f", such as <code>{escape(parameter.get('example', ''))}</code>"
        parts.append(f"<p><code>{escape(parameter['name'])}</code> {text}{example}</p>")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        parts.append(f"<p>Asked with {_type(schema)} (<code>{escape(kind)}</code>).</p>")
        parts.append(_fields(resolve_schema(schema, schemas)))
        if "example" in content:
            parts.append(_code(content["example"]))
    parts.append("<p>Answers:</p><ul>")
    for status, response in operation["responses"].items():
        kinds = response.get("content", {}).items()
        types = ", ".join(
            f"{_type(content.get('schema', {}))} (<code>{escape(kind)}</code>)"
            for kind, content in kinds
        )
        parts.append(f"<li><b>{status}</b> {escape(response['description'])} {types}</li>")
    return "".join(parts) + "</ul></section>"


def _model(name: str, schema: Mapping[str, Any]) -> str:
    text = escape(schema.get("description", ""))
    head = f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{text}</p>'
    return f"{head}{_fields(schema)}</section>"


def _fields(schema: Mapping[str, Any]) -> str:
    """Return a table of the fields of an object."""
    rows = []
    for name, field in schema.get("properties", {}).items():
        is_needed = name in schema.get("required", ())
        text = escape(field.get("description", ""))
        rows.append(
            f"<tr><td><code>{escape(name)}</code></td><td>{_type(field)}</td>"
            f"<td>{'needed' if is_needed else 'optional'}</td><td>{text}</td></tr>"
        )
    if not rows:
        return ""
    head = "<tr><th>field</th><th>type</th><th></th><th></th></tr>"
    return f"<div class='wide'><table>{head}{''.join(rows)}</table></div>"


def resolve_schema(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that another one refers to, or itself."""
    reference = schema.get("$ref", "")
    resolved: Mapping[str, Any] = schemas.get(reference.removeprefix(_PREFIX), schema)
    return resolved


def _type(schema: Mapping[str, Any]) -> str:
    """Return what values a schema allows, in words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_PREFIX))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join(f"<code>{escape(str(value))}</code>" for value in values)
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of ({_type(schema.get('items', {}))})"
    if kind == "object" and isinstance(inner := schema.get("additionalProperties"), Mapping):
        return f"table of ({_type(inner)})"
    return escape(kind + "".join(_bounds(schema)))


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    for key, sign in (("minimum", "≥"), ("maximum", "≤")):
        if key in schema:
            yield f" {sign} {schema[key]:g}"
    if "maxLength" in schema:
        yield f" of at most {schema['maxLength']} characters"


def _code(example: object) -> str:
    return f"<pre><code>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</code></pre>"
