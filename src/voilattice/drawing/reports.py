"""Folders of a report: a page with tables and pictures, and the numbers as CSV beside it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from voilattice.errors import InputError

__all__ = ["STYLE", "csv_text", "inline_svg", "write_files"]

# Of a page with tables. A wide table scrolls inside its box (class "wide").
STYLE = """
body { max-width: 68rem; margin: 1.5rem auto; padding: 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #dfe4ea; text-align: right;
         vertical-align: top; }
th { font-weight: 600; }
small { display: block; color: #5b6675; }
figure { margin: .6rem 0; } figure svg { max-width: 100%; height: auto; }
details { max-width: 70ch; } summary { cursor: pointer; }
"""


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_files(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write texts to files; a file replaces an older one only when it is complete."""
    for name, text in files.items():
        draft = folder / f".{name}.{os.getpid()}"  # another run may write it too
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(folder / name)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise InputError(
                f"cannot be written: {error.strerror or error}", str(folder / name)
            ) from None
    return [folder / name for name in files]


def inline_svg(svg: str) -> str:
    """Return a drawing for use inside a page."""
    return svg[svg.index("<svg") :]
