"""The recursion over a plain table: array by array it is what it is state by state."""

import itertools
import math

import numpy as np
import pytest
from helpers.host_device import HostDevice, any_device
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice.budgets import Deadline
from voilattice.compiled import plain_cuda
from voilattice.compiled.plain_cuda import device_bytes
from voilattice.errors import TooLargeError
from voilattice.optimal.exact import plain
from voilattice.optimal.exact.plain import (
    count_states,
    digit_prices,
    scratch_bytes,
    solve_cuda,
    solve_plain,
)

HOST_ENGINES = ("python", "compiled")
ENGINES = (*HOST_ENGINES, "cuda")


def solve(joint, sizes, cost, prices, *, engine, deadline=None):
    """V of every state, on the host."""
    if engine == "cuda":
        values = solve_cuda(joint, sizes, cost, prices, device=any_device(), deadline=deadline)
        return values[np.arange(count_states(sizes))]
    return solve_plain(joint, sizes, cost, prices, engine=engine, deadline=deadline)


def random_table(seed):
    """A joint table, sizes, costs, and prices as `digit_prices` takes them."""
    rng = np.random.default_rng(seed)
    n, n_classes, n_decisions = rng.integers(0, 6), rng.integers(1, 4), rng.integers(1, 4)
    sizes = [int(size) for size in rng.integers(1, 4, n)]
    joint = rng.random((n_classes, math.prod(sizes)))
    joint[rng.random(joint.shape) < 0.3] = 0.0
    named = [
        [int(d) for d in rng.permutation([d for d in range(n) if d != i])[: rng.integers(0, 3)]]
        for i in range(n)
    ]
    own = [rng.random([sizes[d] + 1 for d in others]) * 2 for others in named]
    groups = [int(g) for g in rng.integers(-1, 2, n)]
    surcharges = rng.choice([0.0, 0.7, 1.3], n).tolist()
    return joint, sizes, rng.random((n_decisions, n_classes)) * 30, (own, named, groups, surcharges)


def state_by_state(joint, sizes, cost, prices):
    """V and P(e) of every state, from the recursion as it stands."""
    own, named, groups, surcharges = prices
    table = joint.reshape(-1, *sizes)
    value, mass = {}, {}
    for digits in itertools.product(*(range(size + 1) for size in sizes)):
        known = [d < size for d, size in zip(digits, sizes, strict=True)]
        part = table[:, *(d if k else slice(None) for d, k in zip(digits, known, strict=True))]
        belief = part.reshape(len(part), -1).sum(axis=1)
        mass[digits] = belief.sum()
        offers = [min(cost @ belief)]
        for i in range(len(sizes)):
            if known[i]:
                continue
            price = own[i][tuple(digits[d] for d in named[i])]
            mates = [d for d in range(len(sizes)) if groups[d] == groups[i] >= 0]
            if mates and not any(known[d] for d in mates):
                price = price + surcharges[i]
            after = [value[*digits[:i], x, *digits[i + 1 :]] for x in range(sizes[i])]
            offers.append(price * mass[digits] + sum(after))
        value[digits] = min(offers)
    return list(value.values()), list(mass.values())


