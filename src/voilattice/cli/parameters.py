"""What the command line calls the parameters of the library.

Errors of the library name parameters (`errors.Remedy`, and places). This is the only table that
turns them into options; an option that a command does not have is not named to its user.
"""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["option_of"]

# Where the name is not that of the parameter, with hyphens.
_OPTIONS = {
    "memory_limit": "--memory",
    "forbidden": "--forbid",
    "required": "--require",
    "n_jobs": "--jobs",
    "n_folds": "--folds",
    "budgets": "--budget",
}


def option_of(parameter: str, options: Collection[str]) -> str | None:
    """Return the option for a parameter, or None: none of `options` is for it."""
    option = _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")
    return option if option in options else None
