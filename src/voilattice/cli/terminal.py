"""What text can be printed, in terminals of any width and in pipes: lines and tables.

Names come from files, so nothing here takes them for markup. In a terminal lines are wrapped
between words; what goes to a file or a pipe is not wrapped. No figure is ever cut.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["console", "print_lines", "print_table", "table"]

COLUMN_GAP = 3  # between two columns of a table
ENDLESS = 1_000_000  # columns: nothing is wrapped
NO_BREAK = "\u00a0"
TREE = " │├└─"  # what the lines of a tree begin with


def console() -> Console:
    """Return a console to which all text is plain: as wide as the terminal, or without an end."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, width=_width())


def _width() -> int:
    is_asked = os.environ.get("COLUMNS", "").isdecimal() and int(os.environ["COLUMNS"]) > 0
    if not is_asked and not sys.stdout.isatty():
        return ENDLESS
    return shutil.get_terminal_size((80, 24)).columns


def table(*columns: str) -> Table:
    """Return an empty table; the columns that begin with ``>`` hold figures, aligned right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        if column.startswith(">"):
            made.add_column(column[1:], justify="right", overflow="fold")
        else:
            made.add_column(column, overflow="fold")
    return made


def print_table(rows: Table) -> bool:
    """Print a table, and return True; one that does not fit is a list, a line for each cell."""
    out = console()
    widths = _fitting_widths(rows, out.width)
    if widths is not None:
        for column, width in zip(rows.columns, widths, strict=True):
            column.width = width
        out.print(rows)
        return True
    heads = [str(column.header).replace("\n", "") for column in rows.columns]
    for cells in zip(*(column.cells for column in rows.columns), strict=True):
        first, *others = map(str, cells)
        print_lines([f"{heads[0]} {first}" if len(others) > 1 else first], before="")
        for head, cell in zip(heads[1:], others, strict=True):
            if cell:
                print_lines([f"  {head}: {cell}" if head else f"  {cell}"], before="")
    return False


def _fitting_widths(rows: Table, room: int) -> list[int] | None:
    """Return the widths of the columns, figures and words whole; None: they do not fit.

    rich would break words, and in the end figures, to keep a column for each.
    """
    from rich.cells import cell_len

    widths, least = [], []
    for column in rows.columns:
        head, cells = str(column.header), [str(cell) for cell in column.cells]
        lines = [line for text in (head, *cells) for line in text.split("\n")]
        words = head.split() if column.justify == "right" else " ".join([head, *cells]).split()
        figures = cells if column.justify == "right" else []
        widths.append(max(map(cell_len, lines)))
        least.append(max(map(cell_len, [*words, *figures]), default=0))
    room -= COLUMN_GAP * (len(widths) - 1)
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda k: (widths[k] > least[k], widths[k]))
        widths[widest] -= 1
    return widths


def print_lines(lines: Iterable[str], *, before: str = "\n") -> None:
    """Print lines, an empty one before them; those of a tree are wrapped inside their branch."""
    width = _width()
    click.echo(before, nl=False)
    for line in lines:
        text = line.lstrip(TREE)
        stem = line[: len(line) - len(text)]
        # What follows a branch stands under it, and the trunk goes on.
        below = stem.replace("├", "│").replace("└", " ").replace("─", " ") + "  "
        # A figure keeps the word in front of it, and its unit: a percent sign, or a currency.
        whole = re.sub(r" (?=[\d%])|(?<=\d) (?=\S+$)", NO_BREAK, text)
        wrapped = textwrap.wrap(
            whole, width, initial_indent=stem, subsequent_indent=below,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        for part in wrapped or [line]:
            click.echo(part.replace(NO_BREAK, " "))
