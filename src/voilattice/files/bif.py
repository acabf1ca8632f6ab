"""The Bayesian network Interchange Format (BIF), read and written without loss.

    variable SMOKE { type discrete [ 2 ] { yes, no }; }
    probability ( LUNG | SMOKE ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }

The reader accepts what other tools write (quoted names, optional commas, ``table``, ``default``,
``property``, comments) and more: a label without white space and without ``{}()[],;|"`` needs no
quotes, so public networks keep states such as ``<5``, ``12+`` and ``Asy/Patch``. Numbers are read
and written as doubles, to the last bit. In a ``table`` the node varies slowest and its last parent
fastest, as the format specifies. The writer writes one line per row instead, which is unambiguous.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from voilattice.errors import InputError, within
from voilattice.files.node_tables import check_table_size, read_numbers
from voilattice.files.tokens import TokenReader, fail, lexicon
from voilattice.model.network import (
    Network,
    Table,
    check_names,
    check_table,
)
from voilattice.wording import count_noun, nearest

__all__ = ["parse_bif", "to_bif"]

LEXICON = lexicon("{}()[];", ",|", "//", long_quotes=False)
PLAIN_WORD = re.compile(r"""(?!//|/\*)[^\s{}()\[\],;|"\\]+""")


def parse_bif(text: str) -> Network:
    """Return the network that a BIF text describes.

    >>> parse_bif("network n {} variable A { type discrete [2] { <5, 12+ }; }"
    ...           "probability ( A ) { table 0.5, 0.5; }").states
    (('<5', '12+'),)
    """
    return _Parser(text).network()


def to_bif(network: Network) -> str:
    """Return the network as BIF text; `parse_bif` gives back an equal network."""
    lines = ["network voilattice {", "}"]
    for name, states in zip(network.names, network.states, strict=True):
        labels = ", ".join(map(_word, states))
        lines += [
            f"variable {_word(name)} {{",
            f"  type discrete [ {len(states)} ] {{ {labels} }};",
            "}",
        ]
    for i, table in enumerate(network.tables):
        parents = network.parents[i]
        given = ", ".join(_word(network.names[p]) for p in parents)
        lines.append(f"probability ( {_word(network.names[i])}{' | ' if given else ''}{given} ) {{")
        rows = table.reshape(-1, table.shape[-1]).tolist()
        contexts = itertools.product(*(network.states[p] for p in parents))
        for context, row in zip(contexts, rows, strict=True):
            head = f"({', '.join(map(_word, context))})" if parents else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _word(word: str) -> str:
    if PLAIN_WORD.fullmatch(word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(slots=True)
class _Conditional:
    """One ``probability`` block as written: its parents and rows, by name."""

    parents: list[str]
    line: int
    table: list[float] | None = None
    default: list[float] | None = None
    rows: list[tuple[int, list[str], list[float]]] = field(default_factory=list)


class _Parser(TokenReader):
    """Recursive descent over the tokens; every error names its line."""

    def __init__(self, text: str) -> None:
        super().__init__(text, LEXICON)
        self._states: dict[str, tuple[str, ...]] = {}
        self._conditionals: dict[str, _Conditional] = {}

    def network(self) -> Network:
        blocks = {
            "network": self._network_block,
            "variable": self._variable_block,
            "probability": self._probability_block,
        }
        while self.next.kind != "end":
            keyword = self.take()
            if keyword.text not in blocks:
                fail(keyword, f"expected network, variable or probability, found {keyword}")
            blocks[keyword.text]()
        return self._build()

    def _network_block(self) -> None:
        if self.next.text != "{":
            self.take_word("the network's name")
        self.expect("{")
        depth = 1
        while depth:
            token = self.take()
            if token.kind == "end":
                fail(token, "expected '}' to close the network block, found the end of the file")
            if token.kind == "mark":
                depth += (token.text == "{") - (token.text == "}")

    def _variable_block(self) -> None:
        name = self.take_word("a variable's name")
        if name.text in self._states:
            fail(name, f"variable {name} is declared twice")
        self.expect("{")
        states: tuple[str, ...] | None = None
        while self.next.text != "}":
            keyword = self.take()
            if keyword.text == "property":
                self._skip_property()
            elif keyword.text == "type":
                kind = self.take_word("the variable's type")
                if kind.text != "discrete":
                    fail(kind, f"variable {name}: expected type discrete, found {kind}")
                self.expect("[")
                count = self.take_word("the number of states")
                self.expect("]")
                self.expect("{")
                states = tuple(label.text for label in self.words_until("}"))
                with within(f"line {name.line}"):
                    check_names(f"the states of {name}", states)
                if str(len(states)) != count.text:
                    fail(
                        count,
                        f"{name} lists {count_noun(len(states), 'state')} but declares {count}",
                    )
                self.expect(";")
            else:
                fail(keyword, f"expected type, property or '}}', found {keyword}")
        self.expect("}")
        if states is None:
            fail(name, f"variable {name} has no type")
        self._states[name.text] = states

    def _probability_block(self) -> None:
        line = self.expect("(").line
        name = self.take_word("a variable's name")
        if name.text in self._conditionals:
            fail(name, f"the probabilities of {name} are given twice")
        block = _Conditional([parent.text for parent in self.words_until(")")], line)
        self.expect("{")
        while self.next.text != "}":
            keyword = self.take()
            if keyword.text == "property":
                self._skip_property()
            elif keyword.kind == "mark" and keyword.text == "(":
                context = [label.text for label in self.words_until(")")]
                block.rows.append((keyword.line, context, read_numbers(self.words_until(";"))))
            elif keyword.text in ("table", "default"):
                if getattr(block, keyword.text) is not None:
                    fail(keyword, f"{keyword} appears twice")
                setattr(block, keyword.text, read_numbers(self.words_until(";")))
            else:
                fail(keyword, f"expected table, default, '(' or '}}', found {keyword}")
        self.expect("}")
        self._conditionals[name.text] = block

    def _skip_property(self) -> None:
        while self.next.text != ";":
            if self.next.kind == "end":
                fail(self.next, "expected ';' to close the property, found the end of the file")
            self.take()
        self.take()

    def _build(self) -> Network:
        for name, block in self._conditionals.items():
            for word in (name, *block.parents):
                if word not in self._states:
                    near = nearest(word, self._states)
                    raise InputError(f"line {block.line}: no variable {word!r} is declared{near}")
        for name in self._states:
            if name not in self._conditionals:
                raise InputError(f"variable {name!r} has no probability block")
        blocks = {name: self._conditionals[name] for name in self._states}
        return Network.from_tables(
            self._states,
            {name: block.parents for name, block in blocks.items()},
            {name: self._table(name, block) for name, block in blocks.items()},
        )

    def _table(self, name: str, block: _Conditional) -> Table:
        """Return P(name | parents), the node last, from the rows or the table of its block."""
        states = self._states[name]
        parents = {parent: self._states[parent] for parent in block.parents}
        shape = (*map(len, parents.values()), len(states))
        with within(f"line {block.line}"):
            check_table_size(name, shape)
            if block.table is None:
                n_rows = math.prod(shape[:-1])
                if len(block.rows) < n_rows and block.default is None:
                    raise InputError(
                        f"{name!r} needs {n_rows} rows, got {len(block.rows)} and no default"
                    )
            elif block.rows or block.default is not None:
                raise InputError(f"{name!r} has both a table and rows; give one of them")
            elif len(block.table) != math.prod(shape):
                raise InputError(
                    f"the table of {name!r} needs {math.prod(shape)} numbers, "
                    f"got {len(block.table)}"
                )
        if block.table is not None:
            array = np.reshape(block.table, (shape[-1], *shape[:-1]))
            array = np.moveaxis(array, 0, -1)
        else:
            array = _table_of_rows(block, parents, states)
        try:
            with within(f"line {block.line}"):
                return check_table(name, states, parents, array)
        except InputError:
            for line, context, numbers in block.rows:
                one = {parent: [label] for parent, label in zip(parents, context, strict=True)}
                with within(f"line {line}"):
                    check_table(name, states, one, np.reshape(numbers, (*[1] * len(one), -1)))
            raise


def _table_of_rows(
    block: _Conditional, parents: Mapping[str, Sequence[str]], states: Sequence[str]
) -> Table:
    array = np.full((*map(len, parents.values()), len(states)), np.nan)
    if block.default is not None:
        with within(f"line {block.line}"):
            array[...] = _check_row(block.default, states)
    seen = set()
    for line, context, numbers in block.rows:
        with within(f"line {line}"):
            if len(context) != len(parents):
                raise InputError(
                    f"the row names {count_noun(len(context), 'state')} for "
                    f"{count_noun(len(parents), 'parent')}"
                )
            for label, (parent, labels) in zip(context, parents.items(), strict=True):
                if label not in labels:
                    raise InputError(f"{parent!r} has no state {label!r}{nearest(label, labels)}")
            row = tuple(map(operator.indexOf, parents.values(), context))
            if row in seen:
                raise InputError(f"the row ({', '.join(context)}) is given twice")
            seen.add(row)
            array[row] = _check_row(numbers, states)
    return array


def _check_row(numbers: Sequence[float], states: Sequence[str]) -> Sequence[float]:
    if len(numbers) != len(states):
        raise InputError(f"the row needs {count_noun(len(states), 'number')}, got {len(numbers)}")
    return numbers
