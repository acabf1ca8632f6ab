"""A consultation in the terminal: advice, results typed in, undo, and the bill at the end.

What cannot be had is taken out of the problem, and the policy goes on without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import click

from voilattice import console
from voilattice.advice import advise
from voilattice.costs import priced
from voilattice.problem import Problem

__all__ = ["consult"]


@dataclass(frozen=True, slots=True)
class _Turn:
    """What is known, what cannot be had, and what was paid: one step of a consultation."""

    known: dict[str, str]
    unavailable: frozenset[str]
    bill: tuple[tuple[str, float], ...]


def consult(problem: Problem, policy: str, given: Mapping[str, str]) -> None:
    """Follow a policy with a person: say what to acquire, ask what was found, decide."""
    out = console.console()
    turns = [_Turn(dict(given), frozenset(), ())]
    while True:
        turn = turns[-1]
        advice = advise(problem.without(turn.unavailable), policy, turn.known)
        out.print()
        console.print_advice(replace(advice, spent=sum(price for _, price in turn.bill)))
        if advice.decision is not None:
            _print_bill(turn, advice.emc)
            return
        asked = _ask(problem, turn, sorted(advice.features, key=problem.features.index))
        if asked is None:
            if len(turns) > 1:
                turns.pop()
            else:
                out.print("There is nothing to undo.")
        else:
            turns.append(asked)


def _ask(problem: Problem, turn: _Turn, features: list[str]) -> _Turn | None:
    """Return the next turn, or None for undo."""
    found: dict[str, str] = {}
    missing: set[str] = set()
    for feature in features:
        states = problem.states(feature)
        choices = "  ".join(f"{k + 1} {state}" for k, state in enumerate(states))
        answer = _answer(f"{feature}?  {choices}  n not available  u undo", states)
        if answer == "u":
            return None
        if answer == "n":
            missing.add(feature)
        else:
            found[feature] = answer.removeprefix("=")
    bill = turn.bill
    if found:
        before = {**problem.evidence, **turn.known}
        price = priced(problem.costs, frozenset(found), before)
        bill = (*bill, (", ".join(found), price))
    return _Turn({**turn.known, **found}, turn.unavailable | missing, bill)


def _answer(question: str, states: tuple[str, ...]) -> str:
    """Return ``u``, ``n``, or ``=`` and a state; ask again until it is one of them."""
    while True:
        typed = click.prompt(question, prompt_suffix=" > ").strip()
        if typed in states:
            return f"={typed}"
        if typed.isdecimal() and 1 <= int(typed) <= len(states):
            return f"={states[int(typed) - 1]}"
        if typed in ("u", "n"):
            return str(typed)
        click.echo(
            f"Please type one of: {', '.join(states)}, a number from 1 to {len(states)}, n, u."
        )


def _print_bill(turn: _Turn, risk: float) -> None:
    out = console.console()
    out.print()
    rows = console.table("the bill", ">")
    for what, price in turn.bill:
        rows.add_row(what, console.money(price))
    spent = sum(price for _, price in turn.bill)
    rows.add_row("spent on features", console.money(spent))
    rows.add_row("expected cost of a wrong decision", console.money(risk))
    rows.add_row("total", console.money(spent + risk), style="bold")
    out.print(rows)
