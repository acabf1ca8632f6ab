"""Problem files: a TOML file that says what is bought, decided and paid, and a network.

The network has a file of its own, or is written in the problem file, as a joint table or by nodes.
`load_problem` takes the path of such a file, the path of a folder with a ``problem.toml``, or the
name of a built-in problem. `find_problem` says which of these a name means. `write_problem` writes
a folder from which `load_problem` reads an equal problem. ``docs/problem-files.md`` describes the
format.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from voilattice.errors import InputError, TooLargeError, UnknownNameError, within
from voilattice.files.networks import NAMELESS, READABLE, read_text, write_network
from voilattice.files.problem_tables import CostFile, parse_costs, parse_problem, problem_tables
from voilattice.files.toml_errors import explain_toml_error
from voilattice.files.toml_text import format_nodes
from voilattice.model.problem import Problem
from voilattice.wording import nearest, quote

__all__ = [
    "BUILTIN",
    "FILE_NAME",
    "CostFile",
    "ProblemSource",
    "builtin_problems",
    "find_problem",
    "load_problem",
    "parse_toml",
    "read_costs",
    "write_problem",
]

FILE_NAME = "problem.toml"
BUILTIN = "builtin:"  # a name with this prefix is always the built-in problem, never a file
MAX_PROBLEM_BYTES = 10_000_000
TOO_DEEP = "it is nested too deeply"

# A key of 200 parts, a.b.c...: the parser needs the square of their number.
_LONG_KEY = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){200}""")


def builtin_problems() -> tuple[str, ...]:
    """Return the names of the built-in problems."""
    folder = resources.files("voilattice") / "problems"
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))


@dataclass(frozen=True, slots=True)
class ProblemSource:
    """What a path or a name stands for.

    Parameters
    ----------
    name
        The name of the built-in problem, or of the file (without its extension) or folder.
    path
        The problem file; None: the built-in problem of that name.
    note
        What else the name could mean, for the user; empty: nothing else.
    """

    name: str
    path: Path | None
    note: str = ""

    def load(self) -> Problem:
        """Return the problem."""
        with self.opened() as (problem, _, _):
            return problem

    @contextmanager
    def opened(self) -> Iterator[tuple[Problem, dict[str, Any], Path]]:
        """Return the problem, the tables of its file, and the folder that holds its network."""
        with self._file() as path:
            with within(str(path)):
                document = _toml(path)
                problem = parse_problem(document, path.parent)
            yield problem, document, path.parent

    @contextmanager
    def _file(self) -> Iterator[Path]:
        if self.path is not None:
            yield self.path
            return
        # All problems, because a problem may use the network of another one.
        with resources.as_file(resources.files("voilattice") / "problems") as folder:
            yield folder / self.name / FILE_NAME


def load_problem(path_or_name: str | Path) -> Problem:
    """Return the problem in a file or folder, or the built-in problem of that name.

    A file or folder with the name of a built-in problem wins. ``builtin:NAME`` is always the
    built-in problem, and a `Path` is always a file or folder (`find_problem`).

    >>> print(load_problem("figure1"))
    Figure 1 of the paper
      target    Y: T 0.352, F 0.648
      features  X1, X2
      costs     <FeatureCosts: 2 prices, 0 groups, 0 conditional prices>, monotone by construction
    """
    return find_problem(path_or_name).load()


