"""The command line in a process of its own."""

import subprocess
import sys

RUN = "from voilattice.cli import main; main()"


def process(*arguments, code=RUN, **options):
    """Start the command line, or other code."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip
