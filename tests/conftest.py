"""Settings and fixtures of the whole suite."""

import signal
from datetime import UTC, datetime

import pytest
from helpers import worlds
from helpers.problems import write_markup_problem
from hypothesis import settings

from voilattice.cli import main

# Seeded below, so that a failure is the same everywhere; no deadlines, because machines are noisy.
settings.register_profile("voilattice", deadline=None, database=None)
settings.load_profile("voilattice")


def pytest_addoption(parser):
    parser.addoption("--nightly", action="store_true", help="all random worlds, and long tests")
    parser.addoption("--world-seed", type=int, help="of the worlds that rotate; default: the day's")


def pytest_configure(config):
    # A shell starts what runs in its background without Ctrl-C, which some tests press.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.option.world_seed is None:
        config.option.world_seed = datetime.now(UTC).toordinal()
    worlds.set_run(seed=config.option.world_seed, nightly=config.option.nightly)
    if config.getoption("hypothesis_seed", None) is None:  # this runs before hypothesis' own
        config.option.hypothesis_seed = str(config.option.world_seed)


def pytest_report_header(config):
    part = "all" if config.option.nightly else "some"
    return f"random worlds: {part}, --world-seed {config.option.world_seed}"


def pytest_collection_modifyitems(config, items):
    """Leave the tests marked nightly to a run with --nightly."""
    if config.option.nightly:
        return
    long = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


@pytest.fixture
def run(capsys):
    """Run the command line; return its exit status, standard output and standard error."""

    def run(*arguments):
        status = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def own_problem(tmp_path):
    """A folder with a problem whose names are markup, and its files."""
    folder = tmp_path / "own"
    write_markup_problem(folder)
    return folder
