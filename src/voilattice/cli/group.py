"""The commands by name, and how the command line ends.

A command's module is imported when the command is run, completed, or asked for its own help. The
list in ``voilattice --help`` is written here, so that it loads neither NumPy nor rich. Bad input
ends with exit status 2. A warning is a line on stderr. With ``--json`` one JSON document goes to
stdout and nothing else.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TextIO

import click
from click.shell_completion import CompletionItem

from voilattice import __version__
from voilattice.cli.parameters import option_of
from voilattice.errors import DataWarning, Remedy, TooLargeError, VoilatticeError

__all__ = ["COMMANDS", "cli", "run"]

MAX_LINE = 1000

# Name: module of `voilattice.cli`, and the first line of the command's help (a test compares them).
COMMANDS = {
    "advise": ("policies", "Say what to do now: what to acquire next, or what to decide."),
    "apply": ("cases", "Follow a policy for each row of a table: what it buys, decides and pays."),
    "arena": ("arena", "Try every method on the same new cases, and write a report."),
    "best": ("sets", "Find the set of highest benefit: worth most beyond its price."),
    "compare": ("policies", "Compare all policies, at the problem's numbers or over a sweep."),
    "completion": ("completion", "Print the completion script of a shell: bash, zsh or fish."),
    "evaluate": ("evaluation", "Measure what policies and their rivals cost on new cases."),
    "explain": ("sets", "Say in words why a set of features is, or is not, in the lattice."),
    "lattice": ("sets", "Build the lattice of irreducible sets: statistics, and drawings."),
    "learn": ("data", "Learn a problem from a table (CSV, TSV or Parquet)."),
    "new": ("new", "Ask for a problem in the terminal and write its commented file."),
    "policy": ("policies", "Build a whole policy and evaluate it exactly."),
    "problems": ("problems", "List the built-in problems."),
    "report": ("report", "Write a report to print: the plan, the problem, the bill to expect."),
    "reproduce": ("data", "Reproduce the paper's Tables 1 to 3, Figures 1 to 8, and its claims."),
    "serve": ("serve", "Serve the advisor: a page for people, and an HTTP API."),
    "show": ("problems", "Show what a problem holds: network, prices, stakes, evidence."),
    "threshold": ("what_if", "Find from which price, and from which stakes, a feature is used."),
    "value": ("sets", "Print what acquiring a set of features is worth, and what it costs."),
    "warm": ("warm", "Compile all inner loops now, so that no later command waits for it."),
}


class _Group(click.Group):
    """A group that imports a command when it is needed, and not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"voilattice.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            close = get_close_matches(name, COMMANDS, n=1)
            # As click says it of options.
            ctx.fail(
                f"No such command {name!r}." + (f" Did you mean {close[0]!r}?" if close else "")
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except VoilatticeError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            options = {o for p in (command.params if command else ()) for o in p.opts}
            raise VoilatticeError(error.describe(lambda name: option_of(name, options))) from None


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Which features to acquire, together or one by one, and when to stop and decide.

    PROBLEM is a problem file, a folder with a problem.toml, or the name of a built-in problem
    (builtin:NAME where a file or folder here has that name too).

    \b
    EMC      the expected misclassification cost: what deciding costs on average
    EVI      the expected value of information: what a set takes off the EMC
    benefit  EVI less what the set costs
    """  # noqa: D301 (click reads the character)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit."""
    if sys.stderr is None:  # closed: what would be said there is lost, and the command still runs
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the process ends)
    if sys.stdout is None:
        _quit("standard output: is closed; send it to /dev/null if you do not need it")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter gets its code
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _show_warning
            cli.main(arguments, prog_name="voilattice", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        _quit(f"{context.command_path if context else 'voilattice'}: {error.format_message()}")
    except VoilatticeError as error:
        _quit(str(error))
    except click.Abort:  # Ctrl-C, as click has it
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        # Whoever read the output has gone; Python must not complain again when it flushes.
        sys.stdout = None
        sys.exit(1)
    except OSError as error:
        sys.stdout = None
        _quit(f"standard output: cannot be written: {error.strerror or error}")
    except MemoryError:
        remedies = (Remedy("ask for fewer features"), Remedy("give more evidence"))
        _quit(str(TooLargeError("out of memory", remedies=remedies)))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line, without the place in the code that gave it."""
    _complain(f"{category.__name__}: {message}")


def _quit(message: str) -> None:
    _complain(message)
    sys.exit(2)


def _complain(message: str) -> None:
    line = " ".join(message.split())
    if len(line) > MAX_LINE:
        line = f"{line[:MAX_LINE]}..."
    # Names come from files: no control character of theirs reaches the terminal.
    click.echo("".join(c if c.isprintable() else repr(c)[1:-1] for c in line), err=True)
