"""A consultation in the terminal: advice, results typed in, undo, and the bill at the end.

What cannot be had is taken out of the problem, and the policy goes on without it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import click

from voilattice.cli import terminal
from voilattice.cli.advice import print_advice, print_bill
from voilattice.cli.console import findings
from voilattice.cli.options import read_observations
from voilattice.cli.parameters import given_options
from voilattice.cli.progress import progress_line
from voilattice.consultation.advice import advise
from voilattice.errors import InputError, VoilatticeError
from voilattice.model.problem import Problem
from voilattice.policy.policy import Policy
from voilattice.policy.solvers import describe_search

__all__ = ["consult"]

NOT_AVAILABLE, UNDO = "n", "u"
FOUND_OPTIONS = {"evidence", "unavailable", "together"}  # a consultation adds to these


@dataclass(frozen=True, slots=True)
class _Turn:
    """What is known, what cannot be had, and what came in one round: one step of a consultation."""

    known: dict[str, str]
    unavailable: frozenset[str]
    together: tuple[frozenset[str], ...] = ()  # the features of each round

    def after(self, features: Sequence[str], answers: Sequence[str]) -> _Turn:
        """Return the turn after answers; there may be fewer answers than features."""
        given = dict(zip(features, answers, strict=False))
        missing = {feature for feature, answer in given.items() if answer == NOT_AVAILABLE}
        found = {f: answer.removeprefix("=") for f, answer in given.items() if f not in missing}
        together = (*self.together, frozenset(found)) if found else self.together
        return _Turn({**self.known, **found}, self.unavailable | missing, together)


def consult(
    problem: Problem,
    policy: str | Policy,
    evidence: Mapping[str, str],
    *,
    unavailable: Collection[str] = (),
    free: Mapping[str, str] | None = None,
    together: Collection[Collection[str]] = (),
    time_limit: float | None = None,
) -> None:
    """Follow a policy with a person: say what to acquire, ask what was found, decide.

    The time limit, in seconds, is that of each advice. The others are as in `advise`, where `free`
    is what is given.
    """
    out = terminal.console()
    free = free or {}
    rounds = tuple(map(frozenset, together))
    turns = [_Turn({**free, **evidence}, frozenset(unavailable), rounds)]
    paid_before: int | None = None  # rounds of the evidence that the consultation begins with
    name = policy if isinstance(policy, str) else policy.name
    while True:
        turn = turns[-1]
        try:
            with progress_line(describe_search, f"advise, {name}"):
                advice = advise(
                    problem,
                    policy,
                    {f: state for f, state in turn.known.items() if f not in free},
                    unavailable=turn.unavailable,
                    given=free,
                    together=turn.together,
                    time_limit=time_limit,
                )
        except InputError as error:
            if len(turns) == 1:
                raise
            out.print(f"{error}. Please enter the last result again.")
            turns.pop()
            continue
        out.print()
        paid_before = len(advice.bill) if paid_before is None else paid_before
        bill = advice.bill[paid_before:]
        spent = math.fsum(purchase.cost for purchase in bill)
        print_advice(problem, replace(advice, spent=spent, bill=()))
        if advice.decision is not None:
            out.print()
            print_bill(problem, bill, advice.emc)
            if len(turns) > 1 and _wants_undo():
                turns.pop()
                continue
            return
        features = sorted(advice.features, key=problem.features.index)
        asked = _ask(problem, turn, features, is_first=len(turns) == 1)
        if asked is None:
            if len(turns) > 1:
                turns.pop()
            else:
                out.print("There is nothing to undo.")
        else:
            turns.append(asked)


def _ask(problem: Problem, turn: _Turn, features: list[str], *, is_first: bool) -> _Turn | None:
    """Return the next turn, or None for undo."""
    answers: list[str] = []
    while len(answers) < len(features):
        feature = features[len(answers)]
        can_undo = bool(answers) or not is_first
        try:
            answer = _answer(problem, feature, can_undo=can_undo)
        except click.Abort as stop:
            # click has one exception for Ctrl-C and for the end of the input.
            if not isinstance(stop.__context__, EOFError):
                raise
            click.echo()  # ends the line of the question
            raise _input_ended(problem, turn.after(features, answers)) from None
        if answer != UNDO:
            answers.append(answer)
        elif answers:
            answers.pop()
        else:
            return None
    return turn.after(features, answers)


def _input_ended(problem: Problem, turn: _Turn) -> InputError:
    """Return the error for input that ends early: what was found, and the command that goes on."""
    context = click.get_current_context()
    found = findings(problem, turn.known.items(), ", ") or "nothing"
    command = ["voilattice", "advise", str(context.params["problem"])]
    names = [parameter.name or "" for parameter in context.command.params]
    command += given_options(context, [name for name in names if name not in FOUND_OPTIONS])
    free = read_observations(problem, context.params["free"], "--given")
    for feature, state in turn.known.items():
        if feature not in free:
            command += ["--evidence", f"{feature}={state}"]
    for feature in sorted(turn.unavailable):
        command += ["--unavailable", feature]
    if problem.counts_rounds:
        for features in turn.together:
            if len(features) > 1:
                command += ["--together", ",".join(sorted(features))]
    return InputError(
        f"the input ended before the decision; known so far: {found}; to go on: "
        f"{shlex.join(command)}"
    )


def _answer(problem: Problem, feature: str, *, can_undo: bool) -> str:
    """Return `UNDO`, `NOT_AVAILABLE`, or ``=`` and a state; ask again until it is one of them.

    Undo is offered where there is something to undo, but always understood.
    """
    states, has_bins = problem.states(feature), feature in problem.bins
    # Where a number is a value, or the name of a state, it means that and nothing else.
    is_plain = not has_bins and not any(state.isdecimal() for state in states)
    numbers = {str(k + 1): state for k, state in enumerate(states)} if is_plain else {}
    # What is typed is a number, or the name of a state; so a name is shown where it is needed.
    choices = "  ".join(
        f"{k} {problem.state_label(feature, state)}" for k, state in numbers.items()
    ) or "  ".join(problem.state_and_label(feature, state) for state in states)
    # A state may be called as a command is; then the command takes a mark in front.
    commands = {word if word not in states else f"!{word}": word for word in (NOT_AVAILABLE, UNDO)}
    missing, undo = commands
    offer = f"  {undo} undo" if can_undo else ""
    words = [*states, *numbers, missing, *([undo] if can_undo else [])]
    hint = "a number, or  " if has_bins else ""
    while True:
        question = f"{problem.label(feature)}?  {hint}{choices}  {missing} not available{offer}"
        typed = click.prompt(question, prompt_suffix=" > ").strip()
        if typed in states:
            return f"={typed}"
        if typed in commands:
            return commands[typed]
        if typed in numbers:
            return f"={numbers[typed]}"
        with suppress(VoilatticeError):
            return f"={problem.state_of(feature, typed)}"
        click.echo(f"Please type {'a number, or ' * has_bins}one of: {', '.join(words)}.")


def _wants_undo() -> bool:
    try:
        question = f"Enter to finish, {UNDO} to undo the last step"
        typed = click.prompt(question, default="", show_default=False, prompt_suffix=" > ")
        return bool(typed.strip() == UNDO)
    except click.Abort:  # the end of what a pipe had to say
        return False
