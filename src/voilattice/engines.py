"""Engines for every inner loop, and the one place that chooses between them.

Each inner loop exists twice, with the same signature. One is readable, in Python and NumPy
(``"python"``): the tests take it as the reference. The other is compiled by numba (``"compiled"``,
in the package `compiled`). numba takes a second or two to load, so ``"auto"`` uses it only above
the threshold of the loop. Below the threshold, Python finishes before numba loads. The threshold is
higher as long as the kernels of the loop are not in numba's cache (`kernel_cache`), because they
take seconds to compile. ``voilattice warm`` compiles them all.

The plain table of the optimal policy and the bound "once or repeatedly" have a third twin, which
runs on an NVIDIA GPU (``"cuda"``). ``"auto"`` uses it if there is a GPU and the work is large. All
other loops have no such twin: for them ``"cuda"`` means ``"auto"``.

The engine is a context, like the memory budget: what is called inside ``with use_engine("cuda")``
needs no parameter for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from voilattice import devices
from voilattice.errors import UnknownNameError
from voilattice.kernel_cache import are_ready
from voilattice.wording import quote

__all__ = [
    "COMPILED_FROM",
    "COMPILING_FACTORS",
    "CUDA_FROM",
    "ENGINES",
    "check_engine",
    "choose_engine",
    "count_threads",
    "is_loaded",
    "preferred_engine",
    "use_engine",
]

ENGINES = ("auto", "python", "compiled", "cuda")

# The least work for which the compiled engine is worth loading.
COMPILED_FROM = {
    "growth": 1_000_000,  # nodes that are flooded
    "tables": 50_000_000,  # cells that are summed
    "best_set": 6_000,  # cells of the first table
    "blocks": 11,  # features that matter; the number of states is not known yet
    "bellman": 20_000,  # states
    "join_tree": 50_000_000,  # cells of all passes so far
    "repeats": 3_000_000,  # weights that are added up
    "plain": 300_000,  # states
    "batches": 100_000,  # states, with the sets that are asked for
    "training": 20_000_000,  # questions times numbers in tables, in all steps
    "trees": 20_000,  # cells, times the trees that are grown
}

# The same, times this, if the kernels must be compiled first. At so much work the Python engine
# takes as long as compiling does: about 1 s for "blocks", 7 s for "bellman".
COMPILING_FACTORS = {
    "growth": 10.0,
    "tables": 30.0,
    "best_set": 20.0,
    "blocks": 14 / 11,
    "bellman": 50.0,
    "join_tree": 6.0,
    "repeats": 30.0,
    "plain": 10.0,
    "batches": 6.0,
    "training": 2.0,
    "trees": 25.0,
}

# The least number of states for which a GPU is worth loading: it takes a second or two.
CUDA_FROM = 30_000_000

_engine: ContextVar[str] = ContextVar("engine", default="auto")


@contextmanager
def use_engine(engine: str) -> Iterator[None]:
    """Use this engine inside a ``with`` block, wherever no other engine is named.

    Raises
    ------
    InputError
        The engine is ``"cuda"``, and there is no GPU that works, or CuPy is missing.
    """
    check_engine(engine)
    if engine == "cuda":
        devices.find_device()
    token = _engine.set(engine)
    try:
        yield
    finally:
        _engine.reset(token)


def preferred_engine(engine: str = "auto") -> str:
    """Return an engine as it is, and for ``"auto"`` the engine of the context."""
    check_engine(engine)
    return _engine.get() if engine == "auto" else engine


def check_engine(engine: str) -> None:
    """Raise `UnknownNameError` unless an engine has this name."""
    if engine not in ENGINES:
        raise UnknownNameError(f"engine must be one of {', '.join(ENGINES)}, got {quote(engine)}")


def choose_engine(engine: str, loop: str, work: float) -> str:
    """Return ``"python"`` or ``"compiled"`` for an inner loop with this much work."""
    engine = preferred_engine(engine)
    if engine in ("python", "compiled"):
        return engine
    least = COMPILED_FROM[loop]
    if work < least:
        return "python"
    if work >= least * COMPILING_FACTORS[loop] or are_ready(loop):
        return "compiled"
    return "python"


def is_loaded() -> bool:
    """Return whether numba is loaded, so that the compiled engine begins at once."""
    return "numba" in sys.modules


def count_threads() -> int:
    """Return how many threads may work at once: OMP_NUM_THREADS if it is set, or all cores.

    Worker processes that share a machine have it set, for this and for the libraries below.
    """
    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(int(given), 1) if given.isdecimal() else os.cpu_count() or 1
