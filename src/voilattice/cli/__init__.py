"""The command line: thin, results on stdout, complaints on stderr in one line.

`group` knows the commands and loads the one that is run. One module holds one family of commands:
`problems`, `new`, `sets`, `policies`, `consultation`, `cases`, `what_if`, `report`, `data`,
`evaluation`, `arena`, `serve`, `warm`, `completion`. They share `options` and `parameters` (what
commands are given), `tables` (where a table is given), `console`, `advice` and `distributions` (how
results look), `terminal` (lines and tables), `progress` and `interrupts`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing itself is not loaded: Ctrl-C must be understood at once
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

__all__ = ["main"]

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Nothing is imported before the ``try``: Ctrl-C while modules are loaded is no traceback.
    """
    try:
        import signal

        # Whoever runs this process may have a handler, or ignore Ctrl-C: then it stays so.
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            _run(arguments)
            return
        signal.signal(signal.SIGINT, _interrupt)
        try:
            _run(arguments)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


def _run(arguments: Sequence[str] | None) -> None:
    from voilattice.cli.group import run

    run(arguments)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupt the command; while code is loaded, end the process.

    An exception inside an import, or inside a callback of LLVM, can be lost, printed, or come out
    as another error.
    """
    while frame is not None:
        file = frame.f_code.co_filename
        if file == "<frozen importlib._bootstrap>" or "llvmlite" in file:
            sys.stderr.write("interrupted\n")
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt
