"""How a result is declared: as a class whose fields are the keys of its JSON object.

    class NextStep(Document):
        '''What the optimum does after a result.'''

        features: list[str] = key("What it acquires; empty: it decides.", "then")
        decision: str | None = key("What it decides; null: it acquires.")

All else is derived from this: the object that commands print and the server sends (`json_of`), the
schemas of the OpenAPI document (pydantic reads dataclasses, and what the metadata of their fields
describes), and the page of the reference. Nothing here needs pydantic.

The order of the fields is that of the keys. As in every dataclass, the keys of the bases come
first, those of the last base before all others.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import (
    Any,
    ClassVar,
    NamedTuple,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

__all__ = ["Document", "Json", "key"]

Json = dict[str, Any]
Source = Callable[[Any], Any]


def key(
    description: str, source: str | Source | None = None, *, optional: bool = False, **schema: Any
) -> Any:
    """Declare a key.

    Parameters
    ----------
    description
        What the value is, in a sentence.
    source
        Where the value is in the result: an attribute, such as ``"certificate.exact"``, or a
        function of the result. By default it is the attribute of the key's own name.
    optional
        Whether the key is left out where its value is None, or the result has no such attribute.
    schema
        What pydantic should know besides, as `pydantic.Field` takes it.
    """
    metadata = {"description": description, "source": source, **schema}
    return field(default=None, metadata=metadata) if optional else field(metadata=metadata)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(key,))
class Document:
    """A JSON object that has these keys and no others."""

    __pydantic_config__: ClassVar[Json] = {"extra": "forbid"}

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def json_of(cls, result: Any, /, **given: Any) -> Json:
        """Return the JSON object of a result.

        Parameters
        ----------
        result
            What the sources of the keys are asked of.
        given
            The values of keys that the result does not know.
        """
        document: Json = {}
        for entry in _entries(cls):  # type: ignore[arg-type]
            value = given.pop(entry.name) if entry.name in given else entry.read(result)
            if value is not None or not entry.is_optional:
                document[entry.name] = entry.convert(value)
        if given:
            raise TypeError(f"{cls.__name__} has no key {', '.join(given)}")
        return document


class _Entry(NamedTuple):
    name: str
    read: Source
    convert: Source
    is_optional: bool


@cache
def _entries(document: type[Document]) -> tuple[_Entry, ...]:
    kinds, entries = get_type_hints(document), list[_Entry]()
    for declared in fields(document):  # type: ignore[arg-type]
        convert, is_optional = _converter(kinds[declared.name]), declared.default is None
        read = _reader(declared.metadata["source"] or declared.name, is_optional)
        entries.append(_Entry(declared.name, read, convert, is_optional))
    return tuple(entries)


def _reader(source: str | Source, is_optional: bool) -> Source:
    if not isinstance(source, str):
        return source
    return (lambda result: getattr(result, source, None)) if is_optional else attrgetter(source)


def _converter(kind: Any) -> Source:
    """Return what turns a value of a result into JSON of a type; a set of features is sorted."""
    if isinstance(kind, type) and issubclass(kind, Document):
        return lambda value: value if isinstance(value, dict) else kind.json_of(value)
    match get_origin(kind), get_args(kind):
        case _, (inner, none) if none is NoneType:
            convert = _converter(inner)
            return lambda value: None if value is None else convert(value)
        case origin, (inner,) if origin is list:
            convert = _converter(inner)
            return lambda value: [
                convert(part) for part in (sorted(value) if isinstance(value, Set) else value)
            ]
        case origin, (_, inner) if origin is dict:
            convert = _converter(inner)
            return lambda value: {name: convert(part) for name, part in dict(value).items()}
    return lambda value: value
