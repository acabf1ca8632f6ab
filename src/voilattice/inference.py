"""Exact tables P(S, e) of a network, by variable elimination.

    P(S, e) = sum over all other nodes of  prod_i P(x_i | parents of x_i)

Only the ancestors of S and E take part: every other node sums to 1. Each table is first cut down
to the evidence; then the nodes outside S are summed out one by one, always the one whose product
is smallest, so the joint over all nodes never exists. The sizes of all products are known before
the first is made, and work that would not fit the memory budget is refused.

A product of many small numbers leaves the range of doubles. Tables are therefore held as
``table * 2**exponent`` with the largest entry of `table` near 1: powers of two lose no bit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from voilattice.errors import TooLargeError
from voilattice.network import MAX_AXES, Network, Table

__all__ = ["MEMORY_BYTES", "ScaledTable", "ancestors", "joint_table", "prior", "scaled_joint_table"]

# Default budget for the tables of one query.
MEMORY_BYTES = 1 << 30

# While a product is made, its two factors are there too.
TABLES_AT_ONCE = 3


class ScaledTable(NamedTuple):
    """The table ``table * 2**exponent``."""

    table: Table
    exponent: int


class _Factor(NamedTuple):
    nodes: tuple[int, ...]  # ascending; one axis of `scaled.table` each
    scaled: ScaledTable


def joint_table(
    network: Network,
    keep: Sequence[int],
    evidence: Mapping[int, int],
    *,
    memory_bytes: int = MEMORY_BYTES,
) -> Table:
    """Return P(keep, e), one axis for each node of `keep`, in that order.

    Parameters
    ----------
    keep
        Distinct nodes, none of them in `evidence`.
    evidence
        The known state of each node in E.
    memory_bytes
        Raise `TooLargeError` rather than use more memory than this.
    """
    return np.ldexp(*scaled_joint_table(network, keep, evidence, memory_bytes=memory_bytes))


def scaled_joint_table(
    network: Network,
    keep: Sequence[int],
    evidence: Mapping[int, int],
    *,
    memory_bytes: int = MEMORY_BYTES,
) -> ScaledTable:
    """Return P(keep, e) as `joint_table` does, but safe from underflow under much evidence."""
    relevant = ancestors(network, {*keep, *evidence})
    factors = [_restricted(network, node, evidence) for node in sorted(relevant)]
    hidden = relevant - set(keep) - set(evidence)
    order = _elimination_order(network, [factor.nodes for factor in factors], hidden, memory_bytes)
    for node in order:
        touched = [factor for factor in factors if node in factor.nodes]
        factors = [factor for factor in factors if node not in factor.nodes]
        factors.append(_sum_out(_product(network, touched), node))
    result = _product(network, factors)
    axes = [result.nodes.index(node) for node in keep]
    return ScaledTable(result.scaled.table.transpose(axes), result.scaled.exponent)


def prior(network: Network, node: int) -> Table:
    """Return P(node), before any evidence."""
    return joint_table(network, [node], {})


def ancestors(network: Network, nodes: Iterable[int]) -> set[int]:
    """Return `nodes` and all their ancestors."""
    found: set[int] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(network.parents[node])
    return found


def _restricted(network: Network, node: int, evidence: Mapping[int, int]) -> _Factor:
    """Return P(node | parents) with the evidence filled in."""
    axes = (*network.parents[node], node)
    table = network.tables[node][tuple(evidence.get(axis, slice(None)) for axis in axes)]
    free = [axis for axis in axes if axis not in evidence]
    order = sorted(range(len(free)), key=free.__getitem__)
    return _Factor(tuple(sorted(free)), _scaled(table.transpose(order), 0))


def _scaled(table: Table, exponent: int) -> ScaledTable:
    shift = math.frexp(table.max())[1]
    return ScaledTable(np.ldexp(table, -shift), exponent + shift)


def _product(network: Network, factors: Sequence[_Factor]) -> _Factor:
    nodes: tuple[int, ...] = ()
    scaled = ScaledTable(np.ones(()), 0)
    for factor in sorted(factors, key=lambda factor: factor.scaled.table.size):
        union = tuple(sorted({*nodes, *factor.nodes}))
        left = _broadcast(network, nodes, scaled.table, union)
        right = _broadcast(network, factor.nodes, factor.scaled.table, union)
        scaled = _scaled(left * right, scaled.exponent + factor.scaled.exponent)
        nodes = union
    return _Factor(nodes, scaled)


def _broadcast(network: Network, nodes: Sequence[int], table: Table, union: Sequence[int]) -> Table:
    """Return the table with an axis of length 1 for each node of `union` that it lacks."""
    return table.reshape([len(network.states[node]) if node in nodes else 1 for node in union])


def _sum_out(factor: _Factor, node: int) -> _Factor:
    axis = factor.nodes.index(node)
    nodes = factor.nodes[:axis] + factor.nodes[axis + 1 :]
    return _Factor(nodes, _scaled(factor.scaled.table.sum(axis=axis), factor.scaled.exponent))


def _elimination_order(
    network: Network,
    scopes: Sequence[Collection[int]],
    hidden: Collection[int],
    memory_bytes: int,
) -> list[int]:
    """Return an order to sum out `hidden` in, the node of the smallest product first each time."""
    n_states = network.n_states
    neighbours: dict[int, set[int]] = {node: set() for scope in scopes for node in scope}
    for scope in scopes:
        for node in scope:
            neighbours[node].update(scope)

    def cells(node: int) -> int:
        return math.prod(n_states[other] for other in neighbours[node])

    sizes = {node: cells(node) for node in hidden}
    order, largest, axes = [], 1, 0
    while sizes:
        node = min(sizes, key=lambda node: (sizes[node], node))
        order.append(node)
        largest = max(largest, sizes.pop(node))
        axes = max(axes, len(neighbours[node]))
        clique = neighbours.pop(node) - {node}
        for other in clique:
            neighbours[other] |= clique
            neighbours[other].discard(node)
            if other in sizes:
                sizes[other] = cells(other)
    largest = max(largest, math.prod(n_states[node] for node in neighbours))
    axes = max(axes, len(neighbours))
    needed = TABLES_AT_ONCE * largest * np.dtype(np.float64).itemsize
    if needed > memory_bytes or axes > MAX_AXES:
        raise TooLargeError(
            f"this needs a table over {axes} nodes, {needed / 2**20:.3g} MiB, "
            f"but the budget is {MAX_AXES} nodes and {memory_bytes / 2**20:.3g} MiB: "
            f"ask for fewer features at once, or give more evidence"
        )
    return order
