"""Which random worlds a run of the tests looks at.

Thousands of seeds are worth a night, not every run. A run takes a fixed part of them, so that what
held yesterday is tried again, and a part that the seed of the run chooses. That seed is the day's
unless ``--world-seed`` gives one: all runs of a day see the same worlds, and a failure is found
again by the seed that the head of the run prints. ``--nightly`` takes every seed, and as many that
nobody has seen. Hypothesis draws its examples by the same seed.
"""

import random

from hypothesis import settings

PART = 12  # one of so many seeds is fixed, and as many rotate
PART_OF_EXAMPLES = 4  # hypothesis draws one of so many, all by the seed of the run
LEAST_EXAMPLES = 20

_run = {"seed": 0, "nightly": False}


def set_run(*, seed, nightly):
    """Set the seed of this run, and whether it takes all worlds; before tests are collected."""
    _run.update(seed=seed, nightly=nightly)


def some(seeds):
    """Return the seeds of a range that this run looks at, in a list."""
    chance = random.Random(f"{_run['seed']} {seeds}")
    if _run["nightly"]:
        return [*seeds, *(chance.randrange(1 << 20, 1 << 32) for _ in seeds)]
    size = -(-len(seeds) // PART)
    fixed, others = seeds[:size], seeds[size:]
    return [*fixed, *sorted(chance.sample(others, min(size, len(others))))]


def examples(n, least=LEAST_EXAMPLES):
    """Return the settings of a test that draws so many examples at night, and fewer by day."""
    by_day = min(n, max(n // PART_OF_EXAMPLES, least))
    return settings(max_examples=n if _run["nightly"] else by_day)
