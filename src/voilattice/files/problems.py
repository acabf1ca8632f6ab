"""Problem files: a network and a TOML file that says what is bought, decided and paid.

`load_problem` takes the path of such a file, the path of a folder with a ``problem.toml``, or the
name of a built-in problem. `find_problem` says which of these a name means. `write_problem` writes
a folder from which `load_problem` reads an equal problem. ``docs/problem-files.md`` describes the
format.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from voilattice.errors import InputError, TooLargeError, UnknownNameError, located, within
from voilattice.files.networks import NAMELESS, READABLE, read_network, read_text, write_network
from voilattice.model.costs import ConditionalCost, Discount, FeatureCosts, Group
from voilattice.model.network import Network
from voilattice.model.problem import Misclassification, Problem
from voilattice.wording import nearest, quote

__all__ = [
    "BUILTIN",
    "FILE_NAME",
    "ProblemSource",
    "builtin_problems",
    "find_problem",
    "load_problem",
    "parse_problem",
    "parse_toml",
    "read_costs",
    "write_problem",
]

FILE_NAME = "problem.toml"
BUILTIN = "builtin:"  # a name with this prefix is always the built-in problem, never a file
MAX_PROBLEM_BYTES = 10_000_000
COST_TABLES = ("costs", "groups", "conditional_costs", "discounts")


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
        folder = resources.files("voilattice") / "problems" / self.name
        with resources.as_file(folder) as path:
            yield path / FILE_NAME


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
    network: str = "network.bif",
    stakes: tuple[str, float] | None = None,
) -> Path:
    """Write a problem to a folder and return the path of its problem file.

    Parameters
    ----------
    folder
        Created if it does not exist. An existing problem file is not overwritten.
    network
        The name of the network's file; the extension chooses the format.
    stakes
        Write the misclassification costs as this kind and this a-priori expected cost, instead of
        the matrix.
    """
    import tomli_w

    folder = Path(folder)
    path = folder / FILE_NAME
    with within(str(path)):
        if not isinstance(problem.costs, FeatureCosts):
            raise InputError(
                f"costs of type {type(problem.costs).__name__} cannot be written; "
                f"only FeatureCosts can"
            )
        if Path(network).name != network or Path(network).suffix in NAMELESS:
            raise InputError(
                f"the network's file must be a plain name in a format that keeps names, "
                f"got {quote(network)}"
            )
        for file in (path, folder / network):
            if file.exists():
                raise InputError(f"{file.name} is there already; choose another folder")
        if stakes is not None:
            same = problem.with_expected(*stakes).misclassification
            if not np.array_equal(same, problem.misclassification):
                raise InputError("differ from the problem's misclassification costs", "stakes")
        with _file_errors("written"):
            folder.mkdir(parents=True, exist_ok=True)
            write_network(problem.network, folder / network)
            document = _document(problem, problem.costs, network)
            if stakes is not None:
                document["misclassification"] = {"kind": stakes[0], "expected": stakes[1]}
            path.write_bytes(tomli_w.dumps(document).encode())
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


def read_costs(path: str | Path) -> tuple[FeatureCosts, Misclassification | None]:
    """Return the costs in a file that has only the cost tables of a problem file."""
    path = Path(path)
    with within(str(path)):
        document = _toml(path)
        _check_keys(document, (*COST_TABLES, "misclassification"), required=("costs",))
        stakes = None
        if "misclassification" in document:
            section = _expect(document["misclassification"], dict, "misclassification")
            stakes = _misclassification(section)
        return _feature_costs(document), stakes


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
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}") from None
    except ValueError:
        raise InputError("not valid TOML: a number has thousands of digits") from None
    except RecursionError:
        raise InputError("not valid TOML: it is nested too deeply") from None


def parse_problem(
    document: Mapping[str, Any], folder: Path, *, network: Network | None = None
) -> Problem:
    """Return the problem in the tables of a problem file; its network is in `folder`.

    Parameters
    ----------
    network
        The network, if it has been read already.
    """
    known = ("title", "network", *COST_TABLES, "misclassification", "evidence", "bins")
    _check_keys(document, known, required=("network", "costs", "misclassification"))
    evidence = _expect(document.get("evidence", {}), dict, "evidence")
    for feature, value in evidence.items():
        if not isinstance(value, str | int | float):  # a raw value; a truth value is one too
            raise InputError(f"must be text or a number, got {quote(value)}", f"evidence.{feature}")
    bins = _expect(document.get("bins", {}), dict, "bins")
    for feature in bins:
        _expect_all(bins[feature], float, f"bins.{feature}")
    section = _expect(document["network"], dict, "network")
    with located("network"):
        _check_keys(section, ("file", "target", "features", "joint"), required=("target",))
        target = _expect(section["target"], str, "target")
        features = None
        if "features" in section:
            features = _expect_all(section["features"], str, "features")
        network = network or _network(section, folder)
    return Problem.create(
        network,
        target,
        _feature_costs(document),
        _misclassification(_expect(document["misclassification"], dict, "misclassification")),
        features=features,
        evidence=evidence,
        title=_expect(document.get("title", ""), str, "title"),
        bins=bins,
    )


def _network(section: Mapping[str, Any], folder: Path) -> Network:
    if ("file" in section) == ("joint" in section):
        raise InputError(
            "needs either file or joint, " + ("not both" if "file" in section else "found none")
        )
    if "file" in section:
        file = _expect(section["file"], str, "file")
        with located("file"):
            if not file:
                raise InputError("must name a file, got ''")
            return read_network(folder / file)
    joint = _expect(section["joint"], dict, "joint")
    with located("joint"):
        _check_keys(joint, names := ("variables", "states", "probabilities"), required=names)
        states = _expect(joint["states"], dict, "states")
        return Network.from_joint(
            _expect_all(joint["variables"], str, "variables"),
            {name: _expect_all(states[name], str, f"states.{name}") for name in states},
            _expect_all(joint["probabilities"], float, "probabilities"),
        )


def _feature_costs(document: Mapping[str, Any]) -> FeatureCosts:
    return FeatureCosts(
        _expect(document["costs"], dict, "costs"),
        tuple(_groups(document.get("groups", []))),
        tuple(_conditional_costs(document.get("conditional_costs", []))),
        tuple(_discounts(document.get("discounts", []))),
    )


def _groups(entries: Any) -> Iterable[Group]:
    for place, entry in enumerate(_expect_all(entries, dict, "groups")):
        with located(f"groups[{place}]"):
            _check_keys(entry, names := ("name", "overhead", "features"), required=names)
            features = _expect_all(entry["features"], str, "features")
            yield Group(_expect(entry["name"], str, "name"), entry["overhead"], tuple(features))


def _conditional_costs(entries: Any) -> Iterable[ConditionalCost]:
    for place, entry in enumerate(_expect_all(entries, dict, "conditional_costs")):
        with located(f"conditional_costs[{place}]"):
            _check_keys(entry, names := ("feature", "when", "cost"), required=names)
            when = _expect(entry["when"], dict, "when")
            for feature, state in when.items():
                _expect(state, str, f"when.{feature}")
            feature = _expect(entry["feature"], str, "feature")
            yield ConditionalCost(feature, tuple(when.items()), entry["cost"])


def _discounts(entries: Any) -> Iterable[Discount]:
    for place, entry in enumerate(_expect_all(entries, dict, "discounts")):
        with located(f"discounts[{place}]"):
            _check_keys(entry, names := ("name", "off"), required=names)
            off = _expect(entry["off"], dict, "off")
            yield Discount(_expect(entry["name"], str, "name"), off)


def _misclassification(section: Mapping[str, Any]) -> Misclassification:
    if not section:
        raise InputError("must hold the matrix, or kind and expected", "misclassification")
    # The rows of a matrix are tables, so a class may also be named kind or expected.
    scaled = [key for key in ("kind", "expected") if not isinstance(section.get(key, {}), dict)]
    if not scaled:
        return section
    with located("misclassification"):
        _check_keys(section, names := ("kind", "expected"), required=names)
        return (_expect(section["kind"], str, "kind"), section["expected"])


def _document(problem: Problem, costs: FeatureCosts, network: str) -> dict[str, Any]:
    """Return the problem as the tables of its file; the opposite of `parse_problem`."""
    document: dict[str, Any] = {"title": problem.title} if problem.title else {}
    document["network"] = {
        "file": network,
        "target": problem.target,
        "features": list(problem.features),
    }
    document["costs"] = dict(costs.prices)
    document["misclassification"] = {
        predicted: dict(zip(problem.classes, row, strict=True))
        for predicted, row in zip(problem.classes, problem.misclassification.tolist(), strict=True)
    }
    if problem.bins:
        document["bins"] = {name: list(cuts) for name, cuts in problem.bins.items()}
    if problem.evidence:
        document["evidence"] = dict(problem.evidence)
    groups = [
        {"name": group.name, "overhead": group.overhead, "features": list(group.features)}
        for group in costs.groups
    ]
    conditional = [
        {"feature": entry.feature, "when": dict(entry.when), "cost": entry.cost}
        for entry in costs.conditional
    ]
    discounts = [{"name": each.name, "off": dict(each.off)} for each in costs.discounts]
    for key, entries in zip(COST_TABLES[1:], (groups, conditional, discounts), strict=True):
        if entries:
            document[key] = entries
    return document


def _check_keys(
    section: Mapping[str, Any], known: tuple[str, ...], *, required: tuple[str, ...]
) -> None:
    for key in section:
        if key not in known:
            raise UnknownNameError(f"unknown key{nearest(key, known)}", key)
    for key in required:
        if key not in section:
            raise InputError("is missing", key)


_WANTED = {str: "text", dict: "a table", list: "a list", float: "a number"}
_T = TypeVar("_T")


def _expect(value: Any, kind: type[_T], place: str) -> _T:
    """Return `value` if it has that type (an integer is a number too), else raise `InputError`."""
    if not isinstance(value, int | float if kind is float else kind) or isinstance(value, bool):
        # Show the value as it is in the file, not as Python writes it.
        is_plain = isinstance(value, str | int | float | list | dict) and not isinstance(
            value, bool
        )
        found = quote(value) if is_plain else str(value).lower()
        raise InputError(f"must be {_WANTED[kind]}, got {found}", place)
    return cast(_T, value)


def _expect_all(value: Any, kind: type[_T], place: str) -> list[_T]:
    items = _expect(value, list, place)
    return [_expect(item, kind, f"{place}[{k}]") for k, item in enumerate(items)]
