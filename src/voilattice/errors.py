"""Errors that speak to the person at the keyboard.

Every error caused by input derives from `VoilatticeError`. Its text is one line that says where
the input is wrong, what was found and what would be right. The place is collected while the error
moves up the call stack: `located` puts a key in front of the place, and `within` puts the file or
option in front of the text. The result is ``heart.toml: costs.chol: must be >= 0, got -3``.

The message does not say what would help. For that, an error carries `Remedy` entries, which name
parameters of the library. The command line and the server replace these with their own names.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = [
    "ClusterError",
    "DataWarning",
    "InputError",
    "MissingPackageError",
    "Remedy",
    "TooLargeError",
    "UnknownNameError",
    "VoilatticeError",
    "located",
    "warn_user",
    "within",
]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that would help.

    Parameters
    ----------
    text
        What to do, as an order: "raise the budget".
    parameter
        The parameter of the library to set, if there is one.
    """

    text: str
    parameter: str | None = None


class VoilatticeError(Exception):
    """Something given to voilattice is wrong; the text says where, what, and what would be right.

    Parameters
    ----------
    message
        What is wrong and what would be right.
    place
        Where it is wrong: keys joined by dots.
    remedies
        What would help; any one of these may be enough.
    """

    def __init__(self, message: str, place: str = "", remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(message, place, tuple(remedies))
        self.message, self.place, self.remedies = message, place, tuple(remedies)

    def __str__(self) -> str:
        return self.describe(lambda parameter: parameter)

    @property
    def complaint(self) -> str:
        """Where and what, without the remedies."""
        return f"{self.place}: {self.message}" if self.place else self.message

    def describe(self, name_of: Callable[[str], str | None]) -> str:
        """Return the error as one line, with other names for the parameters.

        Parameters
        ----------
        name_of
            Returns the other name of a parameter, or None if the reader cannot set it. A place
            that is a parameter is renamed too. Remedies that the reader cannot use are left out.
        """
        place = (name_of(self.place) if self.place else None) or self.place
        said = f"{place}: {self.message}" if place else self.message
        advice = []
        for remedy in self.remedies:
            if remedy.parameter is None:
                advice.append(remedy.text)
            elif (name := name_of(remedy.parameter)) is not None:
                advice.append(f"{remedy.text} ({name})")
        if not advice:
            return said
        *others, last = advice
        return f"{said}; " + (f"{', '.join(others)}, or {last}" if others else last)


class InputError(VoilatticeError, ValueError):
    """A value, a table or a file that is not what it should be."""


class UnknownNameError(VoilatticeError, KeyError):
    """A name that the problem does not have."""


class TooLargeError(VoilatticeError, ValueError):
    """Work that would exceed its budget of memory, size or time."""


class ClusterError(VoilatticeError, RuntimeError):
    """Other processes that cannot be reached, or that ended before their work was done."""


class MissingPackageError(VoilatticeError, ImportError):
    """A package that is not installed; the text names the extra that brings it."""


class DataWarning(UserWarning):
    """Something odd in the data, which can still be used."""


def warn_user(message: str) -> None:
    """Give a `DataWarning` at the line that called voilattice."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("voilattice."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)


@contextmanager
def located(key: str) -> Iterator[None]:
    """Put a key in front of the place of any `VoilatticeError` raised inside."""
    try:
        yield
    except VoilatticeError as error:
        place = f"{key}.{error.place}" if error.place else key
        raise type(error)(error.message, place, error.remedies) from None


@contextmanager
def within(holder: str) -> Iterator[None]:
    """Put a file, an option or a line in front of the text of any error raised inside."""
    try:
        yield
    except VoilatticeError as error:
        raise type(error)(f"{holder}: {error.complaint}", "", error.remedies) from None
