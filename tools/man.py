r"""Write the manual page of the command, from what ``--help`` says: ``make man``.

``python tools/man.py FOLDER`` writes ``FOLDER/voilattice.1``: the command, then each of its
commands with its options.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from voilattice import __version__
from voilattice.cli.group import COMMANDS, cli

INTRODUCTION = (
    "Bad input ends with status 2 and one line on standard error. A command whose package is not "
    "installed says which extra brings it."
)


def main(folder: str) -> None:
    """Write the page."""
    path = Path(folder, "voilattice.1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(page()) + "\n", encoding="utf-8")
    print(path)


def page() -> Iterator[str]:
    """Yield the lines of the page, as groff takes them."""
    context = click.Context(cli, info_name="voilattice")
    yield f'.TH VOILATTICE 1 "" "voilattice {__version__}" "User Commands"'
    yield from (".SH NAME", escape(f"voilattice - {lower(help_of(cli)[0])}"))
    yield from (".SH SYNOPSIS", r".B voilattice", r"\fICOMMAND\fR [\fIARGUMENTS\fR ...]")
    yield ".SH DESCRIPTION"
    yield from paragraphs(help_of(cli)[1:])
    yield from (".PP", escape(INTRODUCTION))
    yield ".SH COMMANDS"
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield from describe(command, click.Context(command, parent=context, info_name=name))
    yield ".SH SEE ALSO"
    yield r"\fBvoilattice completion bash\fR prints the completion script of a shell."


def describe(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the part of one command."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {escape(f'voilattice {context.info_name} {usage}')}"
    yield from paragraphs(help_of(command))
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:  # the name of an argument says it all
            yield from (".TP", rf"\fB{escape(record[0])}\fR", escape(record[1]))


def help_of(command: click.Command) -> list[str]:
    r"""Return the paragraphs of a command's help; one that begins with ``\b`` keeps its lines."""
    text = "\n".join(line.strip() for line in (command.help or "").strip().splitlines())
    return [part for part in re.split(r"\n\s*\n", text) if part.strip()]


def paragraphs(parts: list[str]) -> Iterator[str]:
    """Yield paragraphs."""
    for part in parts:
        if part.startswith("\b"):
            yield from (".PP", ".nf", *map(escape, part.splitlines()[1:]), ".fi")
        else:
            yield from (".PP", escape(part))


def escape(text: str) -> str:
    """Return text that groff prints as it is, on one line."""
    text = text.replace("\n", " ").replace("\\", r"\e").replace("-", r"\-")
    text = "".join(c if c.isascii() else rf"\[u{ord(c):04X}]" for c in text)
    return rf"\&{text}" if text.startswith((".", "'")) else text


def lower(text: str) -> str:
    """Return a sentence as the half of one."""
    return text[0].lower() + text[1:].rstrip(".")


if __name__ == "__main__":
    main(*sys.argv[1:])
