"""What users give to a classifier: tables and labels, checked and named.

A data frame is read column by column, and only when a column is needed. The columns of an array are
called x0, x1, and so on. Labels may be of any type: `Labels` gives each class a state of the
problem's target, and gives the labels back as they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.budgets import Deadline
from voilattice.errors import InputError, UnknownNameError, VoilatticeError, located, warn_user
from voilattice.learning.cell_typing import make_case_column
from voilattice.learning.cells import MISSING, spell, strip_cell
from voilattice.model.problem import Problem
from voilattice.model.raw_values import UNSEEN, Codes
from voilattice.wording import count_noun, nearest, quote

__all__ = [
    "Labels",
    "LazyCodes",
    "Rows",
    "check_jobs",
    "check_lengths",
    "check_time",
    "check_weights",
    "find_seed",
    "name_label",
    "name_places",
    "name_target",
    "one_line",
    "read_rows",
    "split_labels",
]

TARGET = "target"
MAX_UNSEEN = 5  # values listed


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of cases: how many, the names of its columns as given, and a column at a place."""

    n_rows: int
    names: Sequence[str]
    column: Callable[[int], Any]
    has_names: bool  # the names are the user's own
    labels: Sequence[Any] = ()  # of a data frame whose columns are not all called by a text

    @property
    def features(self) -> list[str]:
        """The names without blanks around them, as a problem has them."""
        found = [strip_cell(name) for name in self.names]
        if twice := [name for name in found if found.count(name) > 1]:
            raise InputError(f"column {quote(twice[0])} is there more than once", "X")
        return found

    def place_of(self, key: object) -> int:
        """Return the place of a column by its label or name, or by its number if it has no label.

        Where labels are numbers, a number is a label and never a place.
        """
        is_truth = isinstance(key, bool)
        for place, label in enumerate(self.labels):
            if _equals(label, key) and isinstance(label, bool) == is_truth:
                return place
        if isinstance(key, str) and key in self.names:
            return list(self.names).index(key)
        has_places = not (self.has_names or any(isinstance(label, Real) for label in self.labels))
        places = range(len(self.names)) if has_places and not is_truth else range(0)
        if isinstance(key, int | np.integer) and key in places:
            return int(key)
        known = list(self.labels or self.names)
        raise UnknownNameError(f"no column {quote(key)}{nearest(key, known)}")

    def has(self, key: object) -> bool:
        """Return whether `place_of` finds a column."""
        try:
            self.place_of(key)
        except UnknownNameError:
            return False
        return True


def read_rows(data: Any, names: Sequence[str] | None = None) -> Rows:
    """Return the rows of a data frame, or of anything that makes a 2-D array.

    Parameters
    ----------
    names
        The columns of a data frame in the order wanted, if all of them are there; by default its
        own order.

    Raises
    ------
    ValueError, TypeError
        Of scikit-learn: there are no rows or columns, or the array is sparse, complex or not 2-D.
    """
    import narwhals as nw
    from sklearn.utils import check_array

    frame = nw.from_native(data, eager_only=True, pass_through=True) if _is_frame(data) else None
    if not isinstance(frame, nw.DataFrame):
        _check_shape(data)
        with one_line("X"):
            array = check_array(data, dtype=None, ensure_all_finite=False)
        return Rows(len(array), _numbered(array.shape[1]), lambda k: array[:, k], False)
    own = list(frame.columns)
    if not own or not len(frame):
        raise InputError(
            f"Found array with {len(frame)} sample(s) (shape={frame.shape}): at least one row and "
            f"one column are required",
            "X",
        )
    has_names = all(isinstance(name, str) for name in own)
    if not has_names:
        return Rows(len(frame), _numbered(len(own)), lambda k: frame[:, k], False, own)
    order = list(names) if names is not None and set(names) == set(own) else own
    return Rows(len(frame), order, lambda k: frame[order[k]], True)


def _check_shape(data: Any) -> None:
    """Raise `InputError` if this is no table, without printing what may be a long one."""
    if hasattr(data, "toarray"):  # sparse: scikit-learn refuses it, and some kinds are mappings too
        return
    is_records = isinstance(data, list | tuple) and bool(data) and isinstance(data[0], Mapping)
    if isinstance(data, Mapping) or is_records:
        kind = f"a {type(data).__name__}" + (" of mappings" if is_records else "")
        raise InputError(
            f"must be a data frame or a 2-D array, got {kind}; pandas.DataFrame(...) makes a data "
            f"frame of it",
            "X",
        )
    try:
        n_dimensions = np.ndim(data) if isinstance(data, list | tuple) else getattr(data, "ndim", 2)
    except ValueError:  # rows of different lengths, about which scikit-learn says enough
        return
    if n_dimensions == 1:
        raise InputError(
            f"Expected 2D array, got 1D array of {count_noun(len(data), 'value')} instead. Reshape "
            f"your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row",
            "X",
        )


