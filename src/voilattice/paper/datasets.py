"""The five medical data sets of Section 4, with Turney's test costs.

Each data set is a public file. It is fetched once, kept in the user's cache, and refused unless it
has the checksum given here. `VOILATTICE_DATA` names a folder to read instead. The folder holds CSV
files with a header, named as in `DataSet.files`, with the features and a column `class`.

The prices are those of Turney (1995), JAIR 2, Appendix A, in Canadian dollars, as the UCI
repository distributes them: what a test costs by itself, and what the first test of a group (blood,
treadmill) costs in addition. Two details are less certain. For liver, one source alone gives the
price of gammagt and says that all five tests share one blood sample. For hepatitis, we infer that
alk_phosphate and sgot share the blood sample.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from voilattice.errors import InputError, UnknownNameError, within
from voilattice.learning.cells import MISSING, strip_cell
from voilattice.learning.data_tables import DataTable, as_table
from voilattice.learning.table_files import read_content, read_texts
from voilattice.model.costs import FeatureCosts, Group
from voilattice.wording import nearest, quote

__all__ = ["DATASETS", "DataSet", "load_dataset"]

FOLDER_VARIABLE = "VOILATTICE_DATA"
Texts = tuple[str | None, ...]  # a column as it stands in a file; None is missing

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
# UCI withdrew Pima; this copy is pinned by commit.
PIMA = (
    "https://raw.githubusercontent.com/justmarkham/scikit-learn-videos/"
    "1a20cab8fedf814e83b4b75cae81a28a79cd3753/data/pima-indians-diabetes.data"
)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Where a data set is, what its columns are, and what its tests cost.

    Parameters
    ----------
    name
        The name of the problem that is learned from it.
    files
        For each file: its name in a folder, its public address, and its SHA-256 there.
    columns
        The columns of the public file, which has no header.
    labels
        What the codes of a column mean, in the order of the states.
    prices, groups
        What each feature costs by itself; what the first feature of a group adds, and its members.
    """

    name: str
    title: str
    files: tuple[tuple[str, str, str], ...]
    columns: tuple[str, ...]
    classes: Mapping[str, str]  # code -> state, in the order of the paper's P(Y)
    prices: Mapping[str, float]
    groups: Mapping[str, tuple[float, tuple[str, ...]]]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    class_from: str = "class"  # the public column that defines the class

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(self.prices)

    @property
    def costs(self) -> FeatureCosts:
        return FeatureCosts(
            dict(self.prices),
            tuple(Group(name, overhead, of) for name, (overhead, of) in self.groups.items()),
        )

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """The states of the columns whose codes have a meaning."""
        named = {**self.labels, "class": self.classes}
        return {column: tuple(labels.values()) for column, labels in named.items()}


def load_dataset(name: str, *, sources: Mapping[str, str] | None = None) -> DataTable:
    """Return the features and the class of a data set.

    Parameters
    ----------
    name
        One of `DATASETS`.
    sources
        Other addresses for some of the files, by file name: mirrors with the same checksums.
    """
    if name not in DATASETS:
        raise UnknownNameError(f"no data set {quote(name)}{nearest(name, DATASETS)}")
    data = DATASETS[name]
    folder = os.environ.get(FOLDER_VARIABLE)
    parts = []
    for file, address, checksum in data.files:
        if folder:
            parts.append(_read_from_folder(Path(folder) / file, data))
        else:
            parts.append(_fetch_public(data, file, (sources or {}).get(file, address), checksum))
    columns = {
        column: sum((part[column] for part in parts), ()) for column in (*data.features, "class")
    }
    labelled = {}
    for column, cells in columns.items():
        labels = data.classes if column == "class" else data.labels.get(column)
        with within(f"{name}: {column}"):
            labelled[column] = cells if labels is None else _label_codes(cells, labels)
    return DataTable(as_table(labelled).columns, _checksum_texts(labelled))


