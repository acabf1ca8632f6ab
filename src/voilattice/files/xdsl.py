"""XDSL, the files of GeNIe and SMILE.

    <smile version="1.0" id="Clinic">
      <nodes>
        <cpt id="X"> <state id="yes"/> <state id="no"/>
          <parents>P Q</parents> <probabilities>0.9 0.1 0.2 0.8 ...</probabilities> </cpt>
        <deterministic id="D"> ... <resultingstates>yes no ...</resultingstates> </deterministic>
        <noisymax id="N"> ... <strengths>0 1 ...</strengths>
          <parameters>0.7 0.3 0 1 ...</parameters> </noisymax>
      </nodes>
      <extensions> <genie> positions, colours, titles, comments </genie> </extensions>
    </smile>

The probabilities are one distribution of the node after the other: the node itself varies fastest,
then its last parent, and its first parent slowest. `files.gates` says what the other two kinds
mean, and refuses all others. A network that changes over time (``<dynamic>``) is refused too, and
so are elements that SMILE's schema does not have. Submodels are only a matter of the drawing;
``<extensions>``, ``<property>``, costs of observation and diagnostic attributes say nothing about
the probabilities and are not read.
"""

from __future__ import annotations

from voilattice.errors import InputError, within
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
    format_numbers,
    read_number,
)
from voilattice.files.xml_tree import Element, parse_xml
from voilattice.model.network import Network
from voilattice.wording import quote

__all__ = ["parse_xdsl", "to_xdsl"]

# What may stand beside <nodes>.
_IGNORED = ("extensions", "observationcost", "property", "properties", "comment")
# What may stand in a node, and what in a node of each kind.
_IN_NODES = ("state", "parents", "property")
_TABLES = {
    "cpt": ("probabilities",),
    "deterministic": ("resultingstates",),
    "noisymax": ("strengths", "parameters"),
}

_WIDTH, _HEIGHT, _GAP = 100, 50, 30  # of the nodes in GeNIe's drawing


def parse_xdsl(content: bytes) -> Network:
    """Return the network that an XDSL file describes."""
    root = parse_xml(content)
    if root.tag != "smile":
        raise InputError(f"line {root.line}: expected <smile>, found <{root.tag}>")
    for part in root.children:
        if part.tag == "dynamic":
            raise InputError(
                f"line {part.line}: the network changes over time (<dynamic>), which is not "
                f"supported; unroll it in GeNIe and save the result"
            )
    root.check_children(("nodes", *_IGNORED))
    nodes = root.one("nodes")
    if nodes is None:
        raise InputError(f"line {root.line}: <smile> has no <nodes>")
    return build_network([_node(element) for element in nodes.children])


def _node(element: Element) -> FileNode:
    name = _id(element)
    if element.tag not in _TABLES:
        refuse_kind(name, element.tag, element.line)
    if "dynamic" in element.attributes:
        raise InputError(
            f"line {element.line}: node {quote(name)} changes over time (dynamic), which is not "
            f"supported"
        )
    element.check_children((*_IN_NODES, *_TABLES[element.tag]))
    parents = element.one("parents")
    rule: TableRule
    if element.tag == "cpt":
        line, numbers = _numbers(element, "probabilities")
        rule = CountedTable(numbers)
    elif element.tag == "deterministic":
        outcomes = _need(element, "resultingstates")
        line, rule = outcomes.line, OutcomeList(outcomes.text.split())
    else:
        strengths = [] if parents is None else _numbers(element, "strengths", "a strength")[1]
        line, numbers = _numbers(element, "parameters")
        rule = NoisyMax(strengths, numbers)
    return FileNode(
        name,
        tuple(_id(state) for state in element.all("state")),
        tuple(parents.text.split()) if parents is not None else (),
        rule,
        line,
    )


def _id(element: Element) -> str:
    if "id" not in element.attributes:
        raise InputError(f"line {element.line}: <{element.tag}> has no id")
    return element.attributes["id"]


def _need(element: Element, tag: str) -> Element:
    child = element.one(tag)
    if child is None:
        raise InputError(f"line {element.line}: node {quote(_id(element))} has no <{tag}>")
    return child


def _numbers(element: Element, tag: str, what: str = "a probability") -> tuple[int, list[float]]:
    child = _need(element, tag)
    with within(f"line {child.line}: <{tag}> of {quote(_id(element))}"):
        return child.line, [read_number(word, what) for word in child.text.split()]


def to_xdsl(network: Network) -> str:
    """Return the network as the text of an XDSL file, parents before their children."""
    check_for_genie(network, ".xdsl")
    names, parents = network.names, network.parents
    order = parents_first(network)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<smile version="1.0" id="Network" numsamples="10000" discsamples="10000">',
        "\t<nodes>",
    ]
    for i in order:
        lines.append(f'\t\t<cpt id="{names[i]}">')
        lines += [f'\t\t\t<state id="{state}" />' for state in network.states[i]]
        if parents[i]:
            lines.append(f"\t\t\t<parents>{' '.join(names[p] for p in parents[i])}</parents>")
        lines.append(f"\t\t\t<probabilities>{format_numbers(network.tables[i])}</probabilities>")
        lines.append("\t\t</cpt>")
    lines += ["\t</nodes>", "\t<extensions>", '\t\t<genie version="1.0" name="Network">']
    for i, (left, top) in _positions(network, order).items():
        lines += [
            f'\t\t\t<node id="{names[i]}">',
            f"\t\t\t\t<name>{names[i]}</name>",
            f"\t\t\t\t<position>{left} {top} {left + _WIDTH} {top + _HEIGHT}</position>",
            "\t\t\t</node>",
        ]
    lines += ["\t\t</genie>", "\t</extensions>", "</smile>"]
    return "\n".join(lines) + "\n"


def _positions(network: Network, order: list[int]) -> dict[int, tuple[int, int]]:
    """Return a place for each node in the drawing: a row below its parents."""
    row: dict[int, int] = {}
    filled: dict[int, int] = {}
    places = {}
    for i in order:
        row[i] = max((row[p] + 1 for p in network.parents[i]), default=0)
        column = filled[row[i]] = filled.get(row[i], -1) + 1
        places[i] = (_GAP + column * (_WIDTH + _GAP), _GAP + row[i] * (_HEIGHT + 2 * _GAP))
    return places
