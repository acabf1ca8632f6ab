"""The command that asks for a problem and writes its file.

Every question is a line or two, and the answer is typed behind ``>``. An answer that cannot be used
is asked for again. Nothing is written before the last answer.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import click

from voilattice.cli import terminal
from voilattice.cli.options import write
from voilattice.errors import InputError, UnknownNameError, VoilatticeError, within
from voilattice.model.costs import check_amount
from voilattice.model.network import Network, Table, check_names, table_of_rows
from voilattice.model.problem import Misclassification, Problem
from voilattice.model.stakes import KINDS
from voilattice.wording import count_noun, nearest, quote

__all__ = ["new_command"]

NOTHING = "-"  # a feature that depends on nothing
MATRIX = "each"  # every cost on its own

_T = TypeVar("_T")


@click.command(name="new")
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
def new_command(file: str, force: bool) -> None:
    """Ask for a problem in the terminal and write its commented file.

    The questions: what has to be decided, the features, their states, what depends on what, how
    probable everything is, and what everything costs. The file explains itself and shows what
    else it could say. It is a problem file like any other.
    """
    from voilattice.files.drafts import draft_problem

    _check_file(file, force)
    try:
        problem, stakes = _ask_problem()
    except click.Abort as abort:
        # click turns both Ctrl-C and the end of the input into this.
        if isinstance(abort.__context__, EOFError):
            raise InputError(f"{file}: the answers ended too early; nothing was written") from None
        click.echo(f"\n{file}: nothing was written", err=True)
        raise
    write(file, [draft_problem(problem, stakes)])
    _say(f"\n{file} is written. Go on with:")
    word = shlex.quote(file)
    click.echo(f"  voilattice show {word}\n  voilattice advise {word} --policy optimal")


def _check_file(file: str, force: bool) -> None:
    path = Path(file)
    with within(file):
        if path.suffix.lower() != ".toml":
            raise InputError("must end in .toml")
        if path.exists() and not path.is_file():
            raise InputError("cannot be written: this is not a file")
        if path.exists() and not force:
            raise InputError("is there already; --force overwrites it")
        if not path.parent.is_dir():
            raise InputError("cannot be written: No such file or directory")


def _ask_problem() -> tuple[Problem, tuple[str, float] | None]:
    """Return the problem and, if its stakes are of a scaled kind, that kind and amount."""
    title = _ask("A title, in a few words (Enter: none)", _text)
    currency = _ask("A currency for amounts, such as CAD (Enter: none)", _text)
    states: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    tables: dict[str, Table] = {}
    target = _ask("\nThe target: what has to be decided, such as fault", _name_besides(states))
    states[target] = _ask("Its states, with commas between, such as battery, starter", _states)
    tables[target] = _ask_table(target, states[target], {})
    _say("\nThe features: what can be found out, for a price.")
    prices: dict[str, float] = {}
    while feature := _ask(_next_feature(prices), _name_besides(states, required=not prices)):
        own = _ask(f"The states of {feature}, with commas between", _states)
        parents[feature] = _ask_parents(feature, target, states)
        above = {name: states[name] for name in parents[feature]}
        tables[feature] = _ask_table(feature, own, above)
        states[feature] = own
        prices[feature] = _ask(f"The price of {feature}", _amount)
    network = replace(Network.from_tables(states, parents, tables), is_inline=True)

    def with_stakes(stakes: Misclassification) -> Problem:
        return Problem.create(network, target, prices, stakes, title=title, currency=currency)

    return _ask_stakes(states[target], with_stakes)


def _next_feature(prices: Mapping[str, float]) -> str:
    if not prices:
        return "The name of the first feature, such as lights"
    return "\nThe name of the next feature (Enter: no more)"


def _ask_parents(feature: str, target: str, states: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what a feature depends on: the target, earlier features, both, or nothing."""

    def read(typed: str) -> list[str]:
        if typed == NOTHING and NOTHING not in states:
            return []
        names = _split(typed) or [target]
        for name in names:
            if name not in states:
                raise UnknownNameError(f"no node {quote(name)} yet{nearest(name, states)}")
        check_names("what it depends on", names)
        return names

    question = f"What {feature} depends on, of {', '.join(states)}"
    return _ask(f"{question} (Enter: {target}; {NOTHING}: nothing)", read)


