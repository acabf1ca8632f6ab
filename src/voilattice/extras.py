"""Packages that only some commands need: an extra brings them, ``pip install "voilattice[web]"``.

The core has what every policy needs on a problem file, with a network in any usual format. Whatever
imports one of the packages below calls `need_extra` first, so that a missing one is an error in one
line.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from voilattice.errors import MissingPackageError

__all__ = ["EXTRAS", "has_extra", "need_extra"]

# Extra: its modules, and what people call them. pyproject.toml has the packages (a test compares).
_LEARN = {
    "sklearn": "scikit-learn",
    "scipy": "SciPy",
    "pyagrum": "pyAgrum",
    "threadpoolctl": "threadpoolctl",
}
EXTRAS = {
    "arena": {**_LEARN, "matplotlib": "matplotlib", "pooch": "pooch"},
    "dask": {"distributed": "Dask (the package distributed)"},
    "gpu": {"cupy": "CuPy"},
    "learn": _LEARN,
    "networks": {"pyagrum": "pyAgrum"},
    "networkx": {"networkx": "networkx"},
    "parquet": {"pyarrow": "pyarrow"},
    "plots": {"matplotlib": "matplotlib"},
    "sklearn": _LEARN,
    "streed": {"pystreed": "pystreed"},
    "web": {
        "fastapi": "FastAPI",
        "uvicorn": "Uvicorn",
        "python_multipart": "python-multipart",
        "prometheus_client": "prometheus-client",
    },
}


def need_extra(extra: str, what: str = "", place: str = "") -> None:
    """Raise `MissingPackageError` if a package of an extra is not installed.

    Parameters
    ----------
    what
        What needs it: "reading Parquet".
    place
        The parameter that asked for it, if there is one.
    """
    for module, package in EXTRAS[extra].items():
        if not _is_there(module):
            subject = f"{what} needs" if what else "needs"
            raise MissingPackageError(
                f'{subject} {package}: pip install "voilattice[{extra}]"', place
            )


def has_extra(extra: str) -> bool:
    """Return whether all packages of an extra are installed."""
    return all(map(_is_there, EXTRAS[extra]))


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    return find_spec(module) is not None
