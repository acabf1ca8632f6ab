"""The reference of the commands, from their help texts.

The line ``<!-- commands -->`` of a page becomes a section for each command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import click

from voilattice.cli.group import COMMANDS, cli

_MARK = "<!-- commands -->"


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _expand(app: Any, docname: str, source: list[str]) -> None:
    if _MARK in source[0]:
        source[0] = source[0].replace(_MARK, describe_commands())


def describe_commands() -> str:
    """Return a section of Markdown for each command."""
    context = click.Context(cli, info_name="voilattice")
    lines: list[str] = []
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        lines += _section(command, click.Context(command, info_name=name, parent=context))
    return "\n".join(lines)


def _section(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## {context.info_name}", "", "```text", usage, "```", "")
    for paragraph in re.split(r"\n\s*\n", cleandoc(command.help or "")):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b").strip("\n"), "```", "")
        else:
            yield from (_text(" ".join(paragraph.split())), "")
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    yield from ("| option | meaning |", "| --- | --- |")
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            written, said = record
            yield f"| `{written.replace('|', chr(92) + '|')}` | {_text(said)} |"
    yield ""


def _text(said: str) -> str:
    """Return a help text as Markdown: options and tables of TOML as code."""
    said = " ".join(said.split()).replace("|", r"\|")
    said = re.sub(r"(?<![\w`])(--[a-z][a-z-]*|\[\[?[a-z_]+\]\]?)(?![\w`])", r"`\1`", said)
    return re.sub(r"(?<!`)([*<>])", r"\\\1", said)