def _ask_table(name: str, states: Sequence[str], parents: Mapping[str, Sequence[str]]) -> Table:
    """Return P(name | parents), asked for row by row."""
    listed, numbers = ", ".join(states), f"{len(states)} numbers that sum to 1"
    _say(f"The probabilities of {listed}: {numbers}, with spaces between.")

    def ask_row(given: Sequence[str]) -> list[float]:
        here = {parent: [state] for parent, state in zip(parents, given, strict=True)}

        def read(typed: str) -> list[float]:
            row = _numbers(typed, len(states))
            table_of_rows(name, states, here, [row])
            return row

        known = " and ".join(f"{p} = {s}" for p, s in zip(parents, given, strict=True))
        return _ask(f"If {known}: {listed}" if known else "", read)

    rows = [ask_row(given) for given in itertools.product(*parents.values())]
    return table_of_rows(name, states, parents, rows)


def _ask_stakes(
    classes: Sequence[str], with_stakes: Callable[[Misclassification], Problem]
) -> tuple[Problem, tuple[str, float] | None]:
    """Return the problem with the costs of wrong decisions, and the scaled kind if it is one."""

    def read_kind(typed: str) -> str:
        if (kind := typed or KINDS[0]) not in (*KINDS, MATRIX):
            raise UnknownNameError(f"must be {', '.join(KINDS)} or {MATRIX}, got {quote(typed)}")
        return kind

    _say(
        "\nWhat wrong decisions cost. symmetric: all the same. asymmetric: missing a rare state "
        f"costs more. {MATRIX}: every cost on its own."
    )
    while True:
        kind = _ask(f"One of {', '.join(KINDS)}, {MATRIX} (Enter: {KINDS[0]})", read_kind)
        if kind == MATRIX:
            return with_stakes(_ask_matrix(classes)), None
        expected = _ask("What deciding costs on average, with nothing known", _amount)
        try:
            return with_stakes((kind, expected)), (kind, expected)
        except VoilatticeError as error:  # a state whose prior is 0 or 1 cannot be scaled
            _complain(error)


def _ask_matrix(classes: Sequence[str]) -> dict[str, dict[str, float]]:
    _say(
        f"For each decision, its cost if the truth is {', '.join(classes)}: {len(classes)} "
        f"numbers, with spaces between. A right decision often costs 0."
    )

    def read(typed: str) -> dict[str, float]:
        row = _numbers(typed, len(classes))
        return dict(zip(classes, map(check_amount, row), strict=True))

    rows = {decision: _ask(f"Deciding {decision}", read) for decision in classes}
    more = "Another decision, such as refer (Enter: none)"
    while decision := _ask(more, _name_besides(rows, required=False)):
        rows[decision] = _ask(f"Deciding {decision}", read)
    return rows


# -- one question


def _ask(question: str, read: Callable[[str], _T]) -> _T:
    """Ask until the answer can be read."""
    if question:
        _say(question)
    while True:
        typed = click.prompt("", default="", show_default=False, prompt_suffix="> ")
        try:
            return read(typed.strip())
        except VoilatticeError as error:
            _complain(error)


def _say(text: str) -> None:
    """Print a text, wrapped between words."""
    terminal.console().print(text)


def _complain(error: VoilatticeError) -> None:
    _say(f"{error.complaint}. Please answer again.")


# -- what is typed


def _text(typed: str) -> str:
    if not typed.isprintable():
        raise InputError(f"must be printable text, got {quote(typed)}")
    return typed


def _name_besides(taken: Collection[str], *, required: bool = True) -> Callable[[str], str]:
    """Return what reads a new name; without `required`, it may be empty."""

    def read(typed: str) -> str:
        if typed or required:
            check_names("the name", [typed])
        if "," in typed:
            raise InputError(f"a name must not hold a comma here, got {quote(typed)}")
        if typed in taken:
            raise InputError(f"{quote(typed)} is there already; names must be unique")
        return typed

    return read


def _states(typed: str) -> list[str]:
    states = _split(typed)
    check_names("the states", states)
    if len(states) < 2:
        raise InputError(f"at least two states are needed, got {quote(states[0])}")
    return states


def _amount(typed: str) -> float:
    return check_amount(_number(typed))


def _numbers(typed: str, n: int) -> list[float]:
    parts = typed.replace(",", " ").split()
    if len(parts) != n:
        raise InputError(f"needs {count_noun(n, 'number')}, got {len(parts)}")
    return [_number(part) for part in parts]


def _number(typed: str) -> float:
    try:
        return float(typed)
    except ValueError:
        raise InputError(f"must be a number, such as 0.5, got {quote(typed)}") from None


def _split(typed: str) -> list[str]:
    return [part.strip() for part in typed.split(",") if part.strip()]
