"""A request that does not fit its fields, in one line: the field, what it must be, what was found.

Pydantic reports an error for each type that a field may have, at a place that names the type too:
``evidence.age.int``. Here they become one: ``evidence.age: must be a string or true or false or a
number, got [46]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from voilattice.wording import count_noun, quote

__all__ = ["NOT_JSON", "UniqueKeysRoute", "describe_malformed"]

NOT_JSON = "the body is not valid JSON, sent with the content-type application/json"

Report = Mapping[str, Any]  # an error of pydantic

_TYPES = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "a number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}

# What a limit demands, from what pydantic says of it.
_LIMITS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than_equal": lambda limit: f"be at least {limit['ge']:g}",
    "less_than_equal": lambda limit: f"be at most {limit['le']:g}",
    "too_short": lambda limit: f"have at least {count_noun(limit['min_length'], 'item')}",
    "too_long": lambda limit: f"have at most {count_noun(limit['max_length'], 'item')}",
    "string_too_short": lambda limit: (
        f"have at least {count_noun(limit['min_length'], 'character')}"
    ),
    "string_too_long": lambda limit: f"have at most {count_noun(limit['max_length'], 'character')}",
}


class UniqueKeysRoute(APIRoute):
    """A route that refuses a body in which a key stands twice."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_UniqueKeysRequest(request.scope, request.receive))

        return handle


class _UniqueKeysRequest(Request):
    async def json(self) -> Any:
        return json.loads(await self.body(), object_pairs_hook=_unique_keys)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise HTTPException(
            422, f"the key {quote(twice)} stands twice in one object; send each key once"
        )
    return found


def describe_malformed(reports: Sequence[Report], body: object) -> str:
    """Return the first of pydantic's reports on a request as a line."""
    first = reports[0]
    # The place of such an error is a number of characters, not a field; bytes were not read at all.
    if first["type"] == "json_invalid" or isinstance(body, bytes):
        return NOT_JSON
    place = _place(first, body)
    if first["type"] == "missing":
        return f"{place}: this field is missing"
    if first["type"] == "extra_forbidden":
        return f"{place}: not a field of this request; /docs lists its fields"
    wanted = {_TYPES.get(report["type"]) for report in reports if _place(report, body) == place}
    if None not in wanted:
        either = [kind for kind in dict.fromkeys(_TYPES.values()) if kind in wanted]
        return f"{place}: must be {' or '.join(either)}, got {_quote(first['input'])}"
    if first["type"] == "value_error":  # our own checks say what was found
        return f"{place}: {first['msg'].removeprefix('Value error, ')}"
    if (limit := _LIMITS.get(first["type"])) is not None:
        must = f"must {limit(first['ctx'])}"
    else:
        must = first["msg"].replace("Input should", "must", 1)
    return f"{place}: {must}, got {_quote(first['input'])}"


def _quote(value: object) -> str:
    """Return what was found, in the words of JSON where Python has others."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else quote(value)


def _place(report: Report, body: object) -> str:
    """Return the place of an error, without the types that pydantic tried there."""
    source, *parts = report["loc"]
    if source != "body":
        return ".".join(map(str, parts))
    names, at = [], body
    for part in parts:
        inside = dict(enumerate(at)) if isinstance(at, list) else at
        if isinstance(inside, dict) and part in inside:
            at = inside[part]
            names.append(str(part))
    if report["type"] == "missing" and parts:  # it is not in the body, but it has a name
        names.append(str(parts[-1]))
    return ".".join(names) or "the body"
