"""Problems that come with a request.

An upload is a problem file (TOML) and, unless it holds the network itself, the network file that it
names. Nothing else is ever opened: the network must be part of the upload, and what is read is a
copy under a name of our own. A problem without a title gets the name of its file, if that is a
short and plain one: people read it in place of the name that the server gives to an upload.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from voilattice.errors import InputError, TooLargeError, VoilatticeError, within
from voilattice.files.networks import READABLE
from voilattice.files.problem_tables import parse_problem
from voilattice.files.problems import parse_toml
from voilattice.model.problem import Problem
from voilattice.wording import quote

__all__ = ["MAX_BYTES", "MAX_FILES", "is_upload", "read_upload", "upload_id"]

MAX_BYTES = 5_000_000
MAX_FILES = 4

_ID = re.compile("upload-[0-9a-f]{32}")
_PLAIN = re.compile(r"\w[\w .-]{0,59}")  # a file's name that can be a title


def upload_id(files: Mapping[str, bytes]) -> str:
    """Return a name for an upload that the same files always get."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(content).digest())
    return f"upload-{digest.hexdigest()[:32]}"


def is_upload(name: str) -> bool:
    """Return whether a name is that of an upload."""
    return _ID.fullmatch(name) is not None


def read_upload(files: Mapping[str, bytes]) -> Problem:
    """Return the problem in some files, by their names.

    Raises
    ------
    InputError
        There is no problem file, or more than one, or something is wrong in it.
    """
    if sum(map(len, files.values())) > MAX_BYTES:
        raise TooLargeError(f"an upload may have at most {MAX_BYTES:,} bytes")
    by_name = {PurePosixPath(name.replace("\\", "/")).name: data for name, data in files.items()}
    problems = [name for name in by_name if name.lower().endswith(".toml")]
    if len(problems) != 1:
        found = ", ".join(map(quote, sorted(by_name))) or "nothing"
        raise InputError(
            f"an upload must have one problem file (.toml) and its network, got {found}"
        )
    (name,) = problems
    problem = _read(name, by_name)
    stem = PurePosixPath(name).stem
    return problem if problem.title or not _PLAIN.fullmatch(stem) else replace(problem, title=stem)


def _read(name: str, by_name: Mapping[str, bytes]) -> Problem:
    """Return the problem of a problem file, with the network that it names."""
    with within(name), tempfile.TemporaryDirectory() as folder:
        document = parse_toml(_text(by_name[name]))
        section = document.get("network")
        if isinstance(section, dict) and isinstance(file := section.get("file"), str):
            if file not in by_name:
                raise InputError(
                    f"the upload does not include {file}, which the problem file names",
                    "network.file",
                )
            suffix = Path(file).suffix.lower()
            if suffix not in READABLE:
                wanted = ", ".join(sorted(READABLE))
                raise InputError(
                    f"{quote(file)} is not in a known format; it must end in one of {wanted}",
                    "network.file",
                )
            (Path(folder) / f"network{suffix}").write_bytes(by_name[file])
            section["file"] = f"network{suffix}"
            try:
                return parse_problem(document, Path(folder))
            except VoilatticeError as error:
                # The file is called as the user calls it.
                message = error.message.replace(str(Path(folder) / f"network{suffix}"), file)
                raise type(error)(message, error.place, error.remedies) from None
        return parse_problem(document, Path(folder))


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text") from None
