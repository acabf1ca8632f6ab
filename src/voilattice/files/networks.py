"""Network files: the formats, chosen by the file's extension.

voilattice reads and writes the formats in `_TEXTS` and `_XMLS` itself, each in a module that says
how its tables are ordered; doubles are kept to the last bit. pyAgrum's own formats (`PYAGRUM`) are
read by pyAgrum in a separate process, which returns the network as BIF. The reason: pyAgrum's
readers can loop forever on a damaged file, and Python cannot interrupt a C++ loop in its own
process.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from voilattice.errors import InputError, TooLargeError, within
from voilattice.extras import need_extra
from voilattice.files.bif import parse_bif, to_bif
from voilattice.files.bifxml import parse_bifxml, to_bifxml
from voilattice.files.dsl import parse_dsl, to_dsl
from voilattice.files.net import parse_net, to_net
from voilattice.files.uai import parse_uai, to_uai
from voilattice.files.xdsl import parse_xdsl, to_xdsl
from voilattice.model.network import Network

__all__ = [
    "MAX_NETWORK_BYTES",
    "NAMELESS",
    "PYAGRUM",
    "READABLE",
    "WRITABLE",
    "read_network",
    "read_text",
    "write_network",
]

MAX_NETWORK_BYTES = 100_000_000

_TEXTS = {
    ".bif": (parse_bif, to_bif),
    ".net": (parse_net, to_net),
    ".dsl": (parse_dsl, to_dsl),
    ".uai": (parse_uai, to_uai),
}
# An XML file declares its encoding itself, so its reader takes bytes.
_XMLS = {
    ".xdsl": (parse_xdsl, to_xdsl),
    ".bifxml": (parse_bifxml, to_bifxml),
    ".xmlbif": (parse_bifxml, to_bifxml),
    ".xml": (parse_bifxml, to_bifxml),
}
_WRITERS = {extension: write for extension, (_, write) in (_TEXTS | _XMLS).items()}

# Pickles are left out on purpose, because a pickle can run any code. pyAgrum reads O3PRM but does
# not write it.
PYAGRUM = (".jgum", ".bgum", ".o3prm")
READABLE = (*_TEXTS, *_XMLS, *PYAGRUM)
WRITABLE = tuple(extension for extension in READABLE if extension != ".o3prm")

# Formats that keep no names of nodes and states.
NAMELESS = (".uai",)

# pyAgrum reads at least about 1 MB per second; a reader that takes longer than this hangs.
SECONDS = 20.0
SECONDS_PER_MB = 5.0
READER_MEMORY_BYTES = 8 << 30

# -P: do not search the current folder for modules, so that no code from there runs.
_READER = (sys.executable, "-P", "-m", "voilattice.files.pyagrum_reader")


def read_network(path: str | Path, *, max_bytes: int = MAX_NETWORK_BYTES) -> Network:
    """Read a network from a file in any format of `READABLE`, chosen by the file's extension.

    Raises
    ------
    InputError
        The file is missing, has an unknown extension, is not a valid network, or has a kind of
        node that is not supported.
    TooLargeError
        The file has more than `max_bytes` bytes. Such a file is not opened.
    """
    path = Path(path)
    with within(str(path)):
        extension = _known_extension(path, READABLE)
        try:
            size = path.stat().st_size
            if size > max_bytes:
                raise TooLargeError(
                    f"the file has {size} bytes; a network file may have at most {max_bytes} "
                    f"(in Python: read_network(path, max_bytes=...))"
                )
            if not path.is_file():
                raise InputError("this is not a file")
            if extension in _TEXTS:
                return _TEXTS[extension][0](read_text(path))
            if extension in _XMLS:
                return _XMLS[extension][0](path.read_bytes())
            return _read_with_pyagrum(path, extension, size)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}") from None


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def write_network(network: Network, path: str | Path) -> None:
    """Write a network to a file in any format of `WRITABLE`, chosen by the file's extension.

    Probabilities are written to the last bit. If the format cannot hold a name or a state of this
    network, `InputError` is raised and no file is written. UAI keeps no names at all; `.xdsl` and
    `.dsl` have every node after its parents, as GeNIe wants it.
    """
    path = Path(path)
    with within(str(path)):
        extension = _known_extension(path, WRITABLE)
        try:
            if extension in _WRITERS:
                path.write_text(_WRITERS[extension](network), encoding="utf-8")
            else:
                _write_with_pyagrum(network, path, extension)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}") from None


def _known_extension(path: Path, known: tuple[str, ...]) -> str:
    if "\0" in str(path):
        raise InputError("a file name must not contain a NUL character")
    extension = path.suffix.lower()
    if extension == ".pkl":
        raise InputError("a pickle runs the code it holds when it is opened; use .bif instead")
    if extension not in known:
        raise InputError(
            f"unknown network format {extension or '(no extension)'!r}; "
            f"the known formats are {' '.join(known)}"
        )
    return extension


def _read_with_pyagrum(path: Path, extension: str, size: int) -> Network:
    need_extra("networks", f"reading {extension}")
    with tempfile.TemporaryDirectory() as folder:
        # pyAgrum chooses its reader by the extension, in lower case.
        source = Path(folder, f"network{extension}")
        shutil.copyfile(path, source)
        result = Path(folder, "network.bif")
        limit = SECONDS + SECONDS_PER_MB * size / 1e6
        try:
            child = subprocess.run(
                [*_READER, source, result, str(READER_MEMORY_BYTES)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise InputError(
                f"pyAgrum did not finish reading it in {limit:.0f} s; the file is damaged"
            ) from None
        if child.returncode != 0 or not result.exists():
            said = child.stderr.decode(errors="replace").replace(str(source), path.name)
            raise InputError(f"not a valid {extension} network: {_first_sentence(said)}")
        return parse_bif(result.read_text(encoding="utf-8"))


def _first_sentence(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if not lines:
        return "pyAgrum could not read it"
    # In a traceback, only the last line is about the file.
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return line.removeprefix("[pyAgrum] ")


def _write_with_pyagrum(network: Network, path: Path, extension: str) -> None:
    need_extra("networks", f"writing {extension}")
    import pyagrum

    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, f"network{extension}")
        try:
            pyagrum.saveBN(network.to_pyagrum(), str(draft))
        except pyagrum.GumException as error:
            raise InputError(
                f"{extension} cannot hold this network ({_first_sentence(str(error))}); write .bif"
            ) from None
        try:
            copy = read_network(draft)
        except InputError:
            raise InputError(
                f"{extension} cannot hold a name of this network: what pyAgrum wrote cannot be "
                f"read again; write .bif"
            ) from None
        for name, states in zip(network.names, network.states, strict=True):
            if name not in copy.names or copy.states[copy.names.index(name)] != states:
                raise InputError(
                    f"{extension} does not keep the name or the states of {name!r}; write .bif"
                )
        path.write_bytes(draft.read_bytes())
