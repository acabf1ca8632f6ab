"""The order in which nodes are summed out, and the tables that this makes.

To sum out a node, all tables that hold it are multiplied. The product holds the node and its
neighbours, the nodes that share a table with it: its *clique*. After the sum, the neighbours share
a table. So the order fixes the cliques, and the cliques are known before the first product.

The best order is hard to find; greedy orders are good. One takes the node whose clique has the
fewest cells. The other takes the node that makes the fewest new neighbours (*fill*), each pair
weighted by its cells; it takes longer to find, and is better on many large networks.
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
    n_states: Sequence[int],
    scopes: Iterable[Collection[int]],
    nodes: Collection[int],
    *,
    by_fill: bool = False,
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
    by_fill
        Whether to take the node with the least fill, not the node with the smallest clique.
    """
    neighbours: dict[int, set[int]] = {}
    for scope in scopes:
        for node in scope:
            neighbours.setdefault(node, set()).update(scope)

    def score(node: int) -> tuple[int, int]:
        near = neighbours[node]
        cells = math.prod([n_states[other] for other in near])
        if not by_fill:
            return cells, node
        missing = ((a, near - neighbours[a]) for a in near)  # every pair is met twice
        return sum(n_states[a] * n_states[b] for a, others in missing for b in others), cells

    scores = {node: score(node) for node in nodes}
    heap = [(value, node) for node, value in scores.items()]
    heapq.heapify(heap)
    order = []
    while heap:
        value, node = heapq.heappop(heap)
        if scores.get(node) != value:  # outdated: the node is in the heap again with its new score
            continue
        del scores[node]
        around = neighbours.pop(node)
        around.remove(node)
        order.append((node, around))
        for other in around:
            neighbours[other] |= around
            neighbours[other].discard(node)
        # A new pair of neighbours also changes the fill of the nodes near both.
        touched = around.union(*(neighbours[other] for other in around)) if by_fill else around
        for other in touched & scores.keys():
            scores[other] = value = score(other)
            heapq.heappush(heap, (value, other))
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
