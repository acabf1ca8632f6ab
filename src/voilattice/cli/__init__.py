"""The command line: thin, results on stdout, complaints on stderr in one line.

`group` knows the commands and loads the one that is run. One module holds one family of commands:
`problems`, `sets`, `policies`, `data`, `serve`, `completion`. They share `options` (what commands
are given), `console` (how results look) and `progress`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing itself is not loaded: Ctrl-C must be understood at once
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Nothing is imported before the ``try``: Ctrl-C while modules are loaded is no traceback.
    """
    interrupts: list[int] = []
    try:
        import signal

        # Ctrl-C inside an import can come out as another error: any error after it is its doing.
        def interrupt(number: int, frame: object) -> None:
            interrupts.append(number)
            raise KeyboardInterrupt

        # Whoever runs this process may have a handler, or ignore Ctrl-C: then it stays so.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupt)

        from voilattice.cli.group import run

        run(arguments)
    except BaseException as error:
        if not interrupts and not isinstance(error, KeyboardInterrupt):
            raise
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
