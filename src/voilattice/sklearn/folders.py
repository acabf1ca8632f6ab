"""A fitted classifier in a folder: an ordinary problem, its policy, and what scikit-learn needs.

    problem.toml, network.bif, README.md    the problem (`files.problems`, `learning.problems`)
    policy.json                             the policy (`files.policies`)
    estimator.json                          labels, columns, settings, and how the recipe was chosen

Every command takes the folder: ``voilattice apply FOLDER new.csv --policy FOLDER/policy.json``.
Nothing in it runs code, unlike a pickle.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, VoilatticeError, within
from voilattice.files.networks import read_text
from voilattice.files.policies import load_policy, save_policy
from voilattice.files.problems import FILE_NAME, load_problem, write_problem
from voilattice.learning.problems import FILES, README, check_output
from voilattice.learning.recipes import Recipe
from voilattice.learning.selection import Choice, Trial
from voilattice.model.costs import Discount, Group
from voilattice.sklearn.decisions import make_decisions
from voilattice.sklearn.inputs import Labels
from voilattice.wording import quote

if TYPE_CHECKING:
    from voilattice.sklearn.classifier import AcquiringClassifier

__all__ = ["load_classifier", "save_classifier"]

FORMAT = "voilattice classifier"
VERSION = 1
POLICY, ESTIMATOR = "policy.json", "estimator.json"
PLAIN = (str, int, float, bool)


def save_classifier(classifier: AcquiringClassifier, folder: Path, *, force: bool) -> Path:
    """Write a fitted classifier to a folder, and return the folder."""
    check_output(folder, force=force, files=(*FILES, POLICY, ESTIMATOR))
    with within(str(folder)):
        document = json.dumps(_document(classifier), indent=1)
    if classifier.learned_ is not None:
        source = "Learned by `voilattice.sklearn.AcquiringClassifier`."
        classifier.learned_.write(folder, source=source, force=force)
    else:
        for name in FILES if force else ():
            (folder / name).unlink(missing_ok=True)
        write_problem(classifier.problem_, folder)
        title = "# A problem\n\nSaved by `voilattice.sklearn.AcquiringClassifier`.\n"
        (folder / README).write_text(title, encoding="utf-8")
    save_policy(classifier.policy_, folder / f".{POLICY}")
    os.replace(folder / f".{POLICY}", folder / POLICY)
    (folder / f".{ESTIMATOR}").write_text(document, encoding="utf-8")
    os.replace(folder / f".{ESTIMATOR}", folder / ESTIMATOR)
    return folder


def load_classifier(kind: type[AcquiringClassifier], folder: Path) -> AcquiringClassifier:
    """Return the classifier in a folder."""
    path = folder / ESTIMATOR
    if (folder / FILE_NAME).is_file() and not (path.exists() or (folder / POLICY).exists()):
        raise InputError(
            f"{folder}: a folder of a problem, not of a saved classifier; read it with "
            f"voilattice.load_problem"
        )
    with within(str(path)):
        try:
            document = json.loads(read_text(path))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            if isinstance(error, VoilatticeError):
                raise
            raise InputError(f"not valid JSON: {error}") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError(f"not a saved classifier: the key 'format' must be {FORMAT!r}")
        if document.get("version") != VERSION:
            raise InputError(f"version {quote(document.get('version'))} is not {VERSION}")
    problem = load_problem(folder)
    policy = load_policy(folder / POLICY, problem)
    with within(str(path)):
        try:
            classifier = kind(**_decode(document["settings"]))
            classifier.problem_, classifier.policy_ = problem, policy
            _restore(classifier, document)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, VoilatticeError):
                raise
            raise InputError(f"not a saved classifier: {type(error).__name__} {error}") from None
    return classifier


def _document(classifier: AcquiringClassifier) -> dict[str, Any]:
    choice = classifier.choice_
    return {
        "format": FORMAT,
        "version": VERSION,
        "settings": _encode(classifier.get_params(deep=False), "settings"),
        "labels": _encode_labels(classifier.classes_),
        "columns": [[name, own] for name, own in classifier._columns.items()],
        "has_names": hasattr(classifier, "feature_names_in_"),
        "recipe": classifier.recipe_,
        "choice": None if choice is None else _encode(asdict(choice), "choice"),
    }


def _restore(classifier: AcquiringClassifier, document: Mapping[str, Any]) -> None:
    """Set what `fit` sets, from a document."""
    classifier.classes_ = _decode_labels(document["labels"])
    classifier._labels = Labels.of(classifier.classes_)
    classifier._columns = {str(name): str(own) for name, own in document["columns"]}
    classifier.n_features_in_ = len(classifier._columns)
    if document["has_names"]:
        names = list(classifier._columns.values())
        classifier.feature_names_in_ = np.array(names, dtype=object)
    classifier.recipe_, classifier.learned_ = document["recipe"], None
    classifier.choice_ = None
    if document["choice"] is not None:
        choice = _decode(document["choice"])
        recipe = None if choice["recipe"] is None else Recipe(**choice["recipe"])
        trials = tuple(Trial(**trial) for trial in choice["trials"])
        classifier.choice_ = Choice(choice["name"], recipe, trials, choice["n_rows"])
    if classifier._labels.states != classifier.problem_.classes:
        raise InputError("the labels are not those of the problem")
    decisions = make_decisions(classifier.misclassification, classifier._labels)
    if set(decisions.names) != set(classifier.problem_.decisions):
        raise InputError("the decisions are not those of the problem")
    classifier.decisions_ = decisions.labels_of(classifier.problem_.decisions)


def _encode(value: Any, place: str) -> Any:
    """Return a setting as JSON has it; mappings keep the types of their keys."""
    match value:
        case None | str() | int() | float():
            found: Any = value
        case np.generic() | np.ndarray():
            found = _encode(value.tolist(), place)
        case _ if hasattr(value, "to_dict"):  # a Series of pandas
            found = _encode(value.to_dict(), place)
        case _ if hasattr(value, "to_list"):  # a Series of polars
            found = _encode(value.to_list(), place)
        case Recipe():
            found = {"recipe": _encode(asdict(value), place)}
        case Group():
            found = _encode((value.name, value.overhead, value.features), place)
        case Discount():
            found = _encode((value.name, value.off), place)
        case Mapping():
            pairs = [[_encode(k, place), _encode(v, f"{place}.{k}")] for k, v in value.items()]
            found = {"mapping": pairs}
        case tuple():
            found = {"tuple": [_encode(item, place) for item in value]}
        case list():
            found = [_encode(item, place) for item in value]
        case _:
            raise InputError(f"{quote(value)} cannot be saved; pickle or joblib may do", place)
    return found


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    [(kind, content)] = value.items()
    if kind == "mapping":
        return {_decode(k): _decode(v) for k, v in content}
    if kind == "tuple":
        return tuple(_decode(item) for item in content)
    return Recipe(**_decode(content))


def _encode_labels(classes: NDArray[Any]) -> dict[str, Any]:
    if classes.dtype.kind not in "biufUO" or not all(
        isinstance(label, PLAIN) for label in classes.tolist()
    ):
        odd = next(label for label in classes.tolist() if not isinstance(label, PLAIN))
        raise InputError(f"labels such as {quote(odd)} cannot be saved; pickle or joblib may do")
    return {"dtype": classes.dtype.str, "values": classes.tolist()}


def _decode_labels(document: Mapping[str, Any]) -> NDArray[Any]:
    return np.array(document["values"], dtype=np.dtype(document["dtype"]))
