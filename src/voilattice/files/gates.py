"""The kinds of nodes of GeNIe and SMILE, as XDSL and DSL files hold them.

A *chance* node has a table (`node_tables.CountedTable`). Two more kinds have a rule, from which the
table follows:

* A *deterministic* node lists one of its states for each combination of its parents' states, the
  last parent varying fastest.
* A *noisy-max* node Y is the maximum of independent effects, one of each parent X_i and one of the
  leak. The first state of Y is the largest and its last state means "no effect", so

      P(Y is state k or a later one | x) = L(k) prod_i W_i(x_i, k),

  where W_i(x_i, k) and L(k) are the same probabilities of a single effect. The file gives the
  distribution of each effect: a row for every state of the first parent, then of the second, and so
  on, and the leak last. The rows of a parent follow its *strengths*, a list of the numbers of its
  states from the strongest to the weakest; the weakest has no effect. (SMILE stores P(Y | X_i)
  without the leak; GeNIe can show the same model with the leak included.)

All other kinds are refused by name: nothing of a file is left out silently.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import NoReturn

import numpy as np

from voilattice.errors import InputError
from voilattice.files.node_tables import FileNode, refuse_names
from voilattice.model.network import Network, Table, check_table
from voilattice.wording import count_noun, nearest, quote

__all__ = ["NoisyMax", "OutcomeList", "check_for_genie", "parents_first", "refuse_kind"]

_NAME = re.compile("[A-Za-z][A-Za-z0-9_]*")
_NAME_RULE = "GeNIe's names consist of letters, digits and _, and begin with a letter"

_CHOICES = "decisions and costs belong in the problem file; delete the node in GeNIe"
_CHANCE = "change it in GeNIe to a general chance node"
_REMEDIES = {
    "decision": _CHOICES,
    "utility": _CHOICES,
    "mau": _CHOICES,
    "noisyadder": _CHANCE,
    "noisyor": _CHANCE,
    "noisyand": _CHANCE,
    "equation": "discretize it in GeNIe, so that it becomes a chance node",
}


def refuse_kind(name: str, kind: str, line: int) -> NoReturn:
    """Raise `InputError` for a node of a kind that is not read."""
    remedy = _REMEDIES.get(kind, _CHANCE)
    raise InputError(
        f"line {line}: node {quote(name)} is of the kind {quote(kind)}; only chance, deterministic "
        f"and noisy-max nodes can be read: {remedy}"
    )


def check_for_genie(network: Network, extension: str) -> None:
    """Raise `InputError` unless GeNIe can open this network."""
    refuse_names(extension, network.names, _NAME, _NAME_RULE)
    for name, states in zip(network.names, network.states, strict=True):
        refuse_names(extension, states, _NAME, _NAME_RULE)
        if len(states) < 2:
            raise InputError(
                f"{extension} cannot hold {name!r}: a node of GeNIe has two states or more; "
                f"write .bif"
            )


def parents_first(network: Network) -> list[int]:
    """Return the nodes in the order in which SMILE reads them: each one after its parents.

    A network that has such an order keeps it.
    """
    graph: TopologicalSorter[int] = TopologicalSorter(dict(enumerate(network.parents)))
    graph.prepare()
    ready = sorted(graph.get_ready())
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        graph.done(node)
        for child in graph.get_ready():
            heapq.heappush(ready, child)
    return order


@dataclass(frozen=True, slots=True)
class OutcomeList:
    """The state of a deterministic node, for each combination of its parents' states."""

    outcomes: Sequence[str]

    def table(self, node: FileNode, parents: Mapping[str, Sequence[str]]) -> Table:
        shape = tuple(map(len, parents.values()))
        n_rows = int(np.prod(shape, dtype=int))
        if len(self.outcomes) != n_rows:
            raise InputError(
                f"{node.name!r} needs {count_noun(n_rows, 'resulting state')}, one for each "
                f"combination of its parents' states, got {len(self.outcomes)}"
            )
        index = {state: k for k, state in enumerate(node.states)}
        for outcome in self.outcomes:
            if outcome not in index:
                raise InputError(
                    f"{node.name!r} has no state {quote(outcome)}{nearest(outcome, node.states)}"
                )
        rows = np.eye(len(index))[[index[outcome] for outcome in self.outcomes]]
        return rows.reshape(*shape, len(index))


@dataclass(frozen=True, slots=True)
class NoisyMax:
    """The strengths of the parents' states, and the distributions of the effects."""

    strengths: Sequence[float]
    numbers: Sequence[float]

    def table(self, node: FileNode, parents: Mapping[str, Sequence[str]]) -> Table:
        m, n_states = len(node.states), sum(map(len, parents.values()))
        if len(self.strengths) != n_states or len(self.numbers) != (n_states + 1) * m:
            raise InputError(
                f"the noisy-max node {node.name!r} needs {count_noun(n_states, 'strength')} and "
                f"{(n_states + 1) * m} numbers, got {len(self.strengths)} and {len(self.numbers)}"
            )
        effects = np.reshape(np.asarray(self.numbers, dtype=np.float64), (n_states + 1, m))
        leak = check_table(node.name, node.states, {}, effects[-1])
        survival = _survival(leak)
        start = 0
        for parent, states in parents.items():
            stop = start + len(states)
            order = self._order(node.name, parent, self.strengths[start:stop])
            ranked = [states[k] for k in order]
            rows = check_table(node.name, node.states, {parent: ranked}, effects[start:stop])
            if rows[-1, -1] != 1:
                raise InputError(
                    f"in the noisy-max node {node.name!r} the weakest state of {parent!r}, "
                    f"{ranked[-1]!r}, must have no effect: its row must be 0 ... 0 1"
                )
            by_state = np.empty_like(rows)
            by_state[order] = rows
            survival = survival[..., None, :] * _survival(by_state)
            start = stop
        # P(k) = P(k or later) - P(k + 1 or later); products of falling numbers fall, in floating
        # point too, so no difference is negative.
        return -np.diff(survival, axis=-1, append=0)

    def _order(self, name: str, parent: str, strengths: Sequence[float]) -> list[int]:
        if sorted(strengths) != list(range(len(strengths))):
            raise InputError(
                f"the strengths of {parent!r} in {name!r} must be the numbers 0 to "
                f"{len(strengths) - 1}, each once"
            )
        return [int(k) for k in strengths]


def _survival(rows: Table) -> Table:
    """Return the probabilities of each state or a later one."""
    return np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1]
