"""The compiled twin of `model.passes`: two passes over a join tree.

Other kernels call `propagate` with no allocation, best through a `pointers.Pointer`.
`model.join_tree` makes both tuples: `tree` never changes, and each thread has its own `messages`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voilattice.compiled.arrays import CliqueTree, Floats, Ints, Messages, Places, Records
from voilattice.compiled.kernels import inner, kernel, part

__all__ = ["propagate", "propagate_rows"]

# These agree with the NumPy twin.
_LEAST_PRODUCT = 1e-280
_SAFE = 2.0**-40
_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)

# The product of the masses of many trees is scaled by 2 to this power when it falls below.
_STEP = 500
_LIMIT = 2.0**-_STEP


@kernel()
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
    cliques, features, status = tree.cliques, tree.features, messages.cliques
    for c in range(cliques.shape[0]):
        status[c].is_wanted = 0
    for f in range(features.shape[0]):
        c = features[f].clique
        if c >= 0:
            if known[f] != messages.known[f]:
                status[c].is_dirty = 1
                for x in range(features[f].n_states):
                    for y in range(belief.shape[0]):
                        messages.conditionals[f, x, y] = x == known[f]
            if known[f] < 0:
                status[c].is_wanted = 1
        messages.known[f] = known[f]
    for c in range(cliques.shape[0]):
        parent = cliques[c].parent
        if parent >= 0:
            status[parent].is_dirty |= status[c].is_dirty
            status[parent].is_wanted |= status[c].is_wanted
    _collect(tree, messages)
    _distribute(tree, messages)
    for c in range(cliques.shape[0]):
        status[c].is_dirty = 0
    log_probability: float = _combine(tree, messages, belief, pairs)
    return log_probability


@kernel()
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


@part()
def _collect(tree: CliqueTree, messages: Messages) -> None:
    """Compute t_C and up_C of each clique where evidence changed, from the leaves to the roots."""
    status, exponents, active = messages.cliques, messages.exponents, messages.active
    m = exponents.shape[1]
    for c in range(tree.cliques.shape[0]):
        if not status[c].is_dirty:
            continue
        clique, mine = tree.cliques[c], status[c]
        mine.is_plain = 1
        mine.is_one = clique.is_unit
        least = clique.least
        for y in range(m):
            exponents[c, y] = 0
        for k in range(clique.first_child, clique.last_child):
            d = tree.children[k]
            if not status[d].is_one:
                mine.is_one = 0
                least *= status[d].least
                for y in range(m):
                    exponents[c, y] += exponents[d, y]
        for k in range(clique.first_axis, clique.last_axis):
            if messages.known[tree.axes[k].feature] >= 0:
                mine.is_one = 0
        if mine.is_one:
            continue
        n_active = _list_rows(clique, tree.axes, messages.known, active)
        must_scale = not tree.is_safe and least <= _LEAST_PRODUCT
        if must_scale:
            _rescale(clique, mine, tree.tables, messages.tables, active, n_active, exponents[c])
        for k in range(clique.first_child, clique.last_child):
            d = tree.children[k]
            if status[d].is_one:
                continue
            tables = tree.tables if mine.is_plain else messages.tables
            length = clique.hidden * clique.separators * m
            _multiply(
                tree.cliques[d], clique.table_at, length, tables, messages.tables, messages.up,
                tree.offsets, active, n_active,
            )  # fmt: skip
            mine.is_plain = 0
            if must_scale:
                _rescale(clique, mine, tree.tables, messages.tables, active, n_active, exponents[c])
        while True:
            tables = tree.tables if mine.is_plain else messages.tables
            _sum_residual(clique, tables, messages.up, active, n_active, m)
            if tree.is_safe or not _is_small(clique, mine, messages.up, m):
                break
            _rescale(clique, mine, tree.tables, messages.tables, active, n_active, exponents[c])


@part()
def _distribute(tree: CliqueTree, messages: Messages) -> None:
    """Compute the posteriors of the cliques, from the roots to the leaves.

    These are P(x_i | y, e) of the features of a clique and `down` of its children.
    """
    status, active, known = messages.cliques, messages.active, messages.known
    down, up, sums = messages.down, messages.up, messages.sums
    conditionals, axes = messages.conditionals, tree.axes
    m = sums.shape[0]
    for c in range(tree.cliques.shape[0] - 1, -1, -1):
        clique = tree.cliques[c]
        if not status[c].is_wanted or not status[clique.root].is_dirty:
            continue
        width = clique.separators * m
        length = clique.hidden * width
        message = down[clique.message_at : clique.message_at + width]
        if clique.parent < 0:
            for y in range(m):
                mass = 1.0 if status[c].is_one else up[clique.message_at + y]
                message[y] = 1.0 / mass if mass > 0 else 0.0
        n_active = _list_rows(clique, axes, known, active)
        n_unknown = 0
        for k in range(clique.first_axis, clique.last_axis):
            if known[axes[k].feature] < 0:
                n_unknown += 1
                for x in range(axes[k].n_states):
                    for y in range(m):
                        conditionals[axes[k].feature, x, y] = 0.0
        for k in range(clique.first_child, clique.last_child):
            d = tree.children[k]
            if status[d].is_wanted:
                start = tree.cliques[d].message_at
                for j in range(start, start + tree.cliques[d].separators * m):
                    down[j] = 0.0
        tables = tree.tables if status[c].is_plain else messages.tables
        room = messages.room[:length]
        for i in range(n_active):
            row = active[i]
            start = clique.table_at + row * length
            for h in range(clique.hidden):
                here = tables[start + h * width : start + (h + 1) * width]
                mine = room[h * width : (h + 1) * width]
                for j in range(width):
                    mine[j] = here[j] * message[j]
            if n_unknown:
                for y in range(m):
                    sums[y] = 0.0
                for r in range(clique.hidden * clique.separators):
                    for y in range(m):
                        sums[y] += room[r * m + y]
                for k in range(clique.first_axis, clique.last_axis):
                    f = axes[k].feature
                    if known[f] < 0:
                        x = tree.digits[axes[k].digits_at + row]
                        for y in range(m):
                            conditionals[f, x, y] += sums[y]
            for k in range(clique.first_child, clique.last_child):
                d = tree.children[k]
                if status[d].is_wanted:
                    _add_row(tree.cliques[d], row, room, down, tree.offsets)
        for k in range(clique.first_child, clique.last_child):
            d = tree.children[k]
            if status[d].is_wanted and not status[d].is_one:
                start = tree.cliques[d].message_at
                for j in range(start, start + tree.cliques[d].separators * m):
                    down[j] = down[j] / up[j] if up[j] > 0 else 0.0


@part()
def _combine(tree: CliqueTree, messages: Messages, belief: Floats, pairs: Floats) -> float:
    """Write the results from the messages of the roots and the posteriors of all cliques."""
    features, known, shifts = tree.features, messages.known, messages.shifts
    conditionals = messages.conditionals
    m = belief.shape[0]
    is_possible = True
    for f in range(features.shape[0]):
        if features[f].fixed >= 0 and known[f] >= 0 and known[f] != features[f].fixed:
            is_possible = False
    for y in range(m):
        belief[y] = tree.mantissa[y] if is_possible else 0.0
        shifts[y] = tree.exponent[y]
    for c in range(tree.cliques.shape[0]):
        if tree.cliques[c].parent < 0 and not messages.cliques[c].is_one:
            at = tree.cliques[c].message_at
            for y in range(m):
                mass = belief[y] * messages.up[at + y]
                shifts[y] += messages.exponents[c, y]
                if 0.0 < mass < _LIMIT:
                    mass = math.ldexp(mass, _STEP)
                    shifts[y] -= _STEP
                belief[y] = mass
    top = np.int64(-(1 << 62))
    for y in range(m):
        if belief[y] > 0:
            top = max(top, shifts[y])
    total = 0.0
    for y in range(m):
        if belief[y] > 0:
            belief[y] = math.ldexp(belief[y], max(shifts[y] - top, -4000))
            total += belief[y]
    if total > 0:
        for y in range(m):
            belief[y] /= total
    for f in range(features.shape[0]):
        for x in range(pairs.shape[1]):
            for y in range(m):
                pairs[f, x, y] = conditionals[f, x, y] * belief[y]
    return math.log(total) + top * math.log(2.0) if total > 0 else -np.inf


@inner()
def _list_rows(clique: Any, axes: Records, known: Ints, active: Places) -> int:
    """List the rows of a clique that agree with what is known; return how many there are."""
    n = 1
    active[0] = 0
    for k in range(clique.first_axis, clique.last_axis):
        size = axes[k].n_states
        state = known[axes[k].feature]
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


@inner()
def _multiply(
    child: Any,
    table_at: int,
    length: int,
    source: Floats,
    tables: Floats,
    up: Floats,
    offsets: Places,
    active: Places,
    n_active: int,
) -> None:
    """Multiply the active rows of a table with the message of a child."""
    stretch = child.stretch
    for i in range(n_active):
        start = table_at + active[i] * length
        place = child.offsets_at + active[i] * child.n_blocks
        for q in range(place, place + child.n_blocks):
            part = up[offsets[q] : offsets[q] + stretch]
            for _ in range(child.repeats):
                theirs = source[start : start + stretch]
                mine = tables[start : start + stretch]
                for j in range(stretch):
                    mine[j] = theirs[j] * part[j]
                start += stretch


@inner()
def _add_row(child: Any, row: int, cells: Floats, down: Floats, offsets: Places) -> None:
    """Add a row of a table to the message to a child."""
    stretch = child.stretch
    start = 0
    place = child.offsets_at + row * child.n_blocks
    for q in range(place, place + child.n_blocks):
        part = down[offsets[q] : offsets[q] + stretch]
        for _ in range(child.repeats):
            mine = cells[start : start + stretch]
            for j in range(stretch):
                part[j] += mine[j]
            start += stretch


@inner()
def _sum_residual(
    clique: Any, tables: Floats, up: Floats, active: Places, n_active: int, m: int
) -> None:
    """Compute up_C from t_C."""
    width = clique.separators * m
    message = up[clique.message_at : clique.message_at + width]
    for j in range(width):
        message[j] = 0.0
    for i in range(n_active):
        start = clique.table_at + active[i] * clique.hidden * width
        for _ in range(clique.hidden):
            here = tables[start : start + width]
            for j in range(width):
                message[j] += here[j]
            start += width


@inner()
def _is_small(clique: Any, status: Any, up: Floats, m: int) -> bool:
    """Return whether up_C is small for some class; otherwise, note its least positive entry."""
    first, last = clique.message_at, clique.message_at + clique.separators * m
    for y in range(m):
        largest = 0.0
        for j in range(first + y, last, m):
            largest = max(largest, up[j])
        if 0.0 < largest < _SAFE:
            return True
    status.least = 1.0
    for j in range(first, last):
        if up[j] < _SMALLEST_NORMAL:
            up[j] = 0.0  # 1 / up would overflow
        else:
            status.least = min(status.least, up[j])
    return False


@inner()
def _rescale(
    clique: Any,
    status: Any,
    plain: Floats,
    tables: Floats,
    active: Places,
    n_active: int,
    exponents: Ints,
) -> None:
    """Scale t_C by a power of two for each class, if its largest entry is small."""
    m = exponents.shape[0]
    length = clique.hidden * clique.separators * m
    source = plain if status.is_plain else tables
    for y in range(m):
        largest = 0.0
        for i in range(n_active):
            start = clique.table_at + active[i] * length
            for j in range(start + y, start + length, m):
                largest = max(largest, source[j])
        shift = math.frexp(largest)[1] if 0.0 < largest < _SAFE else 0
        exponents[y] += shift
        if shift or status.is_plain:
            for i in range(n_active):
                start = clique.table_at + active[i] * length
                for j in range(start + y, start + length, m):
                    tables[j] = math.ldexp(source[j], -shift)
    status.is_plain = 0
