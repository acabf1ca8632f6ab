"""NET, the files of Hugin.

    net { }            (Hugin also writes class NAME { ... } around everything)
    node X { states = ("yes" "no"); }
    potential (X | P Q) { data = (( 0.9 0.1 ) ( 0.2 0.8 ) ...); }

In ``data`` the node itself varies fastest, then its last parent, and its first parent slowest. The
inner parentheses are optional; where they are written, there is one level for each parent, and the
innermost ones hold the distributions. Names of nodes are identifiers of C, states are any text in
quotes, and ``%`` begins a comment.

Continuous, decision, utility and function nodes are refused by name, and so are classes that use
each other (object oriented networks) and potentials whose numbers are missing or come from an
expression (``model_data``). Other attributes (labels, positions, ``HR_...``) are not read. An
attribute that is read must not be repeated.
"""

from __future__ import annotations

import re

from voilattice.errors import InputError
from voilattice.files.node_tables import (
    CountedTable,
    FileNode,
    build_network,
    read_numbers,
    refuse_names,
)
from voilattice.files.tokens import Item, Token, TokenReader, fail, lexicon
from voilattice.model.network import Network, Table
from voilattice.wording import nearest, quote

__all__ = ["parse_net", "to_net"]

LEXICON = lexicon("{}()=;|", ",", "%", long_quotes=True)

_READ = ("states", "data", "model_data")

_WORDS_OF_NET = "class continuous decision discrete function interval net node potential utility"
_NAME = re.compile(rf"(?!(?:{_WORDS_OF_NET.replace(' ', '|')})\b)[A-Za-z_][A-Za-z0-9_]*")
_NAME_RULE = "Hugin's names consist of letters, digits and _, and are no words of its language"

_REMEDIES = {
    "continuous": "discretize it in Hugin",
    "decision": "decisions and costs belong in the problem file; delete the node in Hugin",
    "utility": "decisions and costs belong in the problem file; delete the node in Hugin",
    "function": "delete the node in Hugin",
}

_CLASSES = (
    "classes that use each other (object oriented networks) are not supported; save the network "
    "without instances and inputs"
)


def parse_net(text: str) -> Network:
    """Return the network that a NET text describes."""
    return _Parser(text).network()


class _Parser(TokenReader):
    def __init__(self, text: str) -> None:
        super().__init__(text, LEXICON)
        self._states: dict[str, tuple[str, ...]] = {}
        self._nodes: dict[str, FileNode] = {}

    def network(self) -> Network:
        if self.next.text == "class":
            self._class()
        while self.next.kind != "end":
            self._statement(self.take())
        for name in self._states:
            if name not in self._nodes:
                raise InputError(f"node {quote(name)} has no potential")
        return build_network([self._nodes[name] for name in self._states])

    def _class(self) -> None:
        self.take()
        self.take_word("the class's name")
        self.expect("{")
        while not self.next.is_mark("}"):
            keyword = self.take()
            if not self.next.is_mark("="):
                self._statement(keyword)
                continue
            self.take()
            if _flatten(self.items_until(";")) and keyword.text == "inputs":
                fail(keyword, _CLASSES)
        self.take()

    def _statement(self, keyword: Token) -> None:
        if keyword.text == "discrete":
            keyword = self.take()
        if keyword.text == "net":
            self._attributes()
        elif keyword.text == "node":
            self._node()
        elif keyword.text == "potential":
            self._potential()
        elif keyword.text in ("class", "instance"):
            fail(keyword, _CLASSES)
        elif keyword.text in _REMEDIES:
            self._refuse(keyword)
        else:
            fail(keyword, f"expected net, node or potential, found {keyword}")

    def _refuse(self, kind: Token) -> None:
        if self.next.text == "node":
            self.take()
        name = self.take_word("a node's name")
        fail(
            kind,
            f"node {name} is of the kind {kind}; only discrete chance nodes can be read: "
            f"{_REMEDIES[kind.text]}",
        )

    def _node(self) -> None:
        name = self.take_word("a node's name")
        if name.text in self._states:
            fail(name, f"there are two nodes {name}; names must be unique")
        states = self._attributes().get("states")
        if states is None:
            fail(name, f"node {name} has no states")
        self._states[name.text] = tuple(token.text for token in _flatten(states))

    def _potential(self) -> None:
        self.expect("(")
        name = self.take_word("a node's name")
        if name.text not in self._states:
            fail(name, f"no node {name} is declared above{nearest(name.text, self._states)}")
        if name.text in self._nodes:
            fail(name, f"the potential of {name} is given twice")
        if self.next.kind == "word":
            fail(self.next, f"expected '|' or ')', found {self.next}: a potential has one node")
        if self.next.is_mark("|"):
            self.take()
        parents = tuple(word.text for word in self.words_until(")"))
        attributes = self._attributes()
        if "model_data" in attributes:
            fail(name, f"the potential of {name} is an expression (model_data), which is not "
                 f"read; specify its table in Hugin")  # fmt: skip
        if "data" not in attributes:
            fail(name, f"the potential of {name} has no data")
        numbers = read_numbers(_flatten(attributes["data"]))
        states = self._states[name.text]
        for parent in parents:
            if parent not in self._states:
                near = nearest(parent, self._states)
                fail(name, f"{name} has the parent {quote(parent)}, which is not declared{near}")
        sizes = [len(self._states[parent]) for parent in parents]
        _check_nesting(name, attributes["data"], [*sizes, len(states)])
        self._nodes[name.text] = FileNode(
            name.text, states, parents, CountedTable(numbers), name.line
        )

    def _attributes(self) -> dict[str, list[Item]]:
        self.expect("{")
        attributes: dict[str, list[Item]] = {}
        while not self.next.is_mark("}"):
            key = self.take_word("an attribute or '}'")
            self.expect("=")
            if key.text in _READ and key.text in attributes:
                fail(key, f"{key.text} is given twice")
            attributes[key.text] = self.items_until(";")
        self.take()
        return attributes


