"""Uploads in a folder, so that they survive a restart of the server.

Each upload is one file, named after its content (`upload_id`). It is written under another name and
renamed when it is complete. What is read must have the content that its name says. Links are not
followed. The uploads that were asked for longest ago make room for new ones.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from voilattice.errors import InputError
from voilattice.web.uploads import MAX_BYTES, is_upload, upload_id

__all__ = ["Shelf"]

MAX_KEPT = 200
MAX_KEPT_BYTES = 200_000_000

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # Windows has none


class Shelf:
    """Uploads in a folder, which is made if it does not exist."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self._folder).close()
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"cannot keep uploads there: {why}", str(folder)) from None

    def keep(self, name: str, files: Mapping[str, bytes]) -> None:
        """Write an upload; nothing is raised if the disk is full: the server still has it."""
        content = {file: base64.b64encode(data).decode() for file, data in files.items()}
        with suppress(OSError):
            handle, path = tempfile.mkstemp(dir=self._folder)  # for us alone to read
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(content, file)
                os.replace(path, self._folder / name)
            except OSError:
                os.unlink(path)
            self._make_room()

    def find(self, name: str) -> dict[str, bytes] | None:
        """Return the files of an upload; None: it is not here, or is not what it was."""
        if not is_upload(name):
            return None
        try:
            path = self._folder / name
            with open(os.open(path, os.O_RDONLY | _NO_LINKS), "rb") as file:
                text = file.read(2 * MAX_BYTES)  # base64 makes it a third longer
                os.utime(file.fileno() if os.utime in os.supports_fd else path)
            files = {file: base64.b64decode(content) for file, content in json.loads(text).items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return None
        return files if upload_id(files) == name else None

    def _make_room(self) -> None:
        """Drop the uploads that were asked for longest ago, if there are too many."""
        kept = [path for path in self._folder.iterdir() if is_upload(path.name)]
        kept.sort(key=lambda path: path.lstat().st_mtime, reverse=True)
        n_bytes = 0
        for place, path in enumerate(kept):
            n_bytes += path.lstat().st_size
            if place >= MAX_KEPT or n_bytes > MAX_KEPT_BYTES:
                path.unlink()