def _checksum_texts(columns: Mapping[str, Texts]) -> str:
    """Return the SHA-256 of a table's names and cells as they stand in the file."""
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    lines = (",".join(cell or "" for cell in row) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _label_codes(cells: Texts, labels: Mapping[str, str]) -> Texts:
    found: list[str | None] = []
    for row, cell in enumerate(cells):
        code = cell.removesuffix(".0") if cell is not None else None
        if code is not None and code not in labels:
            raise InputError(
                f"row {row + 1}: the code {quote(code)} is not one of {', '.join(labels)}"
            )
        found.append(None if code is None else labels[code])
    return tuple(found)


def _read_from_folder(path: Path, data: DataSet) -> dict[str, Texts]:
    with within(str(path)):
        texts = read_texts(read_content(path), path)
        for name in (*data.features, "class"):
            if name not in texts:
                raise UnknownNameError(f"no column {quote(name)}{nearest(name, texts)}")
    cells = {name: map(strip_cell, column) for name, column in texts.items()}
    return {name: tuple(c if c not in MISSING else None for c in cells[name]) for name in cells}


def _fetch_public(data: DataSet, file: str, address: str, checksum: str) -> dict[str, Texts]:
    import pooch

    try:
        path = pooch.retrieve(
            address,
            known_hash=f"sha256:{checksum}",
            fname=f"{checksum[:12]}-{file}",
            path=pooch.os_cache("voilattice"),
        )
    except ValueError as error:
        raise InputError(
            f"{address}: the file there is not the known one (SHA-256 {checksum[:12]}...): "
            f"{str(error).splitlines()[0]}"
        ) from None
    except OSError as error:  # no connection, no such host, no such page
        raise InputError(
            f"{address}: cannot be fetched ({type(error).__name__}); download it yourself, and set "
            f"{FOLDER_VARIABLE} to a folder that holds it as {file}, with a header"
        ) from None
    lines = Path(path).read_text(encoding="ascii").splitlines()
    rows = [line.replace(",", " ").split() for line in lines if line.strip()]
    columns: dict[str, Texts] = {
        name: tuple(None if row[k] == "?" else row[k] for row in rows)
        for k, name in enumerate(data.columns)
    }
    source = columns[data.class_from]
    if data.class_from != "class":
        columns["class"] = tuple(_class_code(data.name, cell) for cell in source)
    return columns


def _class_code(name: str, cell: str | None) -> str:
    """Return the class that another column defines."""
    value = float(cell or "nan")
    return str(int(value >= 3)) if name == "liver" else str(int(value > 0))


def _uci(file: str, path: str, checksum: str) -> tuple[str, str, str]:
    return file, UCI + path, checksum


def _binary(columns: tuple[str, ...]) -> dict[str, dict[str, str]]:
    return {column: {"0": "no", "1": "yes"} for column in columns}


_LIVER = ("mcv", "alkphos", "sgpt", "sgot", "gammagt")
_PIMA = (
    "times_preg", "glucose_tol", "diastolic_bp", "triceps", "insulin", "mass_index", "pedigree",
    "age",
)  # fmt: skip
_HEART = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak",
    "slope", "ca", "thal",
)  # fmt: skip
_HEPATITIS = (
    "age", "sex", "steroid", "antivirals", "fatigue", "malaise", "anorexia", "liver_big",
    "liver_firm", "spleen", "spiders", "ascites", "varices", "bilirubin", "alk_phosphate", "sgot",
    "albumin", "protime", "histology",
)  # fmt: skip
_THYROID = (
    "age", "sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "sick",
    "pregnant", "thyroid_surgery", "I131_treatment", "query_hypothyroid", "query_hyperthyroid",
    "lithium", "goitre", "tumor", "hypopituitary", "psych", "TSH", "T3", "TT4", "T4U",
)  # fmt: skip

