"""Errors that speak to the person at the keyboard.

Every error caused by input derives from `VoilatticeError`. Its text is one line that says where
the input is wrong, what was found and what would be right; `located` puts the place in front as
the error travels outwards, so the text ends up as ``heart.toml: costs.chol: must be >= 0, got -3``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = [
    "InputError",
    "TooLargeError",
    "UnknownNameError",
    "VoilatticeError",
    "located",
    "nearest",
]


class VoilatticeError(Exception):
    """Something given to voilattice is wrong; the text says what and where."""


class InputError(VoilatticeError, ValueError):
    """A value, a table or a file that is not what it should be."""


class UnknownNameError(VoilatticeError, KeyError):
    """A name that the problem does not have."""

    # KeyError would show the repr of its text, quotes and all.
    __str__ = Exception.__str__


class TooLargeError(VoilatticeError, ValueError):
    """Work that would exceed its budget of memory, size or time."""


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put ``place: `` in front of the text of any `VoilatticeError` raised inside."""
    try:
        yield
    except VoilatticeError as error:
        raise type(error)(f"{place}: {error}") from None


def nearest(name: str, names: Iterable[str]) -> str:
    """Return ``" (nearest: 'x')"`` when one of `names` is close to `name`, else ``""``."""
    close = get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f" (nearest: {close[0]!r})" if close else ""
