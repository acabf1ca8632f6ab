"""Folders of a report: a page with tables and pictures, and the numbers as CSV beside it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from voilattice.errors import InputError

__all__ = ["csv_text", "inline_svg", "write_files"]


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
