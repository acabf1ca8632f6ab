"""Budgets: the memory for tables, and deadlines."""

import math
import pickle

import pytest

from voilattice import budgets
from voilattice.budgets import MEMORY_BYTES, Deadline, memory_budget, memory_limit
from voilattice.errors import InputError


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until the test moves it."""
    now = [1000.0]
    monkeypatch.setattr(budgets.time, "monotonic", lambda: now[0])
    return now


def test_a_memory_limit_holds_inside_its_block_and_no_longer():
    assert memory_budget() == MEMORY_BYTES
    with memory_limit(500):
        with memory_limit(7):
            assert memory_budget() == 7
        assert memory_budget() == 500
    assert memory_budget() == MEMORY_BYTES


def test_an_error_inside_the_block_ends_the_limit_too():
    with pytest.raises(ZeroDivisionError), memory_limit(7):
        raise ZeroDivisionError
    assert memory_budget() == MEMORY_BYTES


def test_a_deadline_is_over_when_its_seconds_have_passed(clock):
    deadline = Deadline(3)
    assert (deadline.is_over, deadline.seconds_left) == (False, 3.0)
    clock[0] += 2
    assert (deadline.is_over, deadline.seconds_left) == (False, 1.0)
    clock[0] += 2
    assert (deadline.is_over, deadline.seconds_left) == (True, 0.0)


def test_a_share_is_one_of_what_is_left(clock):
    deadline = Deadline(10)
    clock[0] += 6
    part = deadline.share(0.25)
    assert part.seconds_left == 1.0
    clock[0] += 1.5
    assert (part.is_over, deadline.is_over) == (True, False)


def test_without_a_limit_a_deadline_never_comes(clock):
    deadline = Deadline()
    clock[0] = 1e300
    assert (deadline.is_over, deadline.seconds_left) == (False, None)
    assert deadline.share(0.1).seconds_left is None


@pytest.mark.parametrize("seconds", [-1, -0.5, math.nan, True, "5"])
def test_a_limit_that_is_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(InputError, match="^time_limit: must be a number of seconds >= 0, got "):
        Deadline(seconds)


def test_a_share_is_over_when_the_whole_is_stopped(clock):
    deadline = Deadline(10)
    part = deadline.share(0.5).share(0.5)
    assert part.seconds_left == 2.5
    deadline.stop()
    assert (part.is_over, part.seconds_left) == (True, 0.0)
    endless = Deadline()
    part = endless.share(0.5)
    assert part.seconds_left is None
    endless.stop()
    assert part.is_over


def test_a_time_limit_becomes_a_deadline_once(clock):
    deadline = Deadline(10)
    clock[0] += 4
    assert Deadline.of(deadline) is deadline
    assert Deadline.of(3).seconds_left == 3.0
    assert Deadline.of(None).seconds_left is None
    assert Deadline(100, deadline).seconds_left == 6.0


def test_a_deadline_travels_as_the_seconds_that_are_left(clock):
    deadline = Deadline(10)
    clock[0] += 4
    sent = pickle.dumps((deadline, Deadline(None), deadline.share(0.5)))
    clock[0] = 77.0  # another machine
    whole, endless, part = pickle.loads(sent)
    assert (whole.seconds_left, endless.seconds_left, part.seconds_left) == (6.0, None, 3.0)