def _is_frame(data: Any) -> bool:
    """Return whether this is a data frame; raise `InputError` if two columns have one name."""
    is_lazy = hasattr(data, "collect")  # a lazy frame has no cells
    if is_lazy or isinstance(data, type) or not hasattr(data, "columns"):
        return False
    header = list(getattr(data, "column_names", data.columns))
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise InputError(f"column {quote(min(twice, key=str))} is there more than once", "X")
    return True


def _numbered(n: int) -> list[str]:
    return [f"x{k}" for k in range(n)]


class LazyCodes(Mapping[str, Codes]):
    """The states of each feature in some cases, read when they are asked for.

    Parameters
    ----------
    column
        Returns the cells of a feature.
    """

    def __init__(self, problem: Problem, column: Callable[[str], Any]) -> None:
        self._problem, self._column = problem, column
        self._read: dict[str, tuple[Codes, NDArray[Any]]] = {}

    def __getitem__(self, name: str) -> Codes:
        if name not in self._read:
            with name_places(), located(f"X.{name}"):
                cells = make_case_column(self._column(name), MISSING).raw()
                self._read[name] = self._problem.reader(name).codes(cells), cells
        return self._read[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._problem.features)

    def __len__(self) -> int:
        return len(self._problem.features)

    @property
    def read(self) -> list[str]:
        """The features that were asked for."""
        return list(self._read)

    def warn_unseen(self, rows: Mapping[str, NDArray[np.bool_]]) -> None:
        """Warn once about the cells of these rows that stand for no state."""
        said = []
        for name, there in rows.items():
            codes, cells = self._read[name]
            values = list(dict.fromkeys(map(str, cells[there & (codes == UNSEEN)].tolist())))
            if values:
                more = ", ..." if len(values) > MAX_UNSEEN else ""
                said.append(f"{name} = {', '.join(map(quote, values[:MAX_UNSEEN]))}{more}")
        if said:
            warn_user(f"values that were not seen in fit are taken as missing: {'; '.join(said)}")


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The classes in scikit-learn's order, and the state of the target for each of them."""

    classes: NDArray[Any]
    states: tuple[str, ...]

    @classmethod
    def of(cls, classes: NDArray[Any]) -> Labels:
        """Name the states: by the label's text, with its type where two labels look alike."""
        texts = [name_label(label) for label in classes.tolist()]
        states: list[str] = []
        for label, text in zip(classes.tolist(), texts, strict=True):
            name = text if texts.count(text) == 1 else f"{text} ({type(label).__name__})"
            while name in states:
                name += "'"
            states.append(name)
        return cls(classes, tuple(states))

    def place_of(self, label: object) -> int:
        """Return the place of a class by its label, or by the text of its label."""
        for place, own in enumerate(self.classes.tolist()):
            if type(own) is type(label) and own == label:
                return place
        for place, own in enumerate(self.classes.tolist()):
            if _equals(own, label) or self.states[place] == label:
                return place
        raise UnknownNameError(
            f"no class {quote(label)}; the classes are "
            f"{', '.join(map(quote, self.classes.tolist()))}"
        )

    def __contains__(self, label: object) -> bool:
        try:
            self.place_of(label)
        except UnknownNameError:
            return False
        return True

    def encode(self, y: Any) -> Codes:
        """Return the place of each label's class."""
        found, codes = _different(_as_labels(y))
        with located("y"):
            places = [self.place_of(label) for label in found.tolist()]
        return np.array(places, dtype=np.intp)[codes]


def split_labels(y: Any) -> tuple[Labels, Codes]:
    """Return the classes of some labels, and the place of each label's class."""
    classes, codes = _different(_as_labels(y))
    return Labels.of(classes), codes


