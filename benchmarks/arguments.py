"""The command line that the benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping


def run(
    main: Callable[..., None],
    doc: str | None,
    *,
    large: str | None = None,
    files: Mapping[str, str] | None = None,
) -> None:
    """Call `main` with whether the command line asks for small sizes.

    With `large`, the help text of ``--large``, also with whether it asks for that. With `files`,
    the help texts of options, also with the files that it names, or None.
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
    for option, text in (files or {}).items():
        parser.add_argument(option, metavar="FILE", help=text)
    main(*vars(parser.parse_args()).values())
