"""Nodes as network files write them, and the network that they make.

A file names the parents of a node, and gives its table as a flat list of numbers (`CountedTable`):
the first parent varies slowest, the last parent faster, and the node itself fastest. XDSL, DSL,
NET, XMLBIF and UAI all have this order, so one function builds their networks and checks them. A
node of GeNIe can also have a rule in place of a table (`files.gates`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from voilattice.errors import InputError, TooLargeError, within
from voilattice.files.tokens import Token, fail
from voilattice.model.network import (
    MAX_TABLE_CELLS,
    Network,
    Table,
    check_n_parents,
    check_names,
    check_table,
)
from voilattice.wording import count_noun, nearest, quote, round_count

__all__ = [
    "CountedTable",
    "FileNode",
    "TableRule",
    "build_network",
    "check_table_size",
    "format_numbers",
    "read_number",
    "read_numbers",
    "refuse_names",
]


class TableRule(Protocol):
    """What a file says about the table of a node."""

    def table(self, node: FileNode, parents: Mapping[str, Sequence[str]]) -> Table:
        """Return P(node | parents), one axis for each parent and the node last."""


@dataclass(frozen=True, slots=True)
class FileNode:
    """A node as the file has it; `line` is where its table begins."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    rule: TableRule
    line: int


@dataclass(frozen=True, slots=True)
class CountedTable:
    """All probabilities of a table: the last parent varies faster, the node itself fastest."""

    numbers: Sequence[float]

    def table(self, node: FileNode, parents: Mapping[str, Sequence[str]]) -> Table:
        shape = (*map(len, parents.values()), len(node.states))
        if len(self.numbers) != math.prod(shape):
            sizes = "".join(f" x {len(states)} of {p!r}" for p, states in parents.items())
            raise InputError(
                f"the table of {node.name!r} needs {count_noun(math.prod(shape), 'number')} "
                f"({count_noun(len(node.states), 'state')}{sizes}), got {len(self.numbers)}"
            )
        return np.reshape(np.asarray(self.numbers, dtype=np.float64), shape)


def build_network(nodes: Iterable[FileNode]) -> Network:
    """Return the network of some nodes, in any order, or say what is wrong with them."""
    by_name: dict[str, FileNode] = {}
    for node in nodes:
        with within(f"line {node.line}"):
            if node.name in by_name:
                raise InputError(f"there are two nodes {node.name!r}; names must be unique")
            check_names(f"the states of {node.name!r}", node.states)
        by_name[node.name] = node
    check_names("the nodes", tuple(by_name))
    tables = {}
    for node in by_name.values():
        with within(f"line {node.line}"):
            for parent in node.parents:
                if parent not in by_name:
                    raise InputError(
                        f"{node.name!r} has the parent {quote(parent)}, which is not a node of "
                        f"this file{nearest(parent, by_name)}"
                    )
            sizes = [len(by_name[parent].states) for parent in node.parents]
            check_table_size(node.name, (*sizes, len(node.states)))
            for parent in node.parents:
                if node.parents.count(parent) > 1:
                    raise InputError(f"{node.name!r} has the parent {parent!r} twice")
            parents = {parent: by_name[parent].states for parent in node.parents}
            table = node.rule.table(node, parents)
            tables[node.name] = check_table(node.name, node.states, parents, table)
    return Network.from_tables(
        {node.name: node.states for node in by_name.values()},
        {node.name: node.parents for node in by_name.values()},
        tables,
    )


def check_table_size(name: str, shape: Sequence[int]) -> None:
    """Raise `TooLargeError` for a table that could not be held, before it is made."""
    check_n_parents(name, len(shape) - 1)  # first: a product of many sizes takes long
    if (n_cells := math.prod(shape)) > MAX_TABLE_CELLS:
        raise TooLargeError(
            f"{name!r} with {len(shape) - 1} parents would have a table of "
            f"{round_count(n_cells)} cells; at most {MAX_TABLE_CELLS} cells are supported"
        )


def read_number(word: str, what: str = "a probability") -> float:
    """Return the number that a word of a file is."""
    try:
        if "_" in word:  # Python would take 1_000 for a number
            raise ValueError
        return float(word)
    except ValueError:
        raise InputError(f"expected {what}, found {quote(word)}") from None


def read_numbers(tokens: Iterable[Token], what: str = "a probability") -> list[float]:
    """Return the numbers that some tokens are."""
    numbers = []
    for token in tokens:
        try:
            numbers.append(read_number(token.text, what))
        except InputError as error:
            fail(token, error.message)
    return numbers


def format_numbers(table: Table) -> str:
    """Return the numbers of a table in the order of `CountedTable`, to the last bit."""
    return " ".join(map(repr, table.ravel().tolist()))


def refuse_names(extension: str, names: Iterable[str], allowed: re.Pattern[str], rule: str) -> None:
    """Raise `InputError` if the format cannot hold a name; `rule` says what it can hold."""
    for name in names:
        if not allowed.fullmatch(name):
            raise InputError(f"{extension} cannot hold the name {name!r}: {rule}; write .bif")