def _flatten(items: list[Item]) -> list[Token]:
    tokens: list[Token] = []
    for item in items:
        if isinstance(item, list):
            tokens += _flatten(item)
        else:
            tokens.append(item)
    return tokens


def _check_nesting(name: Token, data: list[Item], sizes: list[int]) -> None:
    """Refuse parentheses that contradict the order of the numbers."""
    numbers = data[0] if len(data) == 1 and isinstance(data[0], list) else data
    if all(isinstance(item, Token) for item in numbers):
        return
    shape, inner = [], data
    while len(inner) > 0 and isinstance(inner[0], list):
        inner = inner[0]
        shape.append(len(inner))
    found, expected = (" x ".join(map(str, counts)) for counts in (shape, sizes))
    if shape != sizes:
        fail(
            name,
            f"the parentheses in the data of {name} are those of a table {found}, but its parents "
            f"and the node have {expected} states",
        )
    if not _has_shape(data, [1, *sizes]):
        fail(
            name,
            f"the parentheses in the data of {name} are uneven: they must be those of a table "
            f"{expected}, or one pair around all numbers",
        )


def _has_shape(items: list[Item], sizes: list[int]) -> bool:
    if len(items) != sizes[0]:
        return False
    if len(sizes) == 1:
        return all(isinstance(item, Token) for item in items)
    return all(isinstance(item, list) and _has_shape(item, sizes[1:]) for item in items)


def to_net(network: Network) -> str:
    """Return the network as NET text."""
    refuse_names(".net", network.names, _NAME, _NAME_RULE)
    lines = ["net", "{", "}"]
    for name, states in zip(network.names, network.states, strict=True):
        labels = " ".join(map(_quoted, states))
        lines += [f"node {name}", "{", f"    states = ({labels});", "}"]
    for i, table in enumerate(network.tables):
        given = " ".join(network.names[p] for p in network.parents[i])
        lines.append(f"potential ({network.names[i]}{' | ' if given else ''}{given})")
        lines += ["{", f"    data = {_nested(table)};", "}"]
    return "\n".join(lines) + "\n"


def _quoted(label: str) -> str:
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _nested(table: Table) -> str:
    if table.ndim == 1:
        return f"( {' '.join(map(repr, table.tolist()))} )"
    return f"({' '.join(map(_nested, table))})"
