"""XML files as a tree of elements with their lines, parsed safely.

A document type may be declared, because XMLBIF files declare their elements. An entity may not: the
files of networks need none, and entities can expand without end or name other files. Nothing
outside the file is opened. The depth and the number of elements are limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from voilattice.errors import InputError, TooLargeError
from voilattice.wording import quote

__all__ = ["Element", "parse_xml"]

MAX_DEPTH = 100
MAX_ELEMENTS = 1_000_000


@dataclass(slots=True)
class Element:
    """An element of an XML file."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of an element that holds nothing else."""
        for child in self.children:
            raise InputError(
                f"line {child.line}: <{self.tag}> must hold text alone, found <{child.tag}>"
            )
        return "".join(self.pieces).strip()

    def all(self, tag: str) -> Iterator[Element]:
        """Return the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element | None:
        """Return the child with a tag, or None; two of them are an error."""
        child, *others = [*self.all(tag), None]
        if len(others) > 1 and others[0] is not None:
            raise InputError(f"line {others[0].line}: <{self.tag}> has a second <{tag}>")
        return child

    def check_children(self, known: Sequence[str]) -> None:
        """Raise `InputError` if the element has a child with another tag."""
        for child in self.children:
            if child.tag not in known:
                raise InputError(
                    f"line {child.line}: <{child.tag}> is not known inside <{self.tag}>; "
                    f"the elements are {' '.join(known)}"
                )


def parse_xml(content: bytes) -> Element:
    """Return the root of an XML file."""
    builder = _Builder()
    try:
        return builder.parse(content)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(f"line {error.lineno}: not valid XML: {reason}") from None
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, InputError | TooLargeError):
            raise
        raise InputError(f"the encoding of this XML file is not supported: {error}") from None


class _Builder:
    """The handlers of the parser."""

    def __init__(self) -> None:
        self._open: list[Element] = []
        self._root: Element | None = None
        self._n_elements = 0
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = self._comment
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._entity

    def parse(self, content: bytes) -> Element:
        self._parser.Parse(content, True)
        assert self._root is not None  # the parser refuses a file without a root
        return self._root

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        self._n_elements += 1
        if self._n_elements > MAX_ELEMENTS:
            raise TooLargeError(f"line {line}: the file has more than {MAX_ELEMENTS:,} elements")
        if len(self._open) == MAX_DEPTH:
            raise InputError(f"line {line}: more than {MAX_DEPTH} elements are inside each other")
        element = Element(tag, attributes, line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].pieces.append(text)

    def _comment(self, text: str) -> None:
        if self._open:  # a comment separates two numbers
            self._open[-1].pieces.append(" ")

    def _entity(self, name: str, *declaration: object) -> None:
        raise InputError(
            f"line {self._parser.CurrentLineNumber}: the entity {quote(name)} is refused; "
            f"write the text itself"
        )
