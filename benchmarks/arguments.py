"""The command line that the benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def run(main: Callable[..., None], doc: str | None, *, large: str | None = None) -> None:
    """Call `main` with whether the command line asks for small sizes.

    With `large`, the help text of ``--large``, also with whether it asks for that.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="run the same code on small problems, in seconds; the ratios then mean nothing",
    )
    if large is not None:
        parser.add_argument("--large", action="store_true", help=large)
    main(*vars(parser.parse_args()).values())
