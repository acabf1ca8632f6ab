"""XMLBIF 0.3, the Interchange Format as XML.

    <BIF VERSION="0.3"> <NETWORK> <NAME>clinic</NAME>
      <VARIABLE TYPE="nature">
        <NAME>X</NAME> <OUTCOME>yes</OUTCOME> <OUTCOME>no</OUTCOME> </VARIABLE>
      <DEFINITION> <FOR>X</FOR> <GIVEN>P</GIVEN> <GIVEN>Q</GIVEN>
        <TABLE>0.9 0.1 0.2 0.8 ...</TABLE> </DEFINITION>
    </NETWORK> </BIF>

In the table the node itself (``FOR``) varies fastest, then the last ``GIVEN``, and the first
``GIVEN`` slowest. (In the ``table`` of a BIF text the node varies slowest.) Names and states may be
any text. ``PROPERTY`` is not read; variables of the types ``decision`` and ``utility``, elements
that are not listed here and other versions are refused.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from voilattice.errors import InputError, within
from voilattice.files.node_tables import (
    CountedTable,
    FileNode,
    build_network,
    format_numbers,
    read_number,
)
from voilattice.files.xml_tree import Element, parse_xml
from voilattice.model.network import Network
from voilattice.wording import nearest, quote

__all__ = ["parse_bifxml", "to_bifxml"]


def parse_bifxml(content: bytes) -> Network:
    """Return the network that an XMLBIF file describes."""
    root = parse_xml(content)
    if root.tag != "BIF":
        raise InputError(f"line {root.line}: expected <BIF>, found <{root.tag}>")
    if (version := root.attributes.get("VERSION", "0.3")) != "0.3":
        raise InputError(f"line {root.line}: expected VERSION 0.3, found {quote(version)}")
    root.check_children(("NETWORK",))
    network = root.one("NETWORK")
    if network is None:
        raise InputError(f"line {root.line}: <BIF> has no <NETWORK>")
    network.check_children(("NAME", "PROPERTY", "VARIABLE", "DEFINITION", "PROBABILITY"))
    states: dict[str, tuple[str, ...]] = {}
    for variable in network.all("VARIABLE"):
        name = _variable_name(variable)
        if name in states:
            raise InputError(f"line {variable.line}: there are two variables {quote(name)}")
        states[name] = tuple(outcome.text for outcome in variable.all("OUTCOME"))
    nodes: dict[str, FileNode] = {}
    for definition in network.children:
        if definition.tag in ("DEFINITION", "PROBABILITY"):
            node = _node(definition, states)
            if node.name in nodes:
                raise InputError(f"line {node.line}: {quote(node.name)} is defined twice")
            nodes[node.name] = node
    for name in states:
        if name not in nodes:
            raise InputError(f"variable {quote(name)} has no <DEFINITION>")
    return build_network([nodes[name] for name in states])


def _variable_name(variable: Element) -> str:
    name = _text(variable, "NAME")
    if (kind := variable.attributes.get("TYPE", "nature")) != "nature":
        raise InputError(
            f"line {variable.line}: variable {quote(name)} is of the type {quote(kind)}; only the "
            f"type nature can be read: decisions and costs belong in the problem file"
        )
    variable.check_children(("NAME", "OUTCOME", "PROPERTY"))
    return name


def _node(definition: Element, states: dict[str, tuple[str, ...]]) -> FileNode:
    name = _text(definition, "FOR")
    definition.check_children(("FOR", "GIVEN", "TABLE", "PROPERTY"))
    if name not in states:
        near = nearest(name, states)
        raise InputError(f"line {definition.line}: no variable {quote(name)} is declared{near}")
    table = definition.one("TABLE")
    if table is None:
        raise InputError(f"line {definition.line}: {quote(name)} has no <TABLE>")
    with within(f"line {table.line}: <TABLE> of {quote(name)}"):
        numbers = [read_number(word) for word in table.text.split()]
    parents = tuple(given.text for given in definition.all("GIVEN"))
    return FileNode(name, states[name], parents, CountedTable(numbers), table.line)


def _text(element: Element, tag: str) -> str:
    child = element.one(tag)
    if child is None or not child.text:
        raise InputError(f"line {element.line}: <{element.tag}> has no <{tag}>")
    return child.text


def to_bifxml(network: Network) -> str:
    """Return the network as the text of an XMLBIF file."""
    for name in {name: None for names in (network.names, *network.states) for name in names}:
        if name != name.strip():
            raise InputError(
                f".bifxml cannot hold the name {name!r}: white space around a name is not kept; "
                f"write .bif"
            )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        "<NAME>network</NAME>",
    ]
    for name, states in zip(network.names, network.states, strict=True):
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(name)}</NAME>"]
        lines += [f"  <OUTCOME>{escape(state)}</OUTCOME>" for state in states]
        lines.append("</VARIABLE>")
    for i, table in enumerate(network.tables):
        lines += ["<DEFINITION>", f"  <FOR>{escape(network.names[i])}</FOR>"]
        lines += [f"  <GIVEN>{escape(network.names[p])}</GIVEN>" for p in network.parents[i]]
        lines += [f"  <TABLE>{format_numbers(table)}</TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"
