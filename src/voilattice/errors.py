"""Errors that speak to the person at the keyboard.

Every error caused by input derives from `VoilatticeError`. Its text is one line that says where
the input is wrong, what was found and what would be right. The place is collected as the error
travels outwards: `located` puts a key in front of it, `within` the file or option that holds it
all, and the text ends up as ``heart.toml: costs.chol: must be >= 0, got -3``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = [
    "InputError",
    "TooLargeError",
    "UnknownNameError",
    "VoilatticeError",
    "located",
    "nearest",
    "quote",
    "rough",
    "within",
]

# So many names are listed where none of them is near to what was given.
MAX_LISTED = 8
MAX_SHOWN = 60


class VoilatticeError(Exception):
    """Something given to voilattice is wrong; the text says where, what, and what would be right.

    Parameters
    ----------
    message
        What is wrong and what would be right.
    place
        Where: keys with dots between.
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message, place)
        self.message, self.place = message, place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class InputError(VoilatticeError, ValueError):
    """A value, a table or a file that is not what it should be."""


class UnknownNameError(VoilatticeError, KeyError):
    """A name that the problem does not have."""


class TooLargeError(VoilatticeError, ValueError):
    """Work that would exceed its budget of memory, size or time."""


@contextmanager
def located(key: str) -> Iterator[None]:
    """Put a key in front of the place of any `VoilatticeError` raised inside."""
    try:
        yield
    except VoilatticeError as error:
        place = f"{key}.{error.place}" if error.place else key
        raise type(error)(error.message, place) from None


@contextmanager
def within(holder: str) -> Iterator[None]:
    """Put a file, an option or a line in front of the text of any error raised inside."""
    try:
        yield
    except VoilatticeError as error:
        raise type(error)(f"{holder}: {error}") from None


def nearest(name: object, names: Collection[str]) -> str:
    """Return ``" (nearest: 'x')"`` when one of `names` is close to `name`, else list a few."""
    close = get_close_matches(name, names, n=1, cutoff=0.6) if isinstance(name, str) else ()
    if close:
        return f" (nearest: {close[0]!r})"
    return f" (there are: {', '.join(names)})" if 0 < len(names) <= MAX_LISTED else ""


def quote(value: object) -> str:
    """Return a value as it is quoted in an error: short enough to be read."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def rough(number: int) -> str:
    """Return a count that may be too large for a float, or for a line."""
    return f"{number:,}" if number < 10**12 else f"10^{math.log10(number):.0f}"
