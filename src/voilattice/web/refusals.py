"""How the server answers an error: its status, and a line for whoever asked.

Errors of the library name parameters. Here they become fields of a request. The budgets (memory,
states, sets) belong to the server: whoever asks cannot change them, and is told where they can be.
Every refusal is a document of type ``application/problem+json`` (RFC 9457), whose `detail` is that
line.
"""

from __future__ import annotations

import json
import traceback
from http import HTTPStatus
from pathlib import Path

from starlette.responses import Response

from voilattice.documents import Document, Json, key
from voilattice.errors import Remedy, TooLargeError, UnknownNameError, VoilatticeError

__all__ = [
    "Broken",
    "Busy",
    "ProblemDetails",
    "Refusal",
    "TooMany",
    "UnknownProblem",
    "describe",
    "place_of",
    "refusal_document",
    "refusal_of",
    "status_of",
]

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
STOPPED = "the server is being stopped"


class Busy(VoilatticeError):
    """There is too much to do, or nobody to do it: ask again later."""


class TooMany(VoilatticeError):
    """One client asks for too much at once."""


def place_of(error: BaseException) -> str:
    """Return the class of an error and where in the code it happened, without its message."""
    name = type(error).__name__
    if not (frames := traceback.extract_tb(error.__traceback__)):
        return name
    return f"{name} in {Path(frames[-1].filename).name}, line {frames[-1].lineno}"


class Broken(VoilatticeError):
    """The server met an error of its own."""

    @classmethod
    def by(cls, error: Exception) -> Broken:
        """Say where an error happened, and nothing of what was asked: it may be about a patient."""
        return cls(f"the server met an error of its own ({place_of(error)}): please report it")


class UnknownProblem(UnknownNameError):
    """There is no problem of that name."""


_STATUS = (
    (UnknownProblem, 404),
    (TooLargeError, 413),
    (TooMany, 429),
    (Broken, 500),
    (Busy, 503),
)

# What the library calls its parameters, and the server the fields of a request.
_FIELDS = {
    "evidence": "evidence",
    "features": "features",
    "feature": "feature",
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


class ProblemDetails(Document):
    """Why there is no answer (RFC 9457)."""

    type: str = key("Always about:blank: the status says what kind of error it is.")
    title: str = key("The name of the status.")
    status: int = key("The HTTP status.")
    detail: str = key("What is wrong, where, and what would be right, in a line.")


def refusal_document(status: int, detail: str) -> Json:
    """Return a refusal as a document."""
    title = HTTPStatus(status).phrase
    return ProblemDetails.json_of(
        None, type="about:blank", title=title, status=status, detail=detail
    )


def refusal_of(error: VoilatticeError) -> Json:
    """Return the document that answers an error."""
    return refusal_document(status_of(error), describe(error))


class Refusal(Response):
    """A response that says why there is no answer."""

    media_type = MEDIA_TYPE

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(json.dumps(refusal_document(status, detail)).encode(), status)
        if status in {429, 503}:
            self.headers["Retry-After"] = str(RETRY_SECONDS)
