"""Exact tables P(S, e) of a network, by variable elimination.

    P(S, e) = sum over all other nodes of  prod_i P(x_i | parents of x_i)

Only the ancestors of S and E take part; every other node sums to 1. Each table is first restricted
to the evidence. Then the nodes outside S are summed out one by one, always the node with the
smallest product, so the joint table over all nodes is never built. The sizes of all products are
known before the first product, so work that does not fit the memory budget is refused early.

A product of many small numbers underflows. Tables are therefore stored as ``table * 2**exponent``
with the largest entry of `table` near 1. Scaling by a power of two is exact.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from voilattice.model.network import Network, Table
from voilattice.model.triangulation import check_size, sum_out_order

__all__ = [
    "LEAST_MASS",
    "Factor",
    "ScaledTable",
    "ancestors",
    "joint_table",
    "prior",
    "restrict_table",
    "scaled_joint_table",
]

# A product and its two factors are in memory at the same time.
TABLES_AT_ONCE = 3

# A table is scaled when its largest entry falls below 2 to this power. A product is computed before
# it is scaled, so this limit is far above the smallest double: entries that are 1e-280 of the
# largest are still exact.
SAFE_EXPONENT = -40

# Evidence is rare if P(e) is below 2 to this power.
RARE_EXPONENT = -400

# A part with less than this share of a table's mass is not exact, because the numbers in its sum
# may have underflowed. Such a part is computed again, from its own evidence.
LEAST_MASS = 1e-250


class ScaledTable(NamedTuple):
    """The table ``table * 2**exponent``."""

    table: Table
    exponent: int


class Factor(NamedTuple):
    """A table with the nodes of its axes."""

    nodes: tuple[int, ...]  # ascending; one axis of `scaled.table` each
    scaled: ScaledTable


def joint_table(network: Network, keep: Sequence[int], evidence: Mapping[int, int]) -> Table:
    """Return P(keep, e), one axis for each node of `keep`, in that order.

    Parameters
    ----------
    keep
        Distinct nodes, none of them in `evidence`.
    evidence
        The known state of each node in E.

    Raises
    ------
    TooLargeError
        The tables would not fit the budget (`memory_limit`).
    """
    return np.ldexp(*scaled_joint_table(network, keep, evidence))


def scaled_joint_table(
    network: Network, keep: Sequence[int], evidence: Mapping[int, int]
) -> ScaledTable:
    """Return P(keep, e) as `joint_table` does, but without underflow under much evidence.

    If P(e) is tiny, conflicting evidence can make each state of the first node of `keep` tiny at
    a different point of the product. Then each state gets a product of its own.
    """
    whole = _eliminate(network, keep, evidence)
    if not keep or (whole.exponent > RARE_EXPONENT and whole.table.any()):
        return whole
    first, rest = keep[0], keep[1:]
    parts = [
        _eliminate(network, rest, {**evidence, first: state})
        for state in range(network.n_states[first])
    ]
    exponent = max((part.exponent for part in parts if part.table.any()), default=0)
    tables = [np.ldexp(part.table, part.exponent - exponent) for part in parts]
    return ScaledTable(np.stack(tables), exponent)


def _eliminate(network: Network, keep: Sequence[int], evidence: Mapping[int, int]) -> ScaledTable:
    """Return P(keep, e) from one product of all tables."""
    relevant = ancestors(network, {*keep, *evidence})
    factors = [restrict_table(network, node, evidence) for node in sorted(relevant)]
    order = _elimination_order(network, factors, relevant - set(keep) - set(evidence))
    touching: dict[int, set[int]] = {node: set() for node in relevant}
    for place, factor in enumerate(factors):
        for node in factor.nodes:
            touching[node].add(place)
    left = set(range(len(factors)))
    for node in order:
        touched = touching[node]
        summed = _sum_out(_product(network, [factors[place] for place in sorted(touched)]), node)
        left -= touched
        for place in list(touched):
            for other in factors[place].nodes:
                touching[other].discard(place)
        for other in summed.nodes:
            touching[other].add(len(factors))
        left.add(len(factors))
        factors.append(summed)
    result = _product(network, [factors[place] for place in sorted(left)])
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


def restrict_table(network: Network, node: int, evidence: Mapping[int, int]) -> Factor:
    """Return P(node | parents), restricted to the evidence."""
    axes = (*network.parents[node], node)
    table = network.tables[node][tuple(evidence.get(axis, slice(None)) for axis in axes)]
    free = [axis for axis in axes if axis not in evidence]
    order = sorted(range(len(free)), key=free.__getitem__)
    return Factor(tuple(sorted(free)), _rescale(table.transpose(order), 0))


def _rescale(table: Table, exponent: int) -> ScaledTable:
    shift = math.frexp(table.max())[1]
    if shift > SAFE_EXPONENT:
        return ScaledTable(table, exponent)
    return ScaledTable(np.ldexp(table, -shift), exponent + shift)


def _product(network: Network, factors: Sequence[Factor]) -> Factor:
    nodes: tuple[int, ...] = ()
    scaled = ScaledTable(np.ones(()), 0)
    for factor in sorted(factors, key=lambda factor: factor.scaled.table.size):
        union = tuple(sorted({*nodes, *factor.nodes}))
        left = _broadcast(network, nodes, scaled.table, union)
        right = _broadcast(network, factor.nodes, factor.scaled.table, union)
        scaled = _rescale(left * right, scaled.exponent + factor.scaled.exponent)
        nodes = union
    return Factor(nodes, scaled)


def _broadcast(network: Network, nodes: Sequence[int], table: Table, union: Sequence[int]) -> Table:
    """Return the table with an axis of length 1 for each node of `union` that it lacks."""
    return table.reshape([len(network.states[node]) if node in nodes else 1 for node in union])


def _sum_out(factor: Factor, node: int) -> Factor:
    axis = factor.nodes.index(node)
    nodes = factor.nodes[:axis] + factor.nodes[axis + 1 :]
    return Factor(nodes, _rescale(factor.scaled.table.sum(axis=axis), factor.scaled.exponent))


def _elimination_order(
    network: Network, factors: Sequence[Factor], summed: Collection[int]
) -> list[int]:
    """Return the order in which to sum nodes out, if all products fit the budget."""
    n_states = network.n_states
    found = sum_out_order(n_states, [factor.nodes for factor in factors], summed)
    order = [node for node, _ in found]
    # The last product holds all nodes that are kept.
    kept = {node for factor in factors for node in factor.nodes}.difference(order)
    cliques = [kept, *({node, *neighbours} for node, neighbours in found)]
    largest = max(math.prod([n_states[node] for node in clique]) for clique in cliques)
    check_size(max(map(len, cliques)), TABLES_AT_ONCE * largest * np.dtype(np.float64).itemsize)
    return order