@pytest.mark.parametrize("engine", HOST_ENGINES)
@examples(60)
@given(seed=st.integers(0, 2**32 - 1), tile=st.sampled_from([1, 4, 12, 3**9]))
def test_arrays_say_what_the_recursion_says(engine, seed, tile):
    joint, sizes, cost, prices = random_table(seed)
    value, mass = np.full(count_states(sizes), np.nan), np.full(count_states(sizes), np.nan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "TILE_STATES", tile)
        patch.setattr(plain, "ROW_STATES", max(tile // 3, 1))
        found = solve_plain(
            joint, sizes, cost, digit_prices(*prices), value=value, mass=mass, engine=engine
        )
    assert found is value
    want_value, want_mass = state_by_state(joint, sizes, cost, prices)
    np.testing.assert_allclose(value, want_value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mass, want_mass, rtol=1e-12, atol=1e-12)


@pytest.mark.slow  # gcc, once for each number of classes and decisions
@examples(60)
@given(seed=st.integers(0, 2**32 - 1), room=st.sampled_from([1, 200, 1_000, 56_000]))
def test_the_kernel_of_a_gpu_says_what_the_recursion_says(seed, room):
    joint, sizes, cost, prices = random_table(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_cuda, "ROOM_BYTES", room)
        found = solve(joint, sizes, cost, digit_prices(*prices), engine="cuda")
    want, _ = state_by_state(joint, sizes, cost, prices)
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@examples(40)
@given(seed=st.integers(0, 2**32 - 1), room=st.sampled_from([1, 200, 1_000]))
def test_values_in_32_bits_are_as_right_as_they_say(seed, room):
    joint, sizes, cost, prices = random_table(seed)
    joint, cost = joint * 1e-9, cost * 1e30  # far below and above what 32 bits can hold
    own, named, groups, surcharges = prices
    own, surcharges = [1e30 * table for table in own], [1e30 * s for s in surcharges]
    prices = own, named, groups, surcharges
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_cuda, "ROOM_BYTES", room)
        patch.setattr(plain_cuda, "DTYPES", (np.float32,))
        values = solve_cuda(joint, sizes, cost, digit_prices(*prices), device=any_device())
    want, _ = state_by_state(joint, sizes, cost, prices)
    found = values[np.arange(len(want))]
    for v, w in zip(found.tolist(), want, strict=True):
        assert abs(v - w) <= values.error(v) * (1 + 1e-6)
        assert values.error(v) <= 1e-6 * (len(sizes) + 1) * v + 1e-40 * values.scale


def test_32_bits_are_used_only_if_64_do_not_fit():
    joint, cost, prices = np.ones((2, 8)), np.eye(2), digit_prices([0.1] * 3)
    kinds = {}
    needed = device_bytes([2] * 3, 0, 2, np.float64) / plain_cuda.SHARE_OF_FREE
    for free in (10_000, math.ceil(needed), math.floor(needed) - 1):
        device = HostDevice(free_bytes=free)
        kinds[free] = solve_cuda(joint, [2] * 3, cost, prices, device=device).n_roundings
    assert list(kinds.values()) == [0, 0, 1]
    with pytest.raises(TooLargeError, match="27 states need 2[0-9]{2} bytes of the GPU, which has"):
        solve_cuda(joint, [2] * 3, cost, prices, device=HostDevice(free_bytes=200))


def test_a_tile_that_no_block_of_threads_can_hold_is_refused():
    joint, prices = np.ones((9, 30)), digit_prices([0.1])
    with pytest.raises(TooLargeError, match="a tile of 31 states needs .* of the shared memory"):
        solve_cuda(joint, [30], np.ones((1, 9)), prices, device=HostDevice(room_bytes=6_000))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_follows_from_nothing_known_stands_last(engine):
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    value = solve(joint, [2], [[0, 50], [50, 0]], digit_prices([2.0]), engine=engine)
    assert value.tolist() == [5.0, 5.0, 12.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_without_features_there_is_one_state(engine):
    joint = np.array([[0.25], [0.75]])
    value = solve(joint, [], [[0.0, 8.0], [4.0, 0.0]], digit_prices([]), engine=engine)
    assert value.tolist() == [1.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_impossible_states_cost_nothing(engine):
    joint = np.array([[0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5]])  # A and B cannot differ
    prices = digit_prices([1.0, 2.0])
    value = solve(joint, [2, 2], [[0, 40], [40, 0]], prices, engine=engine)
    assert value.reshape(3, 3).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1.0]]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_part_of_a_larger_joint_table_needs_no_copy_by_the_caller(engine):
    whole = np.random.default_rng(0).random((2, 3, 8))
    prices, cost = digit_prices([0.1, 0.2, 0.3]), np.array([[0.0, 9.0], [5.0, 0.0]])
    for x in range(3):
        part = whole[:, x]
        found = solve(part, [2] * 3, cost, prices, engine=engine)
        want = solve(part.copy(), [2] * 3, cost, prices, engine=engine)
        assert np.array_equal(found, want)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_the_number_of_threads_changes_nothing(n_threads, monkeypatch):
    rng = np.random.default_rng(0)
    sizes = [2, 3, 2, 2, 1, 2, 2]
    joint, cost = rng.random((2, math.prod(sizes))), np.array([[0.0, 9.0], [5.0, 0.0]])
    prices = digit_prices(rng.random(7))
    want = solve_plain(joint, sizes, cost, prices, engine="compiled")
    monkeypatch.setattr(plain, "TILE_STATES", 30)
    monkeypatch.setattr(plain, "ROW_STATES", 9)
    monkeypatch.setattr(plain, "STATES_PER_TASK", 60)
    monkeypatch.setattr(plain, "MAX_THREADS", n_threads)
    found = solve_plain(joint, sizes, cost, prices, engine="compiled")
    np.testing.assert_allclose(found, want, rtol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_that_is_not_solved_in_time_is_refused(engine):
    joint, prices = np.ones((2, 4)), digit_prices([1.0, 1.0])
    with pytest.raises(TooLargeError, match="the states were not solved in time"):
        solve(joint, [2, 2], np.eye(2), prices, engine=engine, deadline=Deadline(0))


def test_the_work_stops_between_tasks(monkeypatch):
    class TwoTasks(Deadline):
        n_asked = 0

        @property
        def is_over(self):
            self.n_asked += 1
            return self.n_asked > 4  # each task asks before it, and the loop asks after it

    monkeypatch.setattr(plain, "TILE_STATES", 3)
    monkeypatch.setattr(plain, "STATES_PER_TASK", 3)
    monkeypatch.setattr(plain, "MAX_THREADS", 1)
    value = np.full(27, np.nan)
    prices = digit_prices([1.0] * 3)
    with pytest.raises(TooLargeError, match="not solved in time"):
        solve_plain(
            np.ones((2, 8)), [2] * 3, np.eye(2), prices,
            value=value, engine="compiled", deadline=TwoTasks(),
        )  # fmt: skip
    assert np.isfinite(value).sum() == 6


def test_blocks_with_equally_many_unknown_slow_digits_are_one_level():
    tiles, starts = plain._in_levels((2, 1))
    levels = [tiles[begin:end].tolist() for begin, end in itertools.pairwise(starts)]
    # The slow digits of tile b are b // 2 (2: unknown) and b % 2 (1: unknown).
    assert levels == [[0, 2], [1, 3, 4], [5]]


def test_scratch_space_does_not_grow_with_the_table():
    assert scratch_bytes([2] * 9, 2) == 2 * 8 * 4 * 3**9 + 5 * 9 * 3**9 + 32
    assert scratch_bytes([2] * 18, 2) < 6_000_000
