"""How the server answers an error: its status, and a line for whoever asked.

Errors of the library name parameters. Here they become fields of a request. The budgets (memory,
states, sets) belong to the server: whoever asks cannot change them, and is told where they can be.
"""

from __future__ import annotations

from voilattice.errors import Remedy, TooLargeError, UnknownNameError, VoilatticeError

__all__ = ["Busy", "UnknownProblem", "describe", "status_of"]


class Busy(VoilatticeError):
    """There is too much to do, or nobody to do it: ask again later."""


class UnknownProblem(UnknownNameError):
    """There is no problem of that name."""


_STATUS = ((UnknownProblem, 404), (TooLargeError, 413), (Busy, 503))

# What the library calls its parameters, and the server the fields of a request.
_FIELDS = {
    "evidence": "evidence",
    "features": "features",
    "policy": "policy",
    "kind": "stakes.kind",
    "expected": "stakes.expected",
}
_ELSEWHERE = Remedy("use the command line, where this limit of the server can be raised")


def status_of(error: VoilatticeError) -> int:
    """Return the HTTP status that answers an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


def describe(error: VoilatticeError) -> str:
    """Return an error as one line that names fields of the request."""
    remedies = [r for r in error.remedies if r.parameter is None or r.parameter in _FIELDS]
    if len(remedies) < len(error.remedies):
        remedies.append(_ELSEWHERE)
    return type(error)(error.message, error.place, remedies).describe(_FIELDS.get)
