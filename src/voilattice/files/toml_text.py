"""Pieces of TOML that are written for people to read: values, and the nodes of a network."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from voilattice.model.network import Network

__all__ = ["format_nodes", "toml_key", "toml_list", "toml_number", "toml_table", "toml_text"]


def format_nodes(network: Network) -> str:
    """Return a network as the tables ``[[network.nodes]]`` of a problem file."""
    lines = []
    for node, name in enumerate(network.names):
        parents = [network.names[parent] for parent in network.parents[node]]
        rows = network.tables[node].reshape(-1, len(network.states[node])).tolist()
        lines += [
            "[[network.nodes]]",
            f"name = {toml_text(name)}",
            f"states = [{', '.join(map(toml_text, network.states[node]))}]",
            *([f"parents = [{', '.join(map(toml_text, parents))}]"] if parents else []),
            *_format_rows(rows, [network.states[p] for p in network.parents[node]], parents),
            "",
        ]
    return "\n".join(lines)


def _format_rows(
    rows: list[list[float]], states: list[tuple[str, ...]], parents: list[str]
) -> Iterator[str]:
    """Yield the lines of a table; a comment behind each row says which states it is for."""
    if not parents:
        yield f"table = {rows}"
        return
    yield "table = ["
    for row, given in zip(rows, itertools.product(*states), strict=True):
        when = ", ".join(f"{p} = {state}" for p, state in zip(parents, given, strict=True))
        yield f"    {row},  # {when}"
    yield "]"


def toml_text(text: str) -> str:
    """Return printable text as a string of TOML."""
    return json.dumps(text, ensure_ascii=False)


def toml_key(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else toml_text(name)


def toml_number(amount: float) -> str:
    """Return an amount, a whole one without decimals."""
    return str(int(amount)) if amount.is_integer() and amount < 1e15 else repr(amount)


def toml_list(names: Iterable[str]) -> str:
    """Return names as a list of TOML in one line."""
    return f"[{', '.join(map(toml_text, names))}]"


def toml_table(values: Mapping[str, str]) -> str:
    """Return a table of TOML in one line; the values are TOML already."""
    return f"{{ {', '.join(f'{toml_key(name)} = {value}' for name, value in values.items())} }}"
