"""Tokens of the text formats (BIF, NET, DSL): words, quoted strings and marks, with their lines.

The formats differ in their marks, in what separates words beside white space, and in the mark of a
comment of one line. A `lexicon` is a pattern that holds these differences, and `TokenReader` is the
base of every parser: it reads one token ahead, and its errors name the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from voilattice.errors import InputError
from voilattice.wording import quote

__all__ = ["Item", "Token", "TokenReader", "fail", "lexicon"]

MAX_DEPTH = 100  # of parentheses in parentheses; a table has at most one pair for each axis


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    kind: str  # "word" (also a quoted one), "mark" or "end"
    line: int

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else quote(self.text)

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.text == mark


# What stands between two marks: tokens, and lists for what stands in parentheses.
Item: TypeAlias = "Token | list[Item]"


def lexicon(
    marks: str, separators: str, line_comment: str, *, long_quotes: bool
) -> re.Pattern[str]:
    """Return the pattern of the tokens of a format; `long_quotes` may go over several lines.

    Comments are recognized only where a token can begin: `Asy//Patch` is one label. `_tokens` finds
    comments of several lines without a pattern, which would search all of the text again for each
    comment that is not closed.
    """
    special = re.escape(marks + separators)
    plain = r'[^"\\]' if long_quotes else r'[^"\\\n]'
    return re.compile(
        rf"""(?P<skip>[\s{re.escape(separators)}]+|{re.escape(line_comment)}[^\n]*)
          | "(?P<quoted>{plain}*(?:\\.{plain}*)*)"
          | (?P<mark>[{re.escape(marks)}])
          | (?P<word>[^\s{special}"]+)""",
        re.VERBOSE | re.DOTALL,
    )


class TokenReader:
    """The tokens of a text, one by one; `next` is the token that comes next."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self._tokens = _tokens(text, pattern)
        self.next = next(self._tokens)

    def take(self) -> Token:
        token = self.next
        if token.kind != "end":
            self.next = next(self._tokens)
        return token

    def take_word(self, what: str) -> Token:
        token = self.take()
        if token.kind != "word":
            fail(token, f"expected {what}, found {token}")
        return token

    def expect(self, mark: str) -> Token:
        token = self.take()
        if not token.is_mark(mark):
            fail(token, f"expected {mark!r}, found {token}")
        return token

    def words_until(self, mark: str) -> list[Token]:
        words = []
        while not self.next.is_mark(mark):
            words.append(self.take_word(f"a name, a number or {mark!r}"))
        self.take()
        return words

    def items_until(self, mark: str) -> list[Item]:
        """Take everything up to a mark; what stands in parentheses becomes a list."""
        items: list[Item] = []
        open_lists = [items]
        while len(open_lists) > 1 or not self.next.is_mark(mark):
            token = self.take()
            if token.kind == "end":
                fail(token, f"expected {mark if len(open_lists) == 1 else ')'!r}, found {token}")
            if token.is_mark("("):
                if len(open_lists) > MAX_DEPTH:
                    fail(token, f"more than {MAX_DEPTH} parentheses are open")
                inner: list[Item] = []
                open_lists[-1].append(inner)
                open_lists.append(inner)
            elif token.is_mark(")"):
                if len(open_lists) == 1:
                    fail(token, f"expected {mark!r}, found {token}")
                open_lists.pop()
            else:
                open_lists[-1].append(token)
        self.take()
        return items


def fail(token: Token, message: str) -> NoReturn:
    raise InputError(f"line {token.line}: {message}")


def _tokens(text: str, pattern: re.Pattern[str]) -> Iterator[Token]:
    line, place = 1, 0
    while place < len(text):
        if text.startswith("/*", place):
            end = text.find("*/", place + 2)
            if end < 0:
                raise InputError(f"line {line}: a comment is not closed; '*/' is missing")
            line += text.count("\n", place, end)
            place = end + 2
            continue
        match = pattern.match(text, place)
        if match is None:
            raise InputError(f"line {line}: a quoted name is not closed")
        kind, found = match.lastgroup, match.group()
        if kind == "quoted":
            yield Token(re.sub(r"\\(.)", r"\1", match["quoted"], flags=re.DOTALL), "word", line)
        elif kind is not None and kind != "skip":
            yield Token(found, kind, line)
        line += found.count("\n")
        place = match.end()
    # The parser may ask for further tokens while it waits for a mark that is missing.
    while True:
        yield Token("", "end", line)