DATASETS: Mapping[str, DataSet] = {
    data.name: data
    for data in (
        DataSet(
            name="liver",
            title="Liver disorders (BUPA): three drinks a day or more?",
            files=(
                _uci(
                    "liver.csv",
                    "liver-disorders/bupa.data",
                    "a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
                ),
            ),
            columns=(*_LIVER, "drinks", "selector"),
            class_from="drinks",
            classes={"0": "below-3", "1": "3-or-more"},
            prices=dict.fromkeys(_LIVER, 5.17) | {"gammagt": 7.76},
            groups={"blood": (2.10, _LIVER)},
        ),
        DataSet(
            name="diabetes",
            title="Pima Indians diabetes",
            files=(
                (
                    "pima.csv",
                    PIMA,
                    "33e704cdafa8769a75728e4658dcce5bc1da1ce36174603687fe545f46e39394",
                ),
            ),
            columns=(*_PIMA, "class"),
            classes={"0": "negative", "1": "positive"},
            prices=dict.fromkeys(_PIMA, 1.0) | {"glucose_tol": 15.51, "insulin": 20.68},
            groups={"blood": (2.10, ("glucose_tol", "insulin"))},
        ),
        DataSet(
            name="heart",
            title="Heart disease (Cleveland)",
            files=(
                _uci(
                    "heart.csv",
                    "heart-disease/processed.cleveland.data",
                    "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
                ),
            ),
            columns=(*_HEART, "num"),
            class_from="num",
            classes={"0": "absent", "1": "present"},
            prices=dict.fromkeys(_HEART, 1.0)
            | {"chol": 5.17, "fbs": 3.10, "restecg": 15.50, "ca": 100.90},
            groups={
                "blood": (2.10, ("chol", "fbs")),
                "scan": (101.90, ("thalach", "thal")),
                "exercise": (86.30, ("exang", "oldpeak", "slope")),
            },
            labels={
                "sex": {"0": "female", "1": "male"},
                "cp": {"1": "typical", "2": "atypical", "3": "non-anginal", "4": "asymptomatic"},
                **_binary(("fbs", "exang")),
                "restecg": {"0": "normal", "1": "st-t", "2": "hypertrophy"},
                "slope": {"1": "up", "2": "flat", "3": "down"},
                "thal": {"3": "normal", "6": "fixed", "7": "reversible"},
            },
        ),
        DataSet(
            name="hepatitis",
            title="Hepatitis: will the patient live?",
            files=(
                _uci(
                    "hepatitis.csv",
                    "hepatitis/hepatitis.data",
                    "9971f9d18abb4fc9dd6749eefb0f864b36fa7bdd59f54188c0b148a5c28214bc",
                ),
            ),
            columns=("class", *_HEPATITIS),
            classes={"2": "live", "1": "die"},
            prices=dict.fromkeys(_HEPATITIS, 1.0)
            | dict.fromkeys(("bilirubin", "alk_phosphate", "sgot", "albumin"), 5.17)
            | {"protime": 6.20},
            groups={
                "blood": (2.10, ("bilirubin", "alk_phosphate", "sgot", "albumin", "protime")),
            },
            # The other codes, 1 and 2, stay. UCI calls them no and yes, but most patients with
            # ascites 1 die, and few with ascites 2.
            labels={"sex": {"1": "male", "2": "female"}},
        ),
        DataSet(
            name="thyroid",
            title="Thyroid disease",
            files=(
                _uci(
                    "thyroid-train.csv",
                    "thyroid-disease/ann-train.data",
                    "3da53a156bda36cb0c97e9f4b6b111c9226c54c4aa00230de5604b787c47e3a6",
                ),
            ),
            columns=(*_THYROID, "FTI", "class"),
            classes={"1": "class-1", "2": "class-2", "3": "normal"},
            prices=dict.fromkeys(_THYROID, 1.0)
            | {"TSH": 20.68, "T3": 9.31, "TT4": 12.41, "T4U": 9.31},
            groups={"blood": (2.10, ("TSH", "T3", "TT4", "T4U"))},
            labels={"sex": {"0": "female", "1": "male"}, **_binary(_THYROID[2:16])},
        ),
    )
}
