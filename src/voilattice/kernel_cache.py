"""Which compiled kernels can start at once: those that numba finds in its cache.

numba keeps the code of kernels in a folder, with an index file for each function, which names the
source that the code was made from. If no index fits the source, the first call compiles for
seconds. This module finds out without loading numba. A wrong answer costs time, and changes no
result.

The folder is ``NUMBA_CACHE_DIR`` if that is set, or the ``__pycache__`` beside the kernels. If that
cannot be written (another user has installed the package), it is a folder of the user, and for a
user without a home a folder below the one for temporary files, or one for this process alone.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

__all__ = ["KERNELS", "are_ready", "find_cache_folder", "own_cache_folder"]

# The kernels that Python calls in each inner loop, as module.function of the package `compiled`.
KERNELS = {
    "growth": ("growth.fill_hash_table", "growth.grow"),
    "tables": ("tables.walk_trie",),
    "best_set": ("best_set.search",),
    "blocks": ("blocks.expand",),
    "bellman": (
        "tables.walk_trie", "bellman.mark", "bellman.measure_gains", "bellman.solve",
        "bellman.choose",
    ),
    "join_tree": ("join_tree.propagate", "join_tree.propagate_rows"),
    "repeats": (
        "repeats.follow", "repeats.solve", "repeats.belief_at", "repeats.lower_at",
    ),
    "plain": ("plain.solve_tiles",),
    "batches": ("batches.solve_set",),
    "training": ("training._score",),
    "trees": ("trees.grow", "trees.pay", "trees.try_biases"),
    "search": (
        "reveal.solve_values", "search.find_state", "search.move_rows", "search.revealed",
        "search.best_step", "search.expand_states", "search.tighten_states", "search.run_trials",
    ),
}  # fmt: skip

PRIVATE = 0o700  # the mode of a folder of the user's own

SECONDS_PER_LOOK = 1.0  # how often the cache is asked for kernels that it lacks

_SOURCES = Path(__file__).parent / "compiled"
_ready: set[str] = set()  # loops; what is ready stays so
_looks: dict[str, float] = {}  # when the cache was last asked, for loops that are not ready


def are_ready(loop: str) -> bool:
    """Return whether the kernels of a loop start without being compiled."""
    if loop in _ready:
        return True
    now = time.monotonic()
    if now - _looks.get(loop, -SECONDS_PER_LOOK) < SECONDS_PER_LOOK:
        return False
    if all(_is_loaded(kernel) or _is_cached(kernel) for kernel in KERNELS[loop]):
        _ready.add(loop)
        return True
    _looks[loop] = now
    return False


def _is_loaded(kernel: str) -> bool:
    """Return whether a kernel was called in this process."""
    module, name = kernel.split(".")
    loaded = sys.modules.get(f"voilattice.compiled.{module}")
    return bool(getattr(getattr(loaded, name, None), "signatures", ()))


def _is_cached(kernel: str) -> bool:
    """Return whether the cache has an index of a kernel that fits its source."""
    source = _SOURCES / f"{kernel.partition('.')[0]}.py"
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    with suppress(OSError):
        changed, digest = source.stat().st_mtime, hashlib.sha256(source.read_bytes()).digest()
        for index in find_cache_folder().glob(f"{kernel}-*.{version}*.nbi"):
            # numba compares the digest, or, in older versions, the time.
            if index.stat().st_mtime >= changed or digest in index.read_bytes():
                return True
    return False


def find_cache_folder() -> Path:
    """Return the folder in which numba keeps the kernels."""
    given = os.environ.get("NUMBA_CACHE_DIR") or own_cache_folder()
    if given is None:
        return _SOURCES / "__pycache__"
    name = hashlib.sha1(str(_SOURCES).encode(), usedforsecurity=False).hexdigest()
    return Path(given) / f"{_SOURCES.name}_{name}"  # as numba calls it


@lru_cache(maxsize=1)
def own_cache_folder() -> str | None:
    """Return the folder that replaces the package's own, if that cannot be written; else None."""
    if _is_writable(_SOURCES / "__pycache__"):
        return None
    with suppress(RuntimeError):  # a user without a home
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "voilattice"
        if _is_writable(home, PRIVATE):
            return str(home)
    if hasattr(os, "getuid"):
        # Others can make folders there too, and numba runs what it finds: the folder must be ours.
        shared = Path(tempfile.gettempdir()) / f"voilattice-{os.getuid()}"
        if _is_writable(shared, PRIVATE) and not shared.is_symlink():
            about = shared.stat()
            if about.st_uid == os.getuid() and not about.st_mode & 0o077:
                return str(shared)
    folder = tempfile.mkdtemp(prefix="voilattice-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _is_writable(folder: Path, mode: int = 0o777) -> bool:
    """Return whether files can be made in a folder; a folder that is missing is made."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
