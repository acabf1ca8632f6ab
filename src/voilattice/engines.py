"""Two engines for every inner loop, and the one place that chooses between them.

Each inner loop exists twice, with one signature: readable in Python and NumPy (``"python"``), the
truth in the tests, and compiled by numba (``"compiled"``, in the room `compiled`). numba takes a
second or two to load, so ``"auto"`` takes it only for work beyond the threshold of the loop: below,
Python finishes before numba has loaded.
"""

from __future__ import annotations

from voilattice.errors import UnknownNameError, quote

__all__ = ["COMPILED_FROM", "ENGINES", "check_engine", "choose_engine"]

ENGINES = ("auto", "python", "compiled")

# The least work for which the compiled engine is worth loading.
COMPILED_FROM = {
    "growth": 1_000_000,  # nodes that are flooded
    "tables": 50_000_000,  # cells that are summed
    "best_set": 6_000,  # cells of the first table
    "blocks": 11,  # features that matter: their states are not known yet
    "bellman": 20_000,  # states
}


def check_engine(engine: str) -> None:
    """Raise `UnknownNameError` unless there is such an engine."""
    if engine not in ENGINES:
        raise UnknownNameError(f"engine must be one of {', '.join(ENGINES)}, got {quote(engine)}")


def choose_engine(engine: str, loop: str, work: float) -> str:
    """Return ``"python"`` or ``"compiled"`` for an inner loop with so much work."""
    check_engine(engine)
    if engine != "auto":
        return engine
    return "compiled" if work >= COMPILED_FROM[loop] else "python"
