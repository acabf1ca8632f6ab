"""DSL, the older text format of GeNIe and SMILE.

    net Clinic
    {
     node X
      {
       TYPE = CPT;
       HEADER = { ID = X; };
       PARENTS = (P, Q);
       DEFINITION =
        {
         NAMESTATES = (yes, no);
         PROBABILITIES = (0.9, 0.1, 0.2, 0.8, ...);
        };
      };
    };

A block holds statements ``NAME = value;`` and ``node NAME { ... };``. The order of the
probabilities is that of XDSL: the node itself varies fastest, then its last parent, and its first
parent slowest. ``TYPE = TRUTHTABLE`` (with ``RESULTINGSTATES``) is a deterministic node and
``NOISY_MAX`` (with ``STRENGTHS``) a noisy-max node, as `files.gates` describes them; all other
types are refused. A node whose header has another ``ID`` is refused, because other parts of the
file may mean either name. The rest of headers, screen positions, comments, diagnostic data and
costs of observation are not read. A statement that is read must not be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from voilattice.errors import InputError
from voilattice.files.gates import (
    NoisyMax,
    OutcomeList,
    check_for_genie,
    parents_first,
    refuse_kind,
)
from voilattice.files.node_tables import (
    CountedTable,
    FileNode,
    TableRule,
    build_network,
    read_numbers,
)
from voilattice.files.tokens import Token, TokenReader, fail, lexicon
from voilattice.model.network import Network
from voilattice.wording import quote

__all__ = ["parse_dsl", "to_dsl"]

MAX_DEPTH = 50  # of blocks in blocks
LEXICON = lexicon("{}()=;", ",", "//", long_quotes=True)

_READ = (
    "TYPE",
    "HEADER",
    "ID",
    "PARENTS",
    "DEFINITION",
    "NAMESTATES",
    "PROBABILITIES",
    "RESULTINGSTATES",
    "STRENGTHS",
)

# GeNIe's names of the kinds that are refused.
_KINDS = {
    "LIST": "decision",
    "TABLE": "utility",
    "MAU": "mau",
    "NOISY_ADDER": "noisyadder",
    "NOISY_OR": "noisyor",
    "NOISY_AND": "noisyand",
    "EQUATION": "equation",
}


@dataclass(slots=True)
class _Block:
    """The statements of a block: values by name, and the nodes."""

    line: int
    values: dict[str, _Block | list[Token]] = field(default_factory=dict)
    nodes: dict[str, _Block] = field(default_factory=dict)


def parse_dsl(text: str) -> Network:
    """Return the network that a DSL text describes."""
    reader = _Reader(text)
    keyword = reader.take()
    if keyword.text != "net":
        fail(keyword, f"expected net, found {keyword}")
    reader.take_word("the network's name")
    net = reader.block()
    if reader.next.is_mark(";"):
        reader.take()
    if reader.next.kind != "end":
        fail(reader.next, f"expected the end of the file, found {reader.next}")
    return build_network([_node(name, block) for name, block in net.nodes.items()])


class _Reader(TokenReader):
    def __init__(self, text: str) -> None:
        super().__init__(text, LEXICON)

    def block(self, depth: int = 0) -> _Block:
        start = self.expect("{")
        if depth == MAX_DEPTH:
            fail(start, f"more than {MAX_DEPTH} blocks are inside each other")
        block = _Block(start.line)
        while not self.next.is_mark("}"):
            key = self.take_word("a name or '}'")
            if key.text == "node" and not self.next.is_mark("="):
                name = self.take_word("a node's name")
                if name.text in block.nodes:
                    fail(name, f"there are two nodes {name}; names must be unique")
                block.nodes[name.text] = self.block(depth + 1)
            else:
                self.expect("=")
                if key.text in _READ and key.text in block.values:
                    fail(key, f"{key.text} is given twice")
                block.values[key.text] = self._value(depth)
            self.expect(";")
        self.take()
        return block

    def _value(self, depth: int) -> _Block | list[Token]:
        if self.next.is_mark("{"):
            return self.block(depth + 1)
        if self.next.is_mark("("):
            self.take()
            return self.words_until(")")
        return [self.take_word("a value")]


def _node(name: str, block: _Block) -> FileNode:
    kind = _words(name, block, "TYPE")[0].text
    if kind not in ("CPT", "TRUTHTABLE", "NOISY_MAX"):
        refuse_kind(name, _KINDS.get(kind, kind), block.line)
    _check_id(name, block.values.get("HEADER"))
    definition = block.values.get("DEFINITION")
    if not isinstance(definition, _Block):
        raise InputError(f"line {block.line}: node {quote(name)} has no DEFINITION = {{ ... }}")
    rule: TableRule
    if kind == "TRUTHTABLE":
        table = _words(name, definition, "RESULTINGSTATES")
        rule = OutcomeList([word.text for word in table])
    else:
        table = _words(name, definition, "PROBABILITIES")
        numbers = read_numbers(table)
        if kind == "CPT":
            rule = CountedTable(numbers)
        else:
            strengths = read_numbers(_words(name, definition, "STRENGTHS"), "a strength")
            rule = NoisyMax(strengths, numbers)
    return FileNode(
        name,
        tuple(word.text for word in _words(name, definition, "NAMESTATES")),
        tuple(word.text for word in _words(name, block, "PARENTS")),
        rule,
        table[0].line if table else definition.line,
    )


def _check_id(name: str, header: _Block | list[Token] | None) -> None:
    """Raise `InputError` if the header of a node has another name for it."""
    own = header.values.get("ID") if isinstance(header, _Block) else None
    if isinstance(own, list) and own and own[0].text != name:
        fail(own[0], f"node {quote(name)} has the ID {own[0]} in its header; give it one name")


def _words(name: str, block: _Block, key: str) -> list[Token]:
    words = block.values.get(key)
    if not isinstance(words, list) or (key == "TYPE" and not words):
        raise InputError(f"line {block.line}: node {quote(name)} has no {key}")
    return words


def to_dsl(network: Network) -> str:
    """Return the network as DSL text, parents before their children."""
    check_for_genie(network, ".dsl")
    lines = ["net Network", "{", " HEADER =", "  {", "   ID = Network;", "  };"]
    for i in parents_first(network):
        name, table = network.names[i], network.tables[i]
        numbers = ", ".join(map(repr, table.ravel().tolist()))
        lines += [
            f" node {name}",
            "  {",
            "   TYPE = CPT;",
            "   HEADER =",
            "    {",
            f"     ID = {name};",
            f'     NAME = "{name}";',
            "    };",
            f"   PARENTS = ({', '.join(network.names[p] for p in network.parents[i])});",
            "   DEFINITION =",
            "    {",
            f"     NAMESTATES = ({', '.join(network.states[i])});",
            f"     PROBABILITIES = ({numbers});",
            "    };",
            "  };",
        ]
    return "\n".join([*lines, "};"]) + "\n"