def find_problem(path_or_name: str | Path) -> ProblemSource:
    """Return what a path or a name stands for: a problem file, or a built-in problem.

    A path that exists wins over a built-in problem of that name. The exception is a folder without
    a problem file, for example a folder of results: then the name means the built-in problem.
    """
    if not isinstance(path_or_name, str | os.PathLike):
        raise InputError(f"must be the path or the name of a problem, got {quote(path_or_name)}")
    if path_or_name == "":
        raise InputError("must name a problem, got ''")
    given, path = str(path_or_name), Path(path_or_name)
    if isinstance(path_or_name, str) and given.startswith(BUILTIN):
        name = given.removeprefix(BUILTIN)
        if name not in builtin_problems():
            near = nearest(name, builtin_problems())
            raise UnknownNameError(f"there is no built-in problem {quote(name)}{near}")
        return ProblemSource(name, None)
    is_builtin = isinstance(path_or_name, str) and given in builtin_problems()
    with within(quote(given)), _file_errors("read"):
        is_folder, exists = path.is_dir(), path.exists()
        holds_problem = not is_folder or (path / FILE_NAME).exists()
    if is_builtin and not (exists and holds_problem):
        note = f"the folder {given} holds no {FILE_NAME}: the built-in problem {given} is used"
        return ProblemSource(given, None, note if exists else "")
    if not holds_problem:
        raise InputError(f"{path}: the folder holds no {FILE_NAME}")
    if not exists and path.name == given and not path.suffix:
        near = nearest(given, builtin_problems())
        raise UnknownNameError(f"{quote(given)} is neither a file nor a built-in problem{near}")
    note = f"the {'folder' if is_folder else 'file'} {given} is used, not the built-in problem "
    note += f"({BUILTIN}{given})"
    file = path / FILE_NAME if is_folder else path
    # A folder keeps its whole name, dots included; "." gets the name of the current folder.
    name = path.resolve().name if is_folder else path.stem
    return ProblemSource(name, file, note if is_builtin else "")


def write_problem(
    problem: Problem,
    folder: str | Path,
    *,
    network: str | None = None,
    stakes: tuple[str, float] | None = None,
) -> Path:
    """Write a problem to a folder and return the path of its problem file.

    Parameters
    ----------
    folder
        Created if it does not exist. An existing problem file is not overwritten.
    network
        The name of the network's file; the extension chooses the format. None: a network that was
        read from a problem file is written into the problem file, any other to ``network.bif``.
    stakes
        Write the misclassification costs as this kind and this a-priori expected cost, instead of
        the matrix.
    """
    import tomli_w

    folder = Path(folder)
    path = folder / FILE_NAME
    with within(str(path)):
        costs = problem.pricing.tables()
        if network is None and not problem.network.is_inline:
            network = "network.bif"
        if network is not None and (
            Path(network).name != network or Path(network).suffix in NAMELESS
        ):
            raise InputError(
                f"the network's file must be a plain name in a format that keeps names, "
                f"got {quote(network)}"
            )
        for file in (path, *([] if network is None else [folder / network])):
            if file.exists():
                raise InputError(f"{file.name} is there already; choose another folder")
        if stakes is not None:
            same = problem.with_expected(*stakes).misclassification
            if not np.array_equal(same, problem.misclassification):
                raise InputError("differ from the problem's misclassification costs", "stakes")
        with _file_errors("written"):
            folder.mkdir(parents=True, exist_ok=True)
            if network is not None:
                write_network(problem.network, folder / network)
            document = problem_tables(problem, costs, network)
            if stakes is not None:
                document["misclassification"] = {"kind": stakes[0], "expected": stakes[1]}
            text = tomli_w.dumps(document)
            if network is None:
                text += f"\n{format_nodes(problem.network)}"
            path.write_bytes(text.encode())
    return path


@contextmanager
def _file_errors(done: str) -> Iterator[None]:
    """Turn an error of the operating system into an `InputError`."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be {done}: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, InputError | TooLargeError):
            raise
        raise InputError(f"cannot be {done}: {error}") from None  # a NUL in a file name


def read_costs(path: str | Path) -> CostFile:
    """Return what stands in a file that has only the cost tables of a problem file, and labels."""
    path = Path(path)
    with within(str(path)):
        return parse_costs(_toml(path))


def _toml(path: Path) -> dict[str, Any]:
    with _file_errors("read"):
        size = path.stat().st_size
        # Reading a pipe or a device might never end.
        if not path.is_file():
            raise InputError("this is not a file")
        if size > MAX_PROBLEM_BYTES:
            raise TooLargeError(
                f"the file has {size} bytes; a problem file may have at most {MAX_PROBLEM_BYTES}"
            )
        text = read_text(path)
    if path.suffix.lower() in READABLE:
        raise InputError("this is a network file; give a problem file (TOML) that names it")
    return parse_toml(text)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a problem file."""
    if _LONG_KEY.search(text):
        raise InputError(f"not valid TOML: {TOO_DEEP}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {explain_toml_error(text, error)}") from None
    except ValueError:
        raise InputError("not valid TOML: a number has thousands of digits") from None
    except RecursionError:
        raise InputError(f"not valid TOML: {TOO_DEEP}") from None
