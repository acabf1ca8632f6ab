"""The states of a policy that is being built."""

import pytest

from voilattice.policy.open_states import Frontier
from voilattice.policy.policy import Acquisition, Branch, Leaf


def leaf(text):
    return Leaf(text, (1.0,), 0.0, is_open=True)


def test_the_most_probable_state_comes_first_and_equal_states_are_one():
    frontier = Frontier()
    assert frontier.add("a", 0.3, "item a") == 0
    assert frontier.add("b", 0.4, "item b") == 1
    assert frontier.add("a", 0.2, "item a again") == 0  # reached in two ways
    assert len(frontier) == 2
    assert "a" in frontier
    assert "c" not in frontier
    assert frontier.pop() == (0, 0.5, "item a")
    assert frontier.add("a", 0.1, "item a, expanded already") == 0
    assert frontier.pop() == (1, 0.4, "item b")
    assert frontier.pop() is None


def test_a_state_that_is_put_back_is_an_open_leaf():
    frontier = Frontier()
    frontier.add("a", 1.0, "open")
    number, _, item = frontier.pop()
    frontier.put_back(number, item)
    assert frontier.pop() is None
    assert frontier.nodes(leaf) == ((leaf("open"),), {"a": 0})


def test_nodes_come_after_the_nodes_below_them():
    frontier = Frontier()
    root = frontier.add("root", 1.0, "root")
    frontier.pop()
    ways = [frontier.add(key, 0.5, key) for key in ("left", "right")]
    frontier.acquire(
        root, ("X",), 1.0, tuple(Branch((s,), 0.5, k) for s, k in zip("ab", ways, strict=True))
    )
    number, _, _ = frontier.pop()
    assert number == ways[0]
    shared = frontier.add("right", 0.5, "right")
    frontier.acquire(number, ("Z",), 2.0, (Branch(("c",), 1.0, shared),))
    number, reach, _ = frontier.pop()
    assert (number, reach) == (shared, pytest.approx(1.0))
    frontier.decide(number, Leaf("yes", (1.0,), 0.0))
    nodes, places = frontier.nodes(leaf)
    assert places == {"right": 0, "left": 1, "root": 2}
    assert nodes[0] == Leaf("yes", (1.0,), 0.0)
    assert nodes[1] == Acquisition(("Z",), 2.0, (Branch(("c",), 1.0, 0),))
    assert [branch.child for branch in nodes[2].branches] == [1, 0]


def test_a_long_chain_needs_no_recursion():
    frontier = Frontier()
    number = frontier.add(0, 1.0, "0")
    for k in range(5_000):
        frontier.pop()
        child = frontier.add(k + 1, 1.0, str(k + 1))
        frontier.acquire(number, ("X",), 0.0, (Branch(("a",), 1.0, child),))
        number = child
    nodes, _ = frontier.nodes(leaf)
    assert len(nodes) == 5_001
    assert nodes[0] == leaf("5000")
