"""The tournament: every method on every cell, as tasks that may run anywhere.

A task is one entry (`arena.methods`) on one cell. Tasks are done split by split, so that a table of
all cells is there soon. A method that fails costs its own cells only: the failure is recorded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from voilattice.arena.methods import available_methods, entries_of, method_names, play
from voilattice.arena.results import Failure, Journal, Key, Result, score
from voilattice.arena.suites import Suite
from voilattice.parallel import Died, Workers, run_tasks
from voilattice.source_code import code_digest

__all__ = ["Standings", "read_standings", "run_arena"]

THIS_PROCESS = Workers(n_jobs=1)

Found = list[tuple[Key, Result | Failure]]


@dataclass(frozen=True, slots=True)
class Standings:
    """What all methods cost, and what failed."""

    suite: Suite
    methods: tuple[str, ...]
    results: dict[Key, Result]
    failures: dict[Key, Failure]
    n_wanted: int  # results that were asked for


@dataclass(frozen=True, slots=True)
class _Task:
    data_set: str
    level: str
    split: int
    entry: str
    methods: tuple[str, ...]

    @property
    def keys(self) -> list[Key]:
        return [Key(self.data_set, self.level, self.split, method) for method in self.methods]

    def without(self, done: Container[Key]) -> _Task:
        """Return what is left of the task."""
        return replace(self, methods=tuple(key.method for key in self.keys if key not in done))


def run_arena(
    suite: Suite,
    folder: Path,
    *,
    methods: Sequence[str] | None = None,
    workers: Workers = THIS_PROCESS,
    retry: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Standings:
    """Try methods on all cells of a suite; what the folder's journal holds is not done again.

    Parameters
    ----------
    methods
        Names of methods; by default all whose packages are installed.
    workers
        Where tasks run. The results do not depend on it.
    retry
        Try again what failed.
    progress
        Called with the number of results that are there, and of all results.

    Raises
    ------
    KeyboardInterrupt
        What is done is in the journal. `read_standings` reads it.
    """
    names = available_methods() if methods is None else tuple(dict.fromkeys(methods))
    tasks = _list_tasks(suite, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in suite.data_sets.values():
            data.check(suite.n_splits)
    journal = _open(suite, folder)
    done = journal.read()
    if retry:
        done = {key: found for key, found in done.items() if isinstance(found, Result)}
    open_tasks = [task.without(done) for task in tasks]
    left = [task for task in open_tasks if task.methods]
    n_all = sum(len(task.keys) for task in tasks)
    n_done = n_all - sum(len(task.keys) for task in left)
    if progress is not None:
        progress(n_done, n_all)
    with (
        journal.open() as writer,
        closing(run_tasks(_do, left, where=workers, shared=suite)) as results,
    ):
        for number, found in results:
            keys = left[number].keys
            is_dead = isinstance(found, Died)
            writer.append([(key, Failure(found.reason)) for key in keys] if is_dead else found)
            n_done += len(keys)
            if progress is not None:
                progress(n_done, n_all)
    return read_standings(suite, folder, names)


def read_standings(suite: Suite, folder: Path, methods: Sequence[str] | None = None) -> Standings:
    """Return what the journal of a folder holds on a suite, of some methods and of those before."""
    found = _open(suite, folder).read()
    asked = available_methods() if methods is None else tuple(dict.fromkeys(methods))
    # Others that were tried here before stay in the standings.
    before = {key.method for key in found if key.data_set in suite.data_sets}
    names = (*asked, *(name for name in method_names() if name in before - set(asked)))
    wanted = sorted(key for task in _list_tasks(suite, names) for key in task.keys)
    there = [(key, found[key]) for key in wanted if key in found]
    return Standings(
        suite,
        names,
        {key: result for key, result in there if isinstance(result, Result)},
        {key: result for key, result in there if isinstance(result, Failure)},
        len(wanted),
    )


def _open(suite: Suite, folder: Path) -> Journal:
    return Journal(folder, code_digest(), suite.checksums)


def _list_tasks(suite: Suite, methods: Sequence[str]) -> list[_Task]:
    entries = entries_of(methods)
    return [
        _Task(data.name, level, split, entry, names)
        for place in range(suite.n_splits)
        for data in suite.data_sets.values()
        for split in [data.split_number(place)]
        for level in data.levels
        for entry, names in entries.items()
    ]


def _do(suite: Suite, task: _Task) -> Found:
    """Return the results of a task; whatever a method raises is a failure of its cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, about fits that have not converged
        cell = suite.data_sets[task.data_set].cell(task.level, task.split)
        try:
            answers = play(task.entry, task.methods, cell, task.split)
            scored = {method: score(answer, cell) for method, answer in answers.items()}
        except Exception as error:
            said = " ".join(str(error).split())[:500]
            return [(key, Failure(f"{type(error).__name__}: {said}")) for key in task.keys]
    return [(key, scored[key.method]) for key in task.keys]
