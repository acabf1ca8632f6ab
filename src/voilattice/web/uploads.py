"""Problems that come with a request.

An upload is a problem file (TOML) and, unless it holds a joint distribution, the network file that
it names. Nothing else is ever opened: the name in the problem file must be the name of a file that
came along, and what is read is a copy under a name of our own.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from voilattice.errors import InputError, TooLargeError, quote, within
from voilattice.files.networks import READABLE
from voilattice.files.problems import parse_problem, parse_toml
from voilattice.model.problem import Problem

__all__ = ["MAX_BYTES", "read_upload", "upload_id"]

MAX_BYTES = 5_000_000


def upload_id(files: Mapping[str, bytes]) -> str:
    """Return a name for an upload that the same files always get."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(content).digest())
    return f"upload-{digest.hexdigest()[:16]}"


def read_upload(files: Mapping[str, bytes]) -> Problem:
    """Return the problem in some files, by their names.

    Raises
    ------
    InputError
        There is no problem file, or more than one, or something is wrong in it.
    """
    if sum(map(len, files.values())) > MAX_BYTES:
        raise TooLargeError(f"at most {MAX_BYTES:,} bytes can be uploaded")
    by_name = {PurePosixPath(name.replace("\\", "/")).name: data for name, data in files.items()}
    problems = [name for name in by_name if name.lower().endswith(".toml")]
    if len(problems) != 1:
        found = ", ".join(map(quote, sorted(by_name))) or "nothing"
        raise InputError(f"one problem file (TOML) and its network are wanted, got {found}")
    (name,) = problems
    with within(name), tempfile.TemporaryDirectory() as folder:
        document = parse_toml(_text(by_name[name]))
        section = document.get("network")
        if isinstance(section, dict) and isinstance(file := section.get("file"), str):
            if file not in by_name:
                others = ", ".join(quote(other) for other in sorted(by_name) if other != name)
                raise InputError(
                    f"{quote(file)} did not come along; " + (f"got {others}" if others else
                    "upload it together with the problem file"), "network.file",
                )  # fmt: skip
            suffix = Path(file).suffix.lower()
            if suffix not in READABLE:
                raise InputError(f"{quote(file)} is in no format that is known", "network.file")
            (Path(folder) / f"network{suffix}").write_bytes(by_name[file])
            section["file"] = f"network{suffix}"
            try:
                return parse_problem(document, Path(folder))
            except InputError as error:
                # The place is called as the user calls it.
                message = str(error).replace(str(Path(folder) / f"network{suffix}"), file)
                raise InputError(message) from None
        return parse_problem(document, Path(folder))


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text") from None
