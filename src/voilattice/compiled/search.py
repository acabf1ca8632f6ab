"""The kernels of `optimal.search.trials`: trials over a table of packed states.

A state is a row of the table: P(e), the lower and the upper bound on V(e) = P(e) v(e), and the
digits of e, packed into words. The table is a hash table with open addressing. An empty row has
P(e) = 0. An impossible state has no row: its V is 0.

`passes` is `join_tree.propagate`, called through its address (`pointers`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voilattice.compiled.arrays import (
    KEY,
    LOWER,
    MASS,
    UPPER,
    CliqueTree,
    Floats,
    Ints,
    Messages,
    RepeatTables,
    RevealTable,
    SearchRoom,
    SearchSpace,
    StateRows,
)
from voilattice.compiled.kernels import inner, kernel
from voilattice.compiled.repeats import belief_at, lower_after

__all__ = [
    "CLOSED",
    "FULL",
    "OPEN",
    "best_step",
    "expand_states",
    "find_state",
    "move_rows",
    "revealed",
    "run_trials",
    "tighten_states",
]

OPEN, CLOSED, FULL = 0, 1, 2  # how a run of trials ends; FULL: the table needs more rows

_LARGE = 1e300

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel()
def find_state(rows: StateRows, key: Any) -> Any:
    """Return the row of a key, or the empty row where the key belongs."""
    amounts, words = rows.amounts, rows.words
    mask = amounts.shape[0] - 1
    h = np.uint64(0)
    for w in range(key.shape[0]):
        h = (h ^ key[w]) * _MULTIPLIER
        h ^= h >> _SHIFT
    at = np.int64(h & np.uint64(mask))
    while amounts[at, MASS] != 0.0:
        w = 0
        while w < key.shape[0] and words[at, KEY + w] == key[w]:
            w += 1
        if w == key.shape[0]:
            break
        at = (at + 1) & mask
    return at


@kernel()
def move_rows(rows: StateRows, new: StateRows) -> None:
    """Copy all states into a larger table."""
    for at in range(rows.amounts.shape[0]):
        if rows.amounts[at, MASS] != 0.0:
            to = find_state(new, rows.words[at, KEY:])
            for w in range(rows.words.shape[1]):
                new.words[to, w] = rows.words[at, w]
            new.is_expanded[to] = rows.is_expanded[at]
    for k in range(rows.counts.shape[0]):
        new.counts[k] = rows.counts[k]


@kernel()
def revealed(table: RevealTable, sizes: Ints, digits: Ints, room: Ints) -> Any:
    """Return P(e) L(e): the sum of V over the values of A that agree with the digits."""
    steps, ends, count, weights, is_known = room[0], room[1], room[2], room[3], room[4]
    value, likelihoods = table.value, table.likelihoods
    base, x, n_open, n_parts = 0, 0, 0, table.part_start.shape[0]
    for k in range(n_parts):
        weights[k], is_known[k] = table.part_start[k], 0
    for k in range(table.hidden.shape[0]):
        steps[n_open], ends[n_open], count[n_open] = table.hidden[k, 0], table.hidden[k, 1], 0
        n_open += 1
    for i in range(sizes.shape[0]):
        base += table.digit_step[i] * digits[i]
        part = table.part_of[i]
        if part >= 0:
            weights[part] += table.part_step[i] * digits[i]
            is_known[part] |= digits[i] < sizes[i]
        if digits[i] < sizes[i]:
            x += table.value_step[i] * digits[i]
        elif table.value_step[i]:
            steps[n_open], ends[n_open], count[n_open] = table.value_step[i], sizes[i], 0
            n_open += 1
    n_weights = 0
    for k in range(n_parts):
        if is_known[k]:
            weights[n_weights] = weights[k]
            n_weights += 1
    if n_open == 0:
        steps[0], ends[0] = 0, 1
        n_open = 1
    total = 0.0
    step, end = steps[n_open - 1], ends[n_open - 1]
    while True:
        at = x
        for _ in range(end):
            entry = value[base + at]
            for k in range(n_weights):
                entry *= likelihoods[weights[k] + at]
            total += entry
            at += step
        k = n_open - 2
        while k >= 0:
            count[k] += 1
            x += steps[k]
            if count[k] < ends[k]:
                break
            x -= steps[k] * ends[k]
            count[k] = 0
            k -= 1
        if k < 0:
            return total


@inner()
def _risk(part: Floats, cost: Floats) -> Any:
    """Return min_d sum_j c_dj P(y_j, e)."""
    best = _LARGE
    for d in range(cost.shape[0]):
        total = 0.0
        for y in range(cost.shape[1]):
            total += cost[d, y] * part[y]
        best = min(best, total)
    return best


@inner()
def _price_all(space: SearchSpace, room: SearchRoom) -> None:
    """Write C(X_i | e) of every unknown feature."""
    prices, digits, sizes = space.prices, room.digits, space.sizes
    n = sizes.shape[0]
    for g in range(room.is_paid.shape[0]):
        room.is_paid[g] = 0
    for i in range(n):
        if prices.group_of[i] >= 0 and digits[i] < sizes[i]:
            room.is_paid[prices.group_of[i]] = 1
    for i in range(n):
        if digits[i] == sizes[i]:
            at = prices.starts[i]
            if space.is_conditional[i]:
                for d in range(n):
                    at += prices.steps[i, d] * digits[d]
            room.price[i] = prices.own[at]
            if prices.group_of[i] >= 0 and not room.is_paid[prices.group_of[i]]:
                room.price[i] += prices.surcharge[i]


@inner()
def _set_digit(space: SearchSpace, room: SearchRoom, i: int, digit: int) -> None:
    """Change a digit of the current state, and its key."""
    change = np.uint64(digit - room.digits[i]) * space.radix[i]  # modulo 2**64
    room.key[space.word[i]] += change
    room.digits[i] = digit
    room.known[i] = digit if digit < space.sizes[i] else -1


@inner()
def _expand(
    at: int,
    rows: StateRows,
    space: SearchSpace,
    passes: Any,
    tree: CliqueTree,
    messages: Messages,
    reveal: RevealTable,
    repeats: RepeatTables,
    room: SearchRoom,
) -> None:
    """Add the children of the current state, in row `at`, with their first bounds."""
    rows.is_expanded[at] = 1
    rows.counts[1] += 1
    amounts, sizes = rows.amounts, space.sizes
    mass = amounts[at, MASS]
    passes(tree, messages, room.known, room.belief, room.pairs)
    m = room.belief.shape[0]
    has_repeats = repeats.values.shape[0] > 0
    if has_repeats:
        belief_at(repeats, room.known, room.hub, room.bought)
    for i in range(sizes.shape[0]):
        if room.digits[i] < sizes[i]:
            continue
        for v in range(sizes[i]):
            part = room.pairs[i, v]
            p = 0.0
            for y in range(m):
                p += part[y]
            if mass * p < space.least_mass:
                continue
            _set_digit(space, room, i, v)
            child = find_state(rows, room.key)
            if amounts[child, MASS] == 0.0:
                rows.counts[0] += 1
                amounts[child, MASS] = mass * p
                upper = mass * _risk(part, space.cost)
                lower = space.least_price * mass * p
                if reveal.value.shape[0]:
                    found = revealed(reveal, sizes, room.digits, room.odometer)
                    lower = max(lower, found)
                    if reveal.is_exact and _all_revealed(reveal, sizes, room.digits):
                        upper = min(upper, found)
                if has_repeats:
                    found, total = lower_after(repeats, room.hub, room.bought, i, v)
                    if total > 0.0:  # it leaves out features that say nothing about Y
                        lower = max(lower, mass * p * (found / total))
                amounts[child, UPPER] = upper
                amounts[child, LOWER] = min(lower, upper)
                for w in range(room.key.shape[0]):
                    rows.words[child, KEY + w] = room.key[w]
            _set_digit(space, room, i, sizes[i])


@inner()
def _all_revealed(reveal: RevealTable, sizes: Ints, digits: Ints) -> Any:
    for i in range(sizes.shape[0]):  # noqa: SIM110 (numba has no `all`)
        if reveal.value_step[i] and digits[i] == sizes[i]:
            return False
    return True


@inner()
def _tighten(at: int, rows: StateRows, space: SearchSpace, room: SearchRoom) -> tuple[int, int]:
    """Update the bounds of the current state, in row `at`, by those of its children.

    Return the features that give the lowest lower and the lowest upper bound; -1: none does better
    than deciding.
    """
    amounts, sizes = rows.amounts, space.sizes
    _price_all(space, room)
    mass = amounts[at, MASS]
    best_lower, best_upper, low, high = _LARGE, amounts[at, UPPER], -1, -1
    slack = space.slack * mass
    for i in range(sizes.shape[0]):
        if room.digits[i] < sizes[i]:
            continue
        lower = upper = room.price[i] * mass
        for v in range(sizes[i]):
            _set_digit(space, room, i, v)
            child = find_state(rows, room.key)
            if amounts[child, MASS] != 0.0:
                lower += amounts[child, LOWER]
                upper += amounts[child, UPPER]
        _set_digit(space, room, i, sizes[i])
        if lower < best_lower:
            best_lower, low = lower, i
        if upper <= best_upper + slack and (high < 0 or upper < best_upper):
            best_upper, high = min(upper, best_upper), i
    amounts[at, UPPER] = best_upper
    amounts[at, LOWER] = max(amounts[at, LOWER], min(best_lower, best_upper))
    return low, high


@inner()
def _widest(i: int, rows: StateRows, space: SearchSpace, room: SearchRoom) -> tuple[int, float]:
    """Return the value of a feature with the widest gap below it, and the gap."""
    value, widest = 0, -1.0
    for v in range(space.sizes[i]):
        _set_digit(space, room, i, v)
        child = find_state(rows, room.key)
        if rows.amounts[child, MASS] != 0.0:
            gap = rows.amounts[child, UPPER] - rows.amounts[child, LOWER]
            if gap > widest:
                value, widest = v, gap
    _set_digit(space, room, i, space.sizes[i])
    return value, widest


@kernel()
def run_trials(
    n_trials: int,
    goal: float,
    rows: StateRows,
    space: SearchSpace,
    passes: Any,
    tree: CliqueTree,
    messages: Messages,
    reveal: RevealTable,
    repeats: RepeatTables,
    room: SearchRoom,
) -> int:
    """Make trials until the gap of the root is at most `goal`; the root must have a row.

    `room` holds the root's digits and key, before and after.
    """
    sizes, amounts = space.sizes, rows.amounts
    n = sizes.shape[0]
    most = n * room.pairs.shape[1]  # new rows in an expansion
    root = find_state(rows, room.key)
    for _ in range(n_trials):
        if amounts[root, UPPER] - amounts[root, LOWER] <= goal:
            return CLOSED
        rows.counts[2] += 1
        follows_upper = rows.counts[2] % space.upper_every == 0
        depth, ends = 0, False
        while not ends:
            at = find_state(rows, room.key)
            room.path[depth, 0] = at
            if not rows.is_expanded[at]:
                if 3 * (rows.counts[0] + most) > 2 * amounts.shape[0]:
                    for k in range(depth - 1, -1, -1):
                        _set_digit(space, room, room.path[k, 1], sizes[room.path[k, 1]])
                    return FULL
                _expand(at, rows, space, passes, tree, messages, reveal, repeats, room)
            low, high = _tighten(at, rows, space, room)
            gap = amounts[at, UPPER] - amounts[at, LOWER]
            if low < 0 or gap <= space.slack * amounts[at, MASS]:
                break
            i = low
            if follows_upper and high >= 0:
                i = high
            value, widest = _widest(i, rows, space, room)
            if widest <= 0.0:
                i = low
                value, widest = _widest(i, rows, space, room)
            if widest <= 0.0:
                break
            room.path[depth, 1] = i
            _set_digit(space, room, i, value)
            depth += 1
        for k in range(depth - 1, -1, -1):
            _set_digit(space, room, room.path[k, 1], sizes[room.path[k, 1]])
            _tighten(room.path[k, 0], rows, space, room)
    return OPEN


@kernel()
def expand_states(
    states: Ints,
    rows: StateRows,
    space: SearchSpace,
    passes: Any,
    tree: CliqueTree,
    messages: Messages,
    reveal: RevealTable,
    repeats: RepeatTables,
    room: SearchRoom,
) -> int:
    """Expand states, given as rows of digits, parents first.

    Return how many were expanded: fewer than all if the table is full. `room` holds the root's
    digits before and after.
    """
    sizes = space.sizes
    n = sizes.shape[0]
    most = n * room.pairs.shape[1]
    done = 0
    for s in range(states.shape[0]):
        if 3 * (rows.counts[0] + most) > 2 * rows.amounts.shape[0]:
            break
        for i in range(n):
            _set_digit(space, room, i, states[s, i])
        at = find_state(rows, room.key)
        if rows.amounts[at, MASS] != 0.0 and not rows.is_expanded[at]:
            _expand(at, rows, space, passes, tree, messages, reveal, repeats, room)
        done += 1
    for i in range(n):
        _set_digit(space, room, i, sizes[i])
    return done


@kernel()
def tighten_states(states: Ints, rows: StateRows, space: SearchSpace, room: SearchRoom) -> None:
    """Update the bounds of states that were expanded, given with parents first: children first."""
    sizes = space.sizes
    n = sizes.shape[0]
    for s in range(states.shape[0] - 1, -1, -1):
        for i in range(n):
            _set_digit(space, room, i, states[s, i])
        at = find_state(rows, room.key)
        if rows.amounts[at, MASS] != 0.0 and rows.is_expanded[at]:
            _tighten(at, rows, space, room)
    for i in range(n):
        _set_digit(space, room, i, sizes[i])


@kernel()
def best_step(
    mass: float,
    now: float,
    tolerance: float,
    rows: StateRows,
    space: SearchSpace,
    reveal: RevealTable,
    room: SearchRoom,
) -> int:
    """Return the feature that the policy of the upper bounds acquires in the current state, or -1.

    `mass` is P(e), and `now` the risk of deciding. Deciding wins a tie, then the cheaper feature,
    then the first one.
    """
    amounts, sizes = rows.amounts, space.sizes
    at = find_state(rows, room.key)
    is_expanded = amounts[at, MASS] != 0.0 and rows.is_expanded[at]
    is_solved = reveal.is_exact and _all_revealed(reveal, sizes, room.digits)
    if not (is_expanded or is_solved):
        return -1
    _price_all(space, room)
    slack = tolerance * max(mass, now)
    lowest, best, price = now - slack, -1, 0.0
    for i in range(sizes.shape[0]):
        if room.digits[i] < sizes[i]:
            continue
        total = room.price[i] * mass
        for v in range(sizes[i]):
            _set_digit(space, room, i, v)
            if is_expanded:
                child = find_state(rows, room.key)
                if amounts[child, MASS] != 0.0:
                    total += amounts[child, UPPER]
            else:
                total += revealed(reveal, sizes, room.digits, room.odometer)
        _set_digit(space, room, i, sizes[i])
        is_better = total < lowest - slack
        if is_better or (best >= 0 and total <= lowest + slack and room.price[i] < price):
            lowest, best, price = min(lowest, total), i, room.price[i]
    return best
