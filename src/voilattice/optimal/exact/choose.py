"""Four exact solvers, and the one place that chooses between them.

Blocks merge all partial assignments that are one state (`space`, `solution`). A plain table merges
nothing, but needs a third of the memory and an eighth of the time for a state (`plain_solution`).
Both need the joint table P(Y, R). The smaller one is taken, counted in bytes, if it can be solved
in time. A large plain table is solved on a GPU if there is one: then its memory counts.

If rounds or a limit on spending count, or if sets are cheaper together, steps acquire sets
(`batch_solution`). A limit on features alone is counted down over merged states
(`counted_solution`).

The states of a plain table are counted without work. The states of blocks are known only when all
blocks are found, which takes as long as solving the table where nothing merges. So some sets of
known features are drawn, each as likely as its share of the table. If all evidence on such a set
matters, and all that is unknown too, its states are merged with no others. If too many sets are so,
the blocks would be larger than the table. Otherwise the blocks are found, at most as many as take
the memory of the table.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TypeAlias

from voilattice import devices
from voilattice.budgets import Deadline, memory_budget
from voilattice.engines import CUDA_FROM, preferred_engine
from voilattice.errors import InputError, TooLargeError
from voilattice.feature_sets import bits
from voilattice.model.problem import Problem
from voilattice.model.stakes import CostMatrix
from voilattice.optimal.exact.batch_solution import BatchSolution, BatchSpace, needs_batches
from voilattice.optimal.exact.counted_solution import CountedSolution, bytes_per_state
from voilattice.optimal.exact.interface import ExactSolution
from voilattice.optimal.exact.plain import count_states, cuda_bytes
from voilattice.optimal.exact.plain_solution import (
    PlainSolution,
    PlainSpace,
    in_order,
    joint_bytes,
    plain_bytes,
)
from voilattice.optimal.exact.solution import Solution
from voilattice.optimal.exact.space import BYTES_PER_STATE, StateSpace, check_own_prices
from voilattice.policy.relevance import Relevance

__all__ = ["ExactSpace", "find_states", "may_take_long", "solve_exactly"]

ExactSpace: TypeAlias = StateSpace | PlainSpace | BatchSpace

# Cautious estimates of speed.
BLOCK_STATES_PER_SECOND = 4_000_000
PLAIN_NANOSECONDS = (1.0, 10.0)  # a state, for each feature and for each class
CUDA_NANOSECONDS = 1.0  # a state, on any GPU that has the memory
CUDA_SECONDS = 3.0  # to load it
SHARE_OF_PASS = 0.35  # of the time to find and solve blocks: one more pass over them takes it

PLAIN_FROM = 500_000  # with fewer states in the table, blocks take milliseconds, merged or not
N_DRAWN = 64
SURELY_APART = 8  # of those drawn: then at least half of the estimate is apart, but for bad luck


@dataclass(frozen=True, slots=True)
class _Table:
    """What a plain table would take, and where it would be solved."""

    engine: str
    n_states: int
    n_bytes: int
    seconds: float
    room: int  # bytes that there are

    def fits(self, deadline: Deadline) -> bool:
        left = deadline.seconds_left
        return self.n_bytes <= self.room and (left is None or self.seconds <= left)


def find_states(
    problem: Problem,
    unit: CostMatrix | None = None,
    *,
    engine: str = "auto",
    deadline: Deadline | None = None,
) -> ExactSpace:
    """Return the states of a problem: blocks of merged states, a plain table, or batches.

    Parameters
    ----------
    unit
        The misclassification costs at scale 1; those of the problem by default.
    deadline
        When the states should be found and solved.

    Raises
    ------
    TooLargeError
        Neither fits the memory budget and the time, or neither supports the prices.
    InputError
        The engine is ``"cuda"``, and there is no GPU, or the problem has rounds or limits.
    """
    check_own_prices(problem)
    if (engine := preferred_engine(engine)) == "cuda":
        return _find_on_device(problem, unit)
    if needs_batches(problem):
        return BatchSpace(problem, unit, engine=engine, deadline=deadline)
    deadline = deadline or Deadline()
    if problem.limits.features is not None:
        return _find_counted(problem, unit, problem.limits.features, engine, deadline)
    relevance = Relevance(problem)
    table = _choose_table(problem, relevance, engine, deadline)
    fits = table.fits(deadline)
    left = deadline.seconds_left
    most = None if left is None else int(min(left, 1e9) * BLOCK_STATES_PER_SECOND)
    if table.n_states >= PLAIN_FROM:
        n_apart = _count_apart(problem, relevance)
        apart = n_apart / N_DRAWN * table.n_states
        if fits and apart * BYTES_PER_STATE > table.n_bytes:
            return PlainSpace(problem, unit, engine=table.engine)
        room = memory_budget() // BYTES_PER_STATE if most is None else most
        if not fits and n_apart >= SURELY_APART and apart > 2 * room:
            raise TooLargeError(f"more than {room:,} states")
        if fits:
            no_larger = table.n_bytes // BYTES_PER_STATE
            most = no_larger if most is None else min(most, no_larger)
    try:
        return StateSpace(problem, unit, engine=engine, max_states=most, deadline=deadline)
    except TooLargeError:
        if not table.fits(deadline):
            raise
        return PlainSpace(problem, unit, engine=table.engine)


def may_take_long(problem: Problem) -> bool:
    """Return whether a problem has so many states that the exact solver may need seconds."""
    unknown = [f for f in problem.features if f not in problem.evidence]
    return count_states([len(problem.states(f)) for f in unknown]) >= PLAIN_FROM


def solve_exactly(
    space: ExactSpace,
    problem: Problem,
    *,
    choices: bool = True,
    deadline: Deadline | None = None,
) -> ExactSolution:
    """Return the optimum of a problem over its states.

    Parameters
    ----------
    problem
        May differ from the problem of the space only in prices and in the scale of the stakes.
    choices
        Whether to store what to do in each state. A plain table needs no such store.
    deadline
        Raise `TooLargeError` if it is not solved before this.
    """
    if isinstance(space, PlainSpace):
        return PlainSolution(space, problem, deadline=deadline)
    if isinstance(space, BatchSpace):
        return BatchSolution(space, problem, deadline=deadline)
    if problem.limits:
        return CountedSolution(space, problem, deadline=deadline)
    return Solution(space, problem, choices=choices, deadline=deadline)


def _find_counted(
    problem: Problem,
    unit: CostMatrix | None,
    n_features: int,
    engine: str,
    deadline: Deadline,
) -> ExactSpace:
    """Return the states of a problem with a limit on features alone: merged, or else all."""
    most, left = memory_budget() // bytes_per_state(n_features), deadline.seconds_left
    if left is not None:
        in_time = min(left, 1e9) * BLOCK_STATES_PER_SECOND / (1 + SHARE_OF_PASS * n_features)
        most = min(most, int(in_time))
    try:
        return StateSpace(problem, unit, engine=engine, max_states=most, deadline=deadline)
    except TooLargeError:
        return BatchSpace(problem, unit, engine=engine, deadline=deadline)


def _find_on_device(problem: Problem, unit: CostMatrix | None) -> PlainSpace:
    """Return the plain table of a problem, to be solved on the GPU."""
    devices.find_device()
    if needs_batches(problem) or problem.limits:
        raise InputError("'cuda' does not support limits, rounds and cyclic prices", "engine")
    return PlainSpace(problem, unit, engine="cuda")


def _choose_table(
    problem: Problem, relevance: Relevance, engine: str, deadline: Deadline
) -> _Table:
    """Return the first table that fits: in 64 bits on a GPU, on the host, in 32 bits on a GPU.

    If none fits, return that of the host.
    """
    relevant, _ = relevance.what_matters(problem.feature_mask(problem.evidence))
    sizes = [len(problem.states(problem.features[k])) for k in in_order(relevance, relevant)]
    n_classes, n_states = len(problem.classes), count_states(sizes)
    a_feature, a_class = PLAIN_NANOSECONDS
    seconds = 1e-9 * n_states * (a_feature * len(sizes) + a_class * n_classes)
    n_bytes, room = plain_bytes(sizes, n_classes), memory_budget()
    on_host = _Table(engine, n_states, n_bytes, seconds, room)
    if engine != "auto" or n_states < CUDA_FROM or joint_bytes(sizes, n_classes) > room:
        return on_host
    if not devices.has_device():
        return on_host
    seconds = CUDA_SECONDS + 1e-9 * CUDA_NANOSECONDS * n_states
    device = devices.find_device()
    long, short = (
        _Table("cuda", n_states, needed, seconds, device.free_bytes)
        for needed in cuda_bytes(device, sizes, n_classes)
    )
    return next((t for t in (long, on_host, short) if t.fits(deadline)), on_host)


def _count_apart(problem: Problem, relevance: Relevance) -> int:
    """Return how many of some partial assignments, drawn at random, are merged with no others."""
    e = problem.feature_mask(problem.evidence)
    relevant, _ = relevance.what_matters(e)
    source = random.Random(0)
    n_apart = 0
    for _ in range(N_DRAWN):
        known = 0
        for k in bits(relevant):
            size = len(problem.states(problem.features[k]))
            known |= (source.random() < size / (size + 1)) << k
        free = relevant & ~known
        still_relevant, kept = relevance.what_matters(known | e, free)
        n_apart += still_relevant == free and kept & known == known
    return n_apart
