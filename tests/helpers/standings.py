"""Standings of an arena by hand: nothing is learned."""

from voilattice.arena.results import Failure, Key, Result
from voilattice.arena.suites import DataSet, Suite
from voilattice.arena.tournament import Standings


def result(total, feature=0.0, *, errors=0.1, scale=100.0, recipe="", model=None, seconds=1.0):
    return Result(total, feature, errors, total / scale, 10, recipe, model, seconds)


def standings(table, *, n_splits=1, methods=None, levels=("low",)):
    """Return standings.

    Parameters
    ----------
    table
        For each method and data set, its outcomes: one for each level and split, the splits of a
        level together. An outcome is a total cost, a `Result`, a text (it failed), or None (it was
        not tried yet).
    """
    names = list(dict.fromkeys(data_set for _, data_set in table))
    splits = dict.fromkeys(range(1, n_splits + 1), (None, None))
    suite = Suite(
        {name: DataSet(name, "class", dict.fromkeys(levels), None, splits) for name in names},
        n_splits,
    )
    methods = tuple(methods or dict.fromkeys(method for method, _ in table))
    results, failures = {}, {}
    for (method, data_set), outcomes in table.items():
        places = [(level, split) for level in levels for split in splits]
        for (level, split), found in zip(places, outcomes, strict=True):
            key = Key(data_set, level, split, method)
            if isinstance(found, str):
                failures[key] = Failure(found)
            elif found is not None:
                results[key] = found if isinstance(found, Result) else result(found)
    n_wanted = len(methods) * len(names) * len(levels) * n_splits
    return Standings(suite, methods, results, failures, n_wanted)
