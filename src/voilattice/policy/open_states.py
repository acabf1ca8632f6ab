r"""The states of a policy that is being built, the most probable ones first.

A policy grows from its root. The state that a case most probably reaches is expanded first: it
becomes a leaf, or an acquisition whose outcomes are states again. Equal states are one state. When
the work stops, the states that were not expanded become open leaves. So a tree that is cut short
has the parts that most cases meet.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from voilattice.policy.policy import Acquisition, Branch, Leaf, Node

__all__ = ["OpenStates"]

_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")


@dataclass(slots=True)
class _State(Generic[_Item]):
    item: _Item | None  # what is needed to expand the state; None: it is expanded
    reach: float  # the probability of reaching it, over the paths found so far
    node: Node | None = None


class OpenStates(Generic[_Key, _Item]):
    """States by number, and a queue of those that are not expanded."""

    def __init__(self) -> None:
        self._states: list[_State[_Item]] = []
        self._numbers: dict[_Key, int] = {}
        self._queue: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, key: _Key) -> bool:
        return key in self._numbers

    def add(self, key: _Key, reach: float, item: _Item) -> int:
        """Return the number of a state that is reached with this probability more."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append(_State(item, reach))
        else:
            state = self._states[number]
            state.reach += reach
            if state.item is None:
                return number
        heapq.heappush(self._queue, (-self._states[number].reach, number))
        return number

    def pop(self) -> tuple[int, float, _Item] | None:
        """Return the most probable state that is not expanded, with its reach; None: there is none.

        The state is now expanded, unless it is put back.
        """
        while self._queue:
            reach, number = heapq.heappop(self._queue)
            state = self._states[number]
            if state.item is not None and state.reach == -reach:
                item, state.item = state.item, None
                return number, state.reach, item
        return None

    def put_back(self, number: int, item: _Item) -> None:
        """Leave a state as it was, and do not return it again."""
        self._states[number].item = item

    def decide(self, number: int, leaf: Leaf) -> None:
        """Make a state a leaf."""
        self._states[number].node = leaf

    def acquire(
        self, number: int, features: tuple[str, ...], price: float, branches: tuple[Branch, ...]
    ) -> None:
        """Make a state an acquisition; its branches lead to numbers of states."""
        self._states[number].node = Acquisition(features, price, branches)

    def nodes(self, leaf: Callable[[_Item], Leaf]) -> tuple[tuple[Node, ...], dict[_Key, int]]:
        """Return the nodes in the order of a policy, and the place of each key's node.

        `leaf` makes the leaf of a state that was not expanded.
        """
        places: dict[int, int] = {}
        nodes: list[Node] = []
        stack = [(0, self._below(0))]  # a state, and the states below it that are still to come
        while stack:
            number, below = stack[-1]
            if (child := next((c for c in below if c not in places), None)) is not None:
                stack.append((child, self._below(child)))
                continue
            stack.pop()
            state = self._states[number]
            node = state.node
            if node is None:
                assert state.item is not None
                node = leaf(state.item)
            elif isinstance(node, Acquisition):
                node = Acquisition(
                    node.features,
                    node.price,
                    tuple(Branch(b.states, b.probability, places[b.child]) for b in node.branches),
                )
            places[number] = len(nodes)
            nodes.append(node)
        numbers = {key: places[number] for key, number in self._numbers.items()}
        return tuple(nodes), numbers

    def _below(self, number: int) -> Iterator[int]:
        node = self._states[number].node
        return (b.child for b in node.branches) if isinstance(node, Acquisition) else iter(())
