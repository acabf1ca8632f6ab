"""The order in which nodes are summed out, and the tables that this makes.

To sum out a node, all tables that hold it are multiplied. The product holds the node and its
neighbours, the nodes that share a table with it: its *clique*. After the sum, the neighbours share
a table. So the order fixes the cliques, and the cliques are known before the first product. The
best order is hard to find; the greedy order, always the node with the smallest clique, is good.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Sequence

from voilattice.budgets import memory_budget
from voilattice.errors import Remedy, TooLargeError
from voilattice.model.network import MAX_AXES
from voilattice.wording import format_bytes

__all__ = ["check_size", "sum_out_order"]


def sum_out_order(
    n_states: Sequence[int], scopes: Iterable[Collection[int]], nodes: Collection[int]
) -> list[tuple[int, set[int]]]:
    """Return the order in which to sum out `nodes`, and the neighbours of each at that time.

    Parameters
    ----------
    n_states
        The number of states of every node.
    scopes
        The nodes of each table.
    nodes
        What is summed out; every node is in some scope.
    """
    neighbours: dict[int, set[int]] = {}
    for scope in scopes:
        for node in scope:
            neighbours.setdefault(node, set()).update(scope)
    sizes = {node: math.prod([n_states[other] for other in neighbours[node]]) for node in nodes}
    heap = [(size, node) for node, size in sizes.items()]
    heapq.heapify(heap)
    order = []
    while heap:
        size, node = heapq.heappop(heap)
        if sizes.get(node) != size:  # outdated: the node is in the heap again with its new size
            continue
        del sizes[node]
        around = neighbours.pop(node)
        around.remove(node)
        order.append((node, around))
        for other in around:
            here = neighbours[other]
            here |= around
            here.discard(node)
            if other in sizes:
                sizes[other] = size = math.prod([n_states[one] for one in here])
                heapq.heappush(heap, (size, other))
    return order


def check_size(n_axes: int, n_bytes: int) -> None:
    """Raise `TooLargeError` if tables of so many axes and bytes do not fit the budget."""
    budget = memory_budget()
    if n_bytes <= budget and n_axes <= MAX_AXES:
        return
    # A larger budget does not help if NumPy has too few axes.
    raise_budget = (Remedy("raise the budget", "memory_limit"),) * (n_axes <= MAX_AXES)
    raise TooLargeError(
        f"exact inference would need a table over {n_axes} nodes, {format_bytes(n_bytes)}; the "
        f"budget is {MAX_AXES} nodes and {format_bytes(budget)}",
        remedies=(
            *raise_budget,
            Remedy("ask for fewer features at once"),
            Remedy("give more evidence"),
        ),
    )
