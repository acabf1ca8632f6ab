"""What the commands that begin with a table share: its options, reading, and whose fault it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import click

from voilattice.cli.parameters import option_of
from voilattice.errors import InputError, VoilatticeError
from voilattice.extras import need_extra

__all__ = ["list_names", "name_options", "on_table"]

SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t"}  # what is hard to type in a shell


def on_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument DATA and the options of its columns.

    The command gets the path, the table, and how its columns are to be read (`Columns`).
    """

    @functools.wraps(command)
    def run(
        data: str,
        ignore: Sequence[str],
        numeric: Sequence[str],
        categorical: Sequence[str],
        states: Sequence[str],
        missing: Sequence[str],
        separator: str | None,
        decimal: str,
        encoding: str | None,
        **options: Any,
    ) -> None:
        need_extra("learn", "learning from a table")
        from voilattice.learning.cells import MISSING
        from voilattice.learning.data_tables import read_table
        from voilattice.learning.preparation import Columns

        columns = Columns(
            list_names(ignore), list_names(numeric), list_names(categorical), _states(states)
        )
        try:
            table = read_table(
                data, missing=MISSING.union(missing), decimal=decimal, encoding=encoding,
                separator=SEPARATOR_NAMES.get(separator or "", separator),
            )  # fmt: skip
        except VoilatticeError as error:
            raise name_options(error, data, None) from None
        command(data, table, columns, **options)

    decorators = (
        click.argument("data", type=click.Path(), metavar="DATA"),
        click.option("--ignore", multiple=True, metavar="A,B", help="Columns to leave out."),
        click.option("--numeric", multiple=True, metavar="A,B", help="Columns to cut into bins."),
        click.option("--categorical", multiple=True, metavar="A,B", help="Columns never to cut."),
        click.option(
            "--states",
            multiple=True,
            metavar="X=a,b,c",
            help="The states of a column, in this order; repeatable.",
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="TEXT",
            help="Another mark of a missing cell; repeatable.",
        ),
        click.option(
            "--separator",
            metavar="CHARACTER",
            help="What separates the cells, or the word tab (default: the one of , ; tab | that "
            "the header has most often).",
        ),
        click.option(
            "--decimal",
            default=".",
            show_default=True,
            metavar="SIGN",
            help="The decimal sign: . or ,",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            help="The encoding of the text, such as cp1252 (default: UTF-8, or what the file "
            "begins with).",
        ),
    )
    decorated: Callable[..., None] = run
    for decorator in reversed(decorators):
        decorated = decorator(decorated)
    return decorated


def name_options(error: VoilatticeError, data: str, costs: str | None) -> VoilatticeError:
    """Return an error about parameters of the library as one about options and files."""
    first, _, rest = error.place.partition(".")
    if not first or first.startswith("--"):
        return error  # its text names the file, or the option
    options = {name for p in click.get_current_context().command.params for name in p.opts}
    if first == "data":
        place = data
    elif (option := option_of(first, options)) is not None and first != "costs":
        place = option
    else:
        place, rest = costs or data, error.place
    return type(error)(error.message, f"{place}: {rest}" if rest else place, error.remedies)


def list_names(given: Sequence[str]) -> list[str]:
    """Return the names in lists with commas."""
    return [name.strip() for entry in given for name in entry.split(",") if name.strip()]


def _states(given: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in given:
        name, equals, listed = entry.partition("=")
        states = listed.split(",")
        if not (name and equals and all(states)):
            raise InputError(f"must be COLUMN=a,b,c, got {entry!r}", "--states")
        if name in found:
            raise InputError(f"{name!r} is given twice", f"--states {entry}")
        found[name] = states
    return found
