"""Settings and fixtures of the whole suite."""

import pytest
from helpers.problems import write_markup_problem
from hypothesis import settings

from voilattice.cli import main

# Seeded, so that a failure is the same everywhere; without deadlines, because machines are noisy.
settings.register_profile("voilattice", deadline=None, derandomize=True)
settings.load_profile("voilattice")


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