def _as_labels(y: Any) -> NDArray[Any]:
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    with one_line("y"):
        labels: NDArray[Any] = column_or_1d(_without_nulls(y), warn=True)
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            row = int((~np.isfinite(labels)).argmax()) + 1
            raise InputError(f"row {row}: Input y contains NaN or infinity", "y")
        with one_line("y"):
            check_classification_targets(labels)
    if labels.dtype.kind == "c":
        raise InputError("Complex data not supported", "y")
    if labels.dtype.kind == "O":
        for row, label in enumerate(labels):
            if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:  # noqa: PLR0124
                raise InputError(f"row {row + 1}: Input y contains NaN", "y")
    return labels


def _without_nulls(y: Any) -> Any:
    """Return labels of a nullable type of pandas, if none is missing, as an array of its own type.

    scikit-learn would make floats of them.
    """
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if kind is None or kind.kind not in "biu" or y.isna().any():
        return y
    return y.to_numpy(dtype=kind)


def _different(labels: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Return the different labels in order, and the place of each label among them."""
    kinds = set(map(type, labels.tolist())) if labels.dtype.kind == "O" else set()
    try:
        if len(kinds) < 2:
            classes, codes = np.unique(labels, return_inverse=True)
            return classes, codes
        # True and 1 are equal, but not the same label.
        places = {(type(label), label): label for label in labels.tolist()}
        order = sorted(places, key=lambda key: (key[0].__name__, key[1]))
        numbers = {key: place for place, key in enumerate(order)}
        classes = np.empty(len(order), dtype=object)
        classes[:] = [places[key] for key in order]
        return classes, np.array([numbers[type(y), y] for y in labels.tolist()], dtype=np.intp)
    except TypeError:
        raise InputError("the labels cannot be compared with each other", "y") from None


def name_label(label: object) -> str:
    """Return a label as a text, with its type where the text alone would not show."""
    text = spell(strip_cell(str(label)))
    return text if text.strip() and text.isprintable() else repr(label)


def _equals(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return False


def name_target(y: Any, columns: Iterable[str]) -> str:
    """Return a name for the target: that of the labels, or one that no column has."""
    taken = set(columns)
    own = getattr(y, "name", None)
    name = strip_cell(own) if isinstance(own, str) and own.isprintable() else ""
    name = name or TARGET
    while name in taken:
        name += "_"
    return name


def check_lengths(rows: Rows, labels: Sequence[Any] | NDArray[Any]) -> None:
    """Raise `InputError` unless there is a label for each row."""
    if len(labels) != rows.n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {rows.n_rows}, y "
            f"has {len(labels)}",
            "y",
        )


def check_weights(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return how many cases each row counts for; None: each counts once."""
    from sklearn.utils.validation import _check_sample_weight

    if weights is None:
        return None
    with one_line("sample_weight"):
        found: NDArray[np.float64] = _check_sample_weight(
            weights, np.empty((n_rows, 1)), ensure_non_negative=True
        )
    if not found.any():
        raise InputError("every row has the weight 0", "sample_weight")
    return found


def check_time(limit: Any) -> float | None:
    """Return a number of seconds, or raise `InputError`; None: no limit."""
    limit = limit.item() if isinstance(limit, np.number) else limit
    return Deadline(limit).seconds


def check_jobs(n_jobs: Any) -> None:
    """Raise `InputError` unless this is a number of processes, or None."""
    is_number = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_number or n_jobs == 0):
        raise InputError(
            f"must be a number of processes, or -1 for one per core, got {quote(n_jobs)}", "n_jobs"
        )


def find_seed(random_state: Any) -> int:
    """Return a seed, from anything that scikit-learn takes for one."""
    from sklearn.utils import check_random_state

    is_seed = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if is_seed and random_state >= 0:
        return int(random_state)
    with one_line("random_state"):
        return int(check_random_state(random_state).randint(2**31))


@contextmanager
def name_places() -> Iterator[None]:
    """Say X for the table in the errors of learning, and prices for its costs."""
    try:
        yield
    except VoilatticeError as error:
        first, dot, rest = error.place.partition(".")
        place = {"data": "X", "costs": "prices", "weights": "sample_weight"}.get(first, first)
        # There is no setting to leave a column out, or to name its kind.
        remedies = [remedy for remedy in error.remedies if remedy.parameter is None]
        raise type(error)(error.message, f"{place}{dot}{rest}", remedies) from None


@contextmanager
def one_line(place: str) -> Iterator[None]:
    """Make the errors of scikit-learn one line that names the place."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if isinstance(error, VoilatticeError):
            raise
        said = " ".join(str(error).split())
        if isinstance(error, TypeError):
            raise TypeError(f"{place}: {said}") from None
        raise InputError(said, place) from None
