"""Labels: what people read in place of the names of nodes and of states.

A label is printable text in one line. People must be able to tell things apart, so no two nodes are
read the same, and no two states of one node. A node or a state without a label is read as its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from voilattice.errors import InputError, located
from voilattice.model.network import Network, check_text
from voilattice.wording import quote

__all__ = ["check_labels"]


def check_labels(
    network: Network, labels: object, state_labels: object
) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Check the labels of nodes and of their states, and return them as read-only copies."""
    with located("labels"):
        given = _mapping(labels)
        for name, label in given.items():
            with located(name):
                network.index(name)
                check_text(label)
        _check_distinct(network.names, given)
    found: dict[str, Mapping[str, str]] = {}
    with located("state_labels"):
        for name, of_states in _mapping(state_labels).items():
            with located(name):
                node = network.index(name)
                for state, label in _mapping(of_states).items():
                    with located(state):
                        network.state_index(node, state)
                        check_text(label)
                _check_distinct(network.states[node], of_states)
            found[name] = MappingProxyType(dict(of_states))
    return MappingProxyType(dict(given)), MappingProxyType(found)


def _mapping(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"must be a table of labels, got {quote(given)}")
    return given


def _check_distinct(names: Iterable[str], labels: Mapping[str, str]) -> None:
    read: dict[str, str] = {}
    for name in names:
        label = labels.get(name, name)
        if label in read:
            labelled, other = (name, read[label]) if name in labels else (read[label], name)
            raise InputError(
                f"{quote(label)} is what people read for {quote(other)} too; "
                f"the two must be told apart",
                labelled,
            )
        read[label] = name
