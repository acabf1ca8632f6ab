"""Which random worlds a run looks at: a fixed part, one that rotates, at night all and new ones."""

import pytest
from helpers import worlds
from helpers.worlds import examples, some

SEEDS = range(1000, 1060)


@pytest.fixture(autouse=True)
def _restore():
    kept = dict(worlds._run)
    yield
    worlds.set_run(**kept)


def test_a_part_is_fixed_and_another_rotates():
    runs = []
    for seed in range(200):
        worlds.set_run(seed=seed, nightly=False)
        runs.append(some(SEEDS))
    assert {tuple(run[:5]) for run in runs} == {tuple(SEEDS[:5])}
    assert all(len(set(run)) == 10 for run in runs)
    assert set().union(*runs) == set(SEEDS)  # in time, all of them


def test_the_same_seed_gives_the_same_worlds():
    worlds.set_run(seed=7, nightly=False)
    assert some(SEEDS) == some(SEEDS)


def test_few_seeds_are_all_taken():
    worlds.set_run(seed=7, nightly=False)
    assert some(range(3, 5)) == [3, 4]


def test_at_night_all_seeds_are_taken_and_as_many_new_ones():
    worlds.set_run(seed=7, nightly=True)
    found = some(SEEDS)
    assert found[:60] == list(SEEDS)
    assert len(set(found)) == 120


def test_at_night_more_examples_are_drawn():
    worlds.set_run(seed=7, nightly=False)
    assert [examples(n).max_examples for n in (10, 40, 300)] == [10, 20, 75]
    worlds.set_run(seed=7, nightly=True)
    assert [examples(n).max_examples for n in (10, 40, 300)] == [10, 40, 300]
