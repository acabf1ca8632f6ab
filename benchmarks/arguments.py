"""The command line that the benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def run(main: Callable[[bool], None], doc: str | None) -> None:
    """Call `main` with whether the command line asks for small sizes."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="run the same code on small problems, in seconds; the ratios then mean nothing",
    )
    main(parser.parse_args().small)
