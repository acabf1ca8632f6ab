"""What the command line calls the parameters of the library, and what was given for them.

Errors of the library name parameters (`errors.Remedy`, and places). This is the only table that
turns them into options; an option that a command does not have is not named to its user.

Some commands end with another command to type. `given_options` has the words of the first that the
second needs too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import click
from click.core import ParameterSource

from voilattice.budgets import Deadline

__all__ = ["given_options", "option_of"]

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


def given_options(context: click.Context, names: Iterable[str]) -> list[str]:
    """Return the words of the command line for some parameters: the options given, with values."""
    parameters = {parameter.name: parameter for parameter in context.command.params}
    words: list[str] = []
    for name in names:
        parameter = parameters[name]
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(parameter, click.Option) or not is_given:
            continue
        value, option = context.params[name], parameter.opts[0]
        if parameter.is_flag:
            words.append(option)
            continue
        for one in value if parameter.multiple else (value,):
            words += [option, f"{one.seconds:g}" if isinstance(one, Deadline) else str(one)]
    return words
