"""The compiled twin of `model.passes`: two passes over a join tree.

Other kernels call `propagate` with no allocation. `model.join_tree` makes both tuples: `tree` never
changes, and each thread has its own `messages`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from voilattice.compiled.arrays import CliqueTree, Floats, Ints, Messages, Places

__all__ = ["propagate", "propagate_rows"]

# These agree with the NumPy twin.
_LEAST_PRODUCT = 1e-280
_SAFE = 2.0**-40
_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)

# The product of the masses of many trees is scaled by 2 to this power when it falls below.
_STEP = 500
_LIMIT = 2.0**-_STEP


@njit(cache=True, nogil=True)
def propagate(
    tree: CliqueTree, messages: Messages, known: Ints, belief: Floats, pairs: Floats
) -> float:
    """Write P(Y | e) and all P(Y, X_i | e); return the natural logarithm of P(e).

    Only what changed since the last call with these `messages` is computed again; the results do
    not depend on the calls before.

    Parameters
    ----------
    known
        The state of each feature; -1: unknown.
    belief
        P(Y | e), [class]. All zeros if e is impossible; then the result is -inf.
    pairs
        P(Y, X_i | e), [feature, state, class]. Zero beyond a feature's last state. For a known
        feature, all mass is at its state.
    """
    parent, root, is_unit, clique_of = tree.parent, tree.root, tree.is_unit, tree.clique_of
    child_first, child_of = tree.children
    feature_first, feature_of = tree.features
    n_states, message_at = tree.n_states, tree.message_at
    last, is_dirty, is_wanted = messages.known, messages.is_dirty, messages.is_wanted
    is_one, is_plain, up, exponents = (
        messages.is_one, messages.is_plain, messages.up, messages.exponents
    )  # fmt: skip
    active, down = messages.active, messages.down
    conditionals = messages.conditionals
    n, m, n_features = parent.shape[0], belief.shape[0], n_states.shape[0]

    is_fresh = messages.is_started[0] == 0
    messages.is_started[0] = 1
    for c in range(n):
        is_dirty[c] = is_fresh and not is_unit[c]
        is_wanted[c] = 0
    for f in range(n_features):
        if known[f] != last[f]:
            last[f] = known[f]
            if clique_of[f] >= 0:
                is_dirty[clique_of[f]] = 1
        if known[f] < 0 and clique_of[f] >= 0:
            is_wanted[clique_of[f]] = 1

    # Upward
    for c in range(n):
        if is_wanted[c] and parent[c] >= 0:
            is_wanted[parent[c]] = 1
        if not is_dirty[c]:
            continue
        if parent[c] >= 0:
            is_dirty[parent[c]] = 1
        n_factors = 0
        for y in range(m):
            exponents[c, y] = 0
        for k in range(child_first[c], child_first[c + 1]):
            child = child_of[k]
            if not is_one[child]:
                n_factors += 1
                for y in range(m):
                    exponents[c, y] += exponents[child, y]
        n_known = 0
        for k in range(feature_first[c], feature_first[c + 1]):
            n_known += known[feature_of[k]] >= 0
        is_plain[c] = n_factors == 0
        is_one[c] = is_unit[c] and n_factors == 0 and n_known == 0
        if is_one[c]:
            continue
        n_active = _list_rows(
            feature_first[c], feature_first[c + 1], feature_of, n_states, known, active
        )
        if tree.is_safe:
            if n_factors:
                _multiply(tree, messages, c, n_active, m)
            _sum_residual(tree, messages, c, n_active, m)
        else:
            _collect_scaled(tree, messages, c, n_active, m)

    # Downward
    for c in range(n - 1, -1, -1):
        if not is_wanted[c] or not (is_fresh or is_dirty[root[c]]):
            continue
        at = message_at[c]
        if parent[c] < 0:
            for y in range(m):
                mass = 1.0 if is_one[c] else up[at + y]
                down[at + y] = 1.0 / mass if mass > 0 else 0.0
        n_active = _list_rows(
            feature_first[c], feature_first[c + 1], feature_of, n_states, known, active
        )
        n_unknown = 0
        for k in range(feature_first[c], feature_first[c + 1]):
            f = feature_of[k]
            if known[f] < 0:
                n_unknown += 1
                for x in range(n_states[f]):
                    for y in range(m):
                        conditionals[f, x, y] = 0.0
        _distribute(tree, messages, c, n_active, n_unknown, m)

    # Together
    mantissas, shifts = messages.mantissas, messages.shifts
    for y in range(m):
        mantissas[y] = tree.mantissa[y]
        shifts[y] = tree.exponent[y]
    for c in range(n):
        if parent[c] < 0 and not is_one[c]:
            at = message_at[c]
            for y in range(m):
                mass = mantissas[y] * up[at + y]
                shifts[y] += exponents[c, y]
                if 0.0 < mass < _LIMIT:
                    mass = math.ldexp(mass, _STEP)
                    shifts[y] -= _STEP
                mantissas[y] = mass
    is_possible = True
    for f in range(n_features):
        if tree.fixed[f] >= 0 and known[f] >= 0 and known[f] != tree.fixed[f]:
            is_possible = False
    top = np.int64(-(1 << 62))
    for y in range(m):
        if is_possible and mantissas[y] > 0:
            top = max(top, shifts[y])
    total = 0.0
    for y in range(m):
        belief[y] = 0.0
        if is_possible and mantissas[y] > 0:
            belief[y] = math.ldexp(mantissas[y], max(shifts[y] - top, -4000))
            total += belief[y]
    if total > 0:
        for y in range(m):
            belief[y] /= total
    for f in range(n_features):
        state = tree.fixed[f] if tree.fixed[f] >= 0 else known[f]
        if state >= 0:
            for x in range(pairs.shape[1]):
                for y in range(m):
                    pairs[f, x, y] = belief[y] if x == state else 0.0
        else:  # the conditionals beyond the last state stay 0
            for x in range(pairs.shape[1]):
                for y in range(m):
                    pairs[f, x, y] = conditionals[f, x, y] * belief[y]
    return math.log(total) + top * math.log(2.0) if total > 0 else -np.inf


@njit(cache=True, nogil=True)
def propagate_rows(
    tree: CliqueTree,
    messages: Messages,
    known: Ints,
    belief: Floats,
    pairs: Floats,
    log_probability: Floats,
) -> None:
    """Do the same for each row of evidence; every array has an axis for the rows first."""
    for row in range(known.shape[0]):
        log_probability[row] = propagate(tree, messages, known[row], belief[row], pairs[row])


@njit(cache=True, nogil=True, inline="always")
def _list_rows(
    first: int, last: int, features: Ints, n_states: Ints, known: Ints, active: Places
) -> int:
    """List the rows of a clique that agree with what is known; return how many there are."""
    n = 1
    active[0] = 0
    for k in range(first, last):
        size = n_states[features[k]]
        state = known[features[k]]
        if state >= 0:
            for i in range(n):
                active[i] = active[i] * size + state
        else:
            for i in range(n - 1, -1, -1):
                start = active[i] * size
                for x in range(size - 1, -1, -1):
                    active[i * size + x] = start + x
            n *= size
    return n


@njit(cache=True, nogil=True, inline="always")
def _multiply_row(
    out: Floats, source: Floats, up: Floats, offsets: Places, block: int, is_constant: int, m: int
) -> None:
    """Multiply a row of a table with a message, block by block."""
    if is_constant:
        for q in range(offsets.shape[0]):
            part = up[offsets[q] : offsets[q] + m]
            for r in range(q * block, (q + 1) * block):
                for y in range(m):
                    out[r * m + y] = source[r * m + y] * part[y]
    else:
        length = block * m
        for q in range(offsets.shape[0]):
            part = up[offsets[q] : offsets[q] + length]
            mine = out[q * length : (q + 1) * length]
            theirs = source[q * length : (q + 1) * length]
            for j in range(length):
                mine[j] = theirs[j] * part[j]


@njit(cache=True, nogil=True, inline="always")
def _add_row(
    row: Floats, down: Floats, offsets: Places, block: int, is_constant: int, m: int
) -> None:
    """Add a row of a table to a message, block by block."""
    if is_constant:
        for q in range(offsets.shape[0]):
            part = down[offsets[q] : offsets[q] + m]
            for r in range(q * block, (q + 1) * block):
                for y in range(m):
                    part[y] += row[r * m + y]
    else:
        length = block * m
        for q in range(offsets.shape[0]):
            part = down[offsets[q] : offsets[q] + length]
            mine = row[q * length : (q + 1) * length]
            for j in range(length):
                part[j] += mine[j]


@njit(cache=True, nogil=True, inline="always")
def _multiply(tree: CliqueTree, messages: Messages, c: int, n_active: int, m: int) -> None:
    """Compute t_C in the active rows, if some child has a message that is not 1."""
    child_first, child_of = tree.children
    length = tree.hidden[c] * tree.separators[c] * m
    for i in range(n_active):
        row = messages.active[i]
        start = tree.table_at[c] + row * length
        here = messages.tables[start : start + length]
        source = tree.tables[start : start + length]
        for k in range(child_first[c], child_first[c + 1]):
            d = child_of[k]
            if not messages.is_one[d]:
                at = tree.offsets_at[d] + row * tree.n_blocks[d]
                offsets = tree.offsets[at : at + tree.n_blocks[d]]
                _multiply_row(
                    here, source, messages.up, offsets, tree.block[d], tree.is_constant[d], m
                )
                source = here


@njit(cache=True, nogil=True, inline="always")
def _sum_residual(tree: CliqueTree, messages: Messages, c: int, n_active: int, m: int) -> None:
    """Compute up_C from t_C."""
    width = tree.separators[c] * m
    hidden = tree.hidden[c]
    tables = tree.tables if messages.is_plain[c] else messages.tables
    message = messages.up[tree.message_at[c] : tree.message_at[c] + width]
    for j in range(width):
        message[j] = 0.0
    for i in range(n_active):
        start = tree.table_at[c] + messages.active[i] * hidden * width
        for h in range(hidden):
            here = tables[start + h * width : start + (h + 1) * width]
            for j in range(width):
                message[j] += here[j]


@njit(cache=True, nogil=True, inline="always")
def _distribute(
    tree: CliqueTree, messages: Messages, c: int, n_active: int, n_unknown: int, m: int
) -> None:
    """Compute the posterior of a clique: P(x_i | y, e) of its features, `down` of its children."""
    child_first, child_of = tree.children
    feature_first, feature_of = tree.features
    width = tree.separators[c] * m
    hidden = tree.hidden[c]
    length = hidden * width
    tables = tree.tables if messages.is_plain[c] else messages.tables
    down, up, sums = messages.down, messages.up, messages.sums
    message = down[tree.message_at[c] : tree.message_at[c] + width]
    n_wanted = 0
    for k in range(child_first[c], child_first[c + 1]):
        d = child_of[k]
        if messages.is_wanted[d]:
            n_wanted += 1
            for j in range(tree.message_at[d], tree.message_at[d] + tree.separators[d] * m):
                down[j] = 0.0
    for i in range(n_active):
        row = messages.active[i]
        start = tree.table_at[c] + row * length
        room = messages.room[:length]
        for h in range(hidden):
            here = tables[start + h * width : start + (h + 1) * width]
            mine = room[h * width : (h + 1) * width]
            for j in range(width):
                mine[j] = here[j] * message[j]
        if n_unknown:
            for y in range(m):
                sums[y] = 0.0
            for r in range(hidden * tree.separators[c]):
                for y in range(m):
                    sums[y] += room[r * m + y]
            for k in range(feature_first[c], feature_first[c + 1]):
                f = feature_of[k]
                if messages.known[f] < 0:
                    x = tree.digits[tree.digits_at[k] + row]
                    for y in range(m):
                        messages.conditionals[f, x, y] += sums[y]
        if n_wanted:
            for k in range(child_first[c], child_first[c + 1]):
                d = child_of[k]
                if messages.is_wanted[d]:
                    at = tree.offsets_at[d] + row * tree.n_blocks[d]
                    offsets = tree.offsets[at : at + tree.n_blocks[d]]
                    _add_row(room, down, offsets, tree.block[d], tree.is_constant[d], m)
    for k in range(child_first[c], child_first[c + 1]):
        d = child_of[k]
        if messages.is_wanted[d] and not messages.is_one[d]:
            for j in range(tree.message_at[d], tree.message_at[d] + tree.separators[d] * m):
                down[j] = down[j] / up[j] if up[j] > 0 else 0.0


@njit(cache=True, nogil=True)
def _collect_scaled(tree: CliqueTree, messages: Messages, c: int, n_active: int, m: int) -> None:
    """Compute t_C and up_C where a product could underflow."""
    child_first, child_of = tree.children
    width = tree.separators[c] * m
    length = tree.hidden[c] * width
    least = tree.least[c]
    for k in range(child_first[c], child_first[c + 1]):
        if not messages.is_one[child_of[k]]:
            least *= messages.least[child_of[k]]
    if least > _LEAST_PRODUCT:
        if not messages.is_plain[c]:
            _multiply(tree, messages, c, n_active, m)
    else:
        messages.is_plain[c] = 0
        for i in range(n_active):
            start = tree.table_at[c] + messages.active[i] * length
            for j in range(start, start + length):
                messages.tables[j] = tree.tables[j]
        _rescale(tree, messages, c, n_active, m)
        for k in range(child_first[c], child_first[c + 1]):
            d = child_of[k]
            if not messages.is_one[d]:
                for i in range(n_active):
                    row = messages.active[i]
                    start = tree.table_at[c] + row * length
                    here = messages.tables[start : start + length]
                    at = tree.offsets_at[d] + row * tree.n_blocks[d]
                    offsets = tree.offsets[at : at + tree.n_blocks[d]]
                    _multiply_row(
                        here, here, messages.up, offsets, tree.block[d], tree.is_constant[d], m
                    )
                _rescale(tree, messages, c, n_active, m)
    _sum_residual(tree, messages, c, n_active, m)
    message = messages.up[tree.message_at[c] : tree.message_at[c] + width]
    is_small = False
    for y in range(m):
        largest = 0.0
        for j in range(y, width, m):
            largest = max(largest, message[j])
        if 0.0 < largest < _SAFE:
            is_small = True
    if is_small:
        if messages.is_plain[c]:
            messages.is_plain[c] = 0
            for i in range(n_active):
                start = tree.table_at[c] + messages.active[i] * length
                for j in range(start, start + length):
                    messages.tables[j] = tree.tables[j]
        _rescale(tree, messages, c, n_active, m)
        _sum_residual(tree, messages, c, n_active, m)
    least = 1.0
    for j in range(width):
        if message[j] < _SMALLEST_NORMAL:
            message[j] = 0.0  # 1 / message would overflow
        else:
            least = min(least, message[j])
    messages.least[c] = least


@njit(cache=True, nogil=True)
def _rescale(tree: CliqueTree, messages: Messages, c: int, n_active: int, m: int) -> None:
    """Scale t_C by a power of two for each class, if its largest entry is small."""
    length = tree.hidden[c] * tree.separators[c] * m
    for y in range(m):
        largest = 0.0
        for i in range(n_active):
            start = tree.table_at[c] + messages.active[i] * length
            for j in range(start + y, start + length, m):
                largest = max(largest, messages.tables[j])
        if 0.0 < largest < _SAFE:
            shift = math.frexp(largest)[1]
            messages.exponents[c, y] += shift
            for i in range(n_active):
                start = tree.table_at[c] + messages.active[i] * length
                for j in range(start + y, start + length, m):
                    messages.tables[j] = math.ldexp(messages.tables[j], -shift)
