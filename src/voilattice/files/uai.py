"""UAI, the format of the inference competitions.

    BAYES
    3            the number of variables
    2 3 2        the number of states of each
    3            the number of tables; for each: the size of its scope, and the scope
    1 0
    1 1
    3 0 1 2      P(2 | 0, 1): the child comes last
    2  0.4 0.6   the tables in the same order: the number of entries, and the entries
    3  0.2 0.3 0.5
    12 0.9 0.1 0.2 0.8 ...

In a table the last variable of the scope varies fastest and the first one slowest. The format keeps
no names: variable and state k are called "k". Everything is separated by white space; a line that
begins with ``c`` and what follows a ``#`` are comments. A Markov network (``MARKOV``) is refused,
because its factors are no conditional probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from voilattice.errors import InputError, within
from voilattice.files.node_tables import (
    CountedTable,
    FileNode,
    build_network,
    check_table_size,
    format_numbers,
    read_number,
)
from voilattice.model.network import Network
from voilattice.wording import count_noun, quote

__all__ = ["parse_uai", "to_uai"]

MAX_DIGITS = 9  # of a count
MAX_PROBABILITY = 1.01  # rows are checked later; more than that is a number of another kind


def parse_uai(text: str) -> Network:
    """Return the network that a UAI text describes."""
    words = _Words(text)
    kind = words.take("BAYES")
    if kind.upper() == "MARKOV":
        raise InputError(
            f"line {words.line}: a Markov network (MARKOV) has no conditional probabilities; only "
            f"Bayesian networks (BAYES) can be read"
        )
    if kind.upper() != "BAYES":
        raise InputError(f"line {words.line}: expected BAYES, found {quote(kind)}")
    n = words.count("the number of variables")
    sizes = [_n_states(words, k) for k in range(n)]
    n_tables = words.count("the number of tables")
    if n_tables != n:
        raise InputError(
            f"line {words.line}: expected {n} tables, one for each variable, got {n_tables}"
        )
    scopes: dict[int, list[int]] = {}  # the parents of each child, in the order of the tables
    for _ in range(n):
        *parents, child = _scope(words, n)
        if child in scopes:
            raise InputError(
                f"line {words.line}: two tables have variable {child} last in their scope; the "
                f"last variable is the one whose probabilities the table holds"
            )
        scopes[child] = parents
    tables: dict[int, tuple[list[int], list[float], int]] = {}
    for child, parents in scopes.items():
        n_entries, line = words.count("the number of entries"), words.line
        shape = [sizes[k] for k in (*parents, child)]
        with within(f"line {line}"):
            check_table_size(str(child), shape)
            if n_entries != math.prod(shape):
                raise InputError(
                    f"the table of variable {child} needs {math.prod(shape)} entries "
                    f"({' x '.join(map(str, shape))}), got {n_entries}"
                )
        tables[child] = (parents, words.probabilities(n_entries, child), line)
    words.expect_end()
    return build_network(
        FileNode(
            str(child),
            tuple(map(str, range(sizes[child]))),
            tuple(map(str, parents)),
            CountedTable(numbers),
            line,
        )
        for child, (parents, numbers, line) in sorted(tables.items())
    )


def _n_states(words: _Words, variable: int) -> int:
    n_states = words.count("a number of states")
    if n_states == 0:
        raise InputError(f"line {words.line}: variable {variable} needs at least one state, got 0")
    return n_states


def _scope(words: _Words, n: int) -> list[int]:
    size = words.count("the size of a scope")
    if size == 0:
        raise InputError(f"line {words.line}: a table of a Bayesian network has a variable, got 0")
    scope = [words.count("a variable") for _ in range(size)]
    for k in scope:
        if k >= n:
            raise InputError(f"line {words.line}: variable {k} is not one of 0 to {n - 1}")
    return scope


class _Words:
    """The words of the text, one by one, with their lines."""

    def __init__(self, text: str) -> None:
        self.line = 1
        self._words = self._split(text)

    def _split(self, text: str) -> Iterator[str]:
        for self.line, row in enumerate(text.rstrip().split("\n"), start=1):
            if not row.lstrip().startswith("c"):
                yield from row.partition("#")[0].split()

    def take(self, what: str) -> str:
        word = next(self._words, None)
        if word is None:
            raise InputError(f"line {self.line}: expected {what}, found the end of the file")
        return word

    def count(self, what: str) -> int:
        word = self.take(what)
        if not (word.isascii() and word.isdigit()):
            raise InputError(
                f"line {self.line}: expected {what}, a whole number, found {quote(word)}"
            )
        if len(word) > MAX_DIGITS:
            raise InputError(f"line {self.line}: {quote(word)} is too large for {what}")
        return int(word)

    def probabilities(self, n: int, child: int) -> list[float]:
        """Return the next n numbers, which are the table of a variable."""
        numbers = []
        for _ in range(n):
            word = self.take("a probability")
            try:
                number = read_number(word)
            except InputError as error:
                raise InputError(f"line {self.line}: {error.message}") from None
            if not 0 <= number <= MAX_PROBABILITY:
                raise InputError(
                    f"line {self.line}: the table of variable {child} holds {quote(word)}, which "
                    f"is not a probability; it needs {count_noun(n, 'number')}"
                )
            numbers.append(number)
        return numbers

    def expect_end(self) -> None:
        word = next(self._words, None)
        if word is not None:
            raise InputError(
                f"line {self.line}: expected the end of the file after the last table, found "
                f"{quote(word)}"
            )


def to_uai(network: Network) -> str:
    """Return the network as UAI text; the variables are numbered in the network's order."""
    lines = ["BAYES", str(len(network)), " ".join(map(str, network.n_states)), str(len(network))]
    for i, parents in enumerate(network.parents):
        lines.append(" ".join(map(str, (len(parents) + 1, *parents, i))))
    for table in network.tables:
        lines += ["", str(table.size)]
        lines += [format_numbers(row) for row in table.reshape(-1, table.shape[-1])]
    return "\n".join(lines) + "\n"
