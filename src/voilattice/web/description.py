"""The OpenAPI document: what FastAPI finds out, with the media type of refusals and examples.

The examples are questions about built-in problems. The tests ask them.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from voilattice.web.questions import QUESTIONS
from voilattice.web.reference import resolve_schema
from voilattice.web.refusals import MEDIA_TYPE

__all__ = ["EXAMPLES", "describe_api"]

# The body of each request, or its parameters, by the end of its address.
EXAMPLES: dict[str, dict[str, Any]] = {
    "/problems/{name}": {"name": "heart"},
    "/problems/{name}/network.svg": {"name": "heart"},
    "/jobs/{name}": {"name": "0123456789abcdef0123456789abcdef"},
    **{question.path: question.example for question in QUESTIONS},
}


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        example = EXAMPLES.get(path.removeprefix("/api/v1"))
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
                else:
                    (content,) = response["content"].values()
                    answer = resolve_schema(content["schema"], schemas)
                    response["description"] = answer.get("description", operation["description"])
            if example is None:
                continue
            for parameter in operation.get("parameters", ()):
                parameter["example"] = example[parameter["name"]]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                content["example"] = example
    return document
