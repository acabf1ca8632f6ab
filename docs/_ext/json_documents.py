"""The reference of the JSON documents, from their declarations.

The line ``<!-- json -->`` of a page becomes a section for each command and each object.
"""

from __future__ import annotations

from typing import Any, get_args

from http_api import PREFIX, describe_fields, describe_object
from pydantic import TypeAdapter

from voilattice.documents.printed import PRINTED

_MARK = "<!-- json -->"
_PAGE = "json-object"


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _expand(app: Any, docname: str, source: list[str]) -> None:
    if _MARK in source[0]:
        source[0] = source[0].replace(_MARK, describe_documents())


def describe_documents() -> str:
    """Return sections of Markdown for what the commands print, and for the objects inside."""
    # A list has sections for its objects.
    declared = {command: (*get_args(printed), printed)[0] for command, printed in PRINTED.items()}
    adapters = [(command, "validation", TypeAdapter(one)) for command, one in declared.items()]
    _, found = TypeAdapter.json_schemas(adapters, ref_template=f"{PREFIX}{{model}}")
    objects, lines = dict(found["$defs"]), list[str]()
    for command, one in declared.items():
        schema = objects.pop(one.__name__)
        text = schema["description"]
        if get_args(PRINTED[command]):
            text += " The command prints a list of these objects."
        name = f"`{one.__module__}.{one.__name__}`"
        lines += [f"## {command}", "", f"{text} In Python: {name}.", ""]
        lines += [*describe_fields(schema, _PAGE), ""]
    lines += ["## Objects", ""]
    for name, schema in sorted(objects.items()):
        lines += describe_object(name, schema, _PAGE)
    return "\n".join(lines)
