"""What a request says of a case: raw values become states, and errors name their field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voilattice.errors import InputError, located
from voilattice.model.problem import Evidence, Problem

__all__ = ["read_case"]


def read_case(problem: Problem, case: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case as `advise` takes it, with states in place of raw values."""
    known = {field: case.get(field) or {} for field in ("evidence", "given")}
    states = {field: _states(problem, field, values) for field, values in known.items()}
    for feature in states["evidence"]:
        if feature in states["given"]:
            raise InputError(f"{feature!r} is in evidence and in given")
    return {**case, **states}


def _states(problem: Problem, field: str, values: Evidence) -> dict[str, str]:
    states: dict[str, str] = {}
    for feature, value in values.items():
        with located(f"{field}.{feature}"):
            states |= problem.further(problem.merge_evidence({feature: value}))
    return states
