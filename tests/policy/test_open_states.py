"""The states of a policy that is being built."""

import pytest

from voilattice.policy.open_states import OpenStates
from voilattice.policy.policy import Acquisition, Branch, Leaf


def leaf(text):
    return Leaf(text, (1.0,), 0.0, is_open=True)


def test_the_most_probable_state_comes_first_and_equal_states_are_one():
    states = OpenStates()
    assert states.add("a", 0.3, "item a") == 0
    assert states.add("b", 0.4, "item b") == 1
    assert states.add("a", 0.2, "item a again") == 0  # reached in two ways
    assert len(states) == 2
    assert "a" in states
    assert "c" not in states
    assert states.pop() == (0, 0.5, "item a")
    assert states.add("a", 0.1, "item a, expanded already") == 0
    assert states.pop() == (1, 0.4, "item b")
    assert states.pop() is None


def test_a_state_that_is_put_back_is_an_open_leaf():
    states = OpenStates()
    states.add("a", 1.0, "open")
    number, _, item = states.pop()
    states.put_back(number, item)
    assert states.pop() is None
    assert states.nodes(leaf) == ((leaf("open"),), {"a": 0})


def test_nodes_come_after_the_nodes_below_them():
    states = OpenStates()
    root = states.add("root", 1.0, "root")
    states.pop()
    ways = [states.add(key, 0.5, key) for key in ("left", "right")]
    states.acquire(
        root, ("X",), 1.0, tuple(Branch((s,), 0.5, k) for s, k in zip("ab", ways, strict=True))
    )
    number, _, _ = states.pop()
    assert number == ways[0]
    shared = states.add("right", 0.5, "right")
    states.acquire(number, ("Z",), 2.0, (Branch(("c",), 1.0, shared),))
    number, reach, _ = states.pop()
    assert (number, reach) == (shared, pytest.approx(1.0))
    states.decide(number, Leaf("yes", (1.0,), 0.0))
    nodes, places = states.nodes(leaf)
    assert places == {"right": 0, "left": 1, "root": 2}
    assert nodes[0] == Leaf("yes", (1.0,), 0.0)
    assert nodes[1] == Acquisition(("Z",), 2.0, (Branch(("c",), 1.0, 0),))
    assert [branch.child for branch in nodes[2].branches] == [1, 0]


def test_a_long_chain_needs_no_recursion():
    states = OpenStates()
    number = states.add(0, 1.0, "0")
    for k in range(5_000):
        states.pop()
        child = states.add(k + 1, 1.0, str(k + 1))
        states.acquire(number, ("X",), 0.0, (Branch(("a",), 1.0, child),))
        number = child
    nodes, _ = states.nodes(leaf)
    assert len(nodes) == 5_001
    assert nodes[0] == leaf("5000")
