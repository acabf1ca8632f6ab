"""The OpenAPI document: what FastAPI finds out, with the media type of refusals and examples.

The examples are questions about built-in problems. The tests ask them.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from voilattice.web.reference import resolve_schema
from voilattice.web.refusals import MEDIA_TYPE

__all__ = ["EXAMPLES", "describe_api"]

_CASE = {"problem": "heart", "evidence": {"age": 46, "sex": "male"}}
_WHAT_IF = {"stakes": {"scale": 2}, "prices": {"thal": 50}}

# The body of each request, or its parameters, by the end of its address.
EXAMPLES: dict[str, dict[str, Any]] = {
    "/problems/{name}": {"name": "heart"},
    "/problems/{name}/network.svg": {"name": "heart"},
    "/jobs/{name}": {"name": "0123456789abcdef0123456789abcdef"},
    "/posterior": _CASE | {"given": {"cp": "typical"}},
    "/advise": _CASE | _WHAT_IF | {"policy": "optimal", "unavailable": ["ca"]},
    "/advise/batch": {
        "problem": "heart",
        "policy": "greedy-la",
        "cases": [{"evidence": {"age": 46}}, {"evidence": {"age": 61}, "unavailable": ["thal"]}],
    },
    "/first-steps": _CASE | {"features": ["cp", "thal"]},
    "/apply": {
        "problem": "asia",
        "policy": "greedy-la",
        "rows": [
            {"tub": "yes", "xray": "yes", "lung": "yes"},
            {"tub": "no", "xray": "no", "lung": "no"},
        ],
    },
    "/value": {"problem": "asia", "evidence": {"smoke": "yes"}, "features": ["xray", "dysp"]},
    "/explain": {"problem": "asia", "features": ["tub", "xray"]},
    "/best": {"problem": "asia", "misclassification": {"no": {"yes": 500}}},
    "/lattice": {"problem": "asia", "containing": ["xray"], "top": 3},
    "/jobs/advise": {"problem": "asia", "policy": "optimal"},
    "/policy": {"problem": "asia", "policy": "optimal"},
    "/compare": {"problem": "asia", "points": [0, 50, 100]},
    "/threshold": {"problem": "asia", "feature": "xray"},
    "/report": {"problem": "asia", "policy": "optimal"},
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
