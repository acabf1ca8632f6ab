"""Labels: what people read in place of the names of nodes and of states.

A label is printable text in one line. People must be able to tell things apart, so no two nodes are
read the same, and no two states of one node. A node or a state without a label is read as its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from voilattice.errors import InputError, UnknownNameError, located
from voilattice.model.network import Network, check_text
from voilattice.wording import quote

__all__ = ["check_labels", "explained_by_labels", "hint_label"]


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


def hint_label(given: object, labels: object) -> str:
    """Return ``": this is the label of 'x'; ..."`` if a label is given for a name, else nothing.

    >>> hint_label("Chest pain", {"cp": "chest pain"})
    ": this is the label of 'cp'; write the name"
    """
    if isinstance(given, str) and isinstance(labels, Mapping):  # labels may not be checked yet
        for name, label in labels.items():
            if isinstance(label, str) and label.casefold() == given.strip().casefold():
                return f": this is the label of {name!r}; write the name"
    return ""


@contextmanager
def explained_by_labels(given: object, labels: object) -> Iterator[None]:
    """Add to an unknown name inside a ``with`` block that it is a label, if it is one."""
    try:
        yield
    except UnknownNameError as error:
        if hint := hint_label(given, labels):
            raise UnknownNameError(f"{error.message}{hint}", error.place) from None
        raise


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
