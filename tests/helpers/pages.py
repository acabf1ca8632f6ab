"""Pages of the documentation that a reader can follow: files, commands and Python, in order.

A page is followed in an empty folder, from its first block to its last:

- A ``{code-block}`` with a ``:caption:`` is a file of that name. It is written.
- A ``console`` block runs what follows ``$``. What is printed must be what the page shows;
  ``...`` stands for anything. A command that ends in ``&`` is a server: it runs to the end
  of the page, and the port 8770 of the page is a free port in truth. After the comment
  ``output varies`` (times, or what a time limit allows) only the first word must agree, and
  a test may shorten the time limit.
- A ``python`` block with prompts is a doctest. All blocks of a page share their names.

``python tests/helpers/pages.py docs/how-to/*.md`` writes what is printed into the pages.
"""

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from voilattice.cli import main

FENCE = re.compile(
    r"(<!-- output varies -->\n\n?)?^```(\{code-block\} \w+|console|python)\n(.*?)^```$",
    re.S | re.M,
)
PORT = "8770"
TIMED = {"advise", "apply", "best", "compare", "policy", "threshold"}
IN_SHELL = re.compile(r"[|<>;]|&&")


def follow(text, folder, seconds=None):
    """Follow a page in an empty folder; yield (start, end, shown, printed) of its outputs.

    `seconds` replaces the time limits of commands whose output varies.
    """
    globs: dict = {"__name__": "__main__"}
    servers: list = []
    port = free_port()
    try:
        for block in FENCE.finditer(text):
            varies, kind, content = block.groups()
            if kind.startswith("{"):
                write_captioned(content, folder)
            elif kind == "console":
                for start, end, command in find_commands(content):
                    words = command.replace(PORT, port)
                    if varies and seconds is not None:
                        words = re.sub(r"--time-limit \d+", f"--time-limit {seconds}", words)
                    printed = run(words, servers, port).replace(port, PORT)
                    at = block.start(3)
                    shown = content[start:end]
                    if varies and shown.split(" ")[0] == printed.split(" ")[0]:
                        printed = shown
                    yield at + start, at + end, shown, tidy(printed)
            elif ">>>" in content:
                for example in doctest.DocTestParser().get_examples(content):
                    source = example.source.replace(PORT, port)
                    printed = run_example(source, globs).replace(port, PORT)
                    if example.want or printed:
                        start = content.index(example.source.splitlines()[-1] + "\n")
                        start = content.index("\n", start) + 1
                        at = block.start(3)
                        yield at + start, at + start + len(example.want), example.want, printed
    finally:
        for server in servers:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=20)


def write_captioned(content, folder):
    """Write the file of a code block whose caption is its name."""
    found = re.match(r":caption: (\S+)\n\n?(.*)", content, re.S)
    if found:
        path = Path(folder) / found[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found[2])


def find_commands(content):
    """Yield the commands of a console block, and where their output starts and ends."""
    starts = [found.start() for found in re.finditer(r"^\$ ", content, re.M)]
    for begin, end in zip(starts, [*starts[1:], len(content)], strict=True):
        command = re.match(r"\$ (?:.*\\\n)*.*\n", content[begin:end])[0]
        yield begin + len(command), end, command[2:].replace("\\\n", " ").strip()


def run(command, servers, port):
    """Run one command, as a reader would at the prompt, and return what it prints."""
    words = shlex.split(command)
    if words[-1] == "&":
        servers.append(
            subprocess.Popen(
                [sys.executable, "-m", *words[:-1], "--port", port],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
        )  # fmt: skip
        return servers[-1].stdout.readline()
    in_shell = IN_SHELL.search(command) or words[0] not in {"voilattice", "python"}
    if in_shell or words[:2] in (["python", "-m"], ["python", "-c"]):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command], env={**os.environ, "PATH": path}, text=True,
            capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        return done.stdout + (done.stderr if done.returncode else "")  # without progress
    printed, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints):
        try:
            if words[0] == "python":
                runpy.run_path(words[1], run_name="__main__")
            else:
                main(with_time(words[1:]))
        except SystemExit as ended:
            if ended.code:
                return printed.getvalue() + complaints.getvalue()
    return printed.getvalue()  # without progress


def with_time(words):
    """Return a command that ends by itself on a busy machine too, unless it has its own limit."""
    if words[0] in TIMED and "--time-limit" not in words:
        return [*words, "--time-limit", "600"]
    return words


def run_example(source, globs):
    """Run one example of a doctest and return what it prints, or the last line of its error."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "page", "single"), globs)
        except Exception as error:
            return f"Traceback (most recent call last):\n    ...\n{type(error).__name__}: {error}\n"
    return printed.getvalue()


def tidy(printed):
    """Return text without blank ends of lines, and without blank lines at its ends."""
    lines = [line.rstrip() for line in printed.splitlines()]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


def agree(shown, printed):
    """Return whether a page shows what was printed; ``...`` in the page stands for anything."""
    shown, printed = tidy(shown), tidy(printed)
    pattern = re.escape(shown.rstrip("\n")).replace(r"\.\.\.", ".*?")
    return shown == printed or bool(re.fullmatch(pattern, printed.rstrip("\n"), re.S))


def free_port():
    """Return a port of five digits at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def renew(path):
    """Follow a page and write what is printed into it, where it differs."""
    text = path.read_text()
    changes = []
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            for start, end, shown, printed in follow(text, Path(folder)):
                if not agree(shown, printed):
                    changes.append((start, end, printed))
        finally:
            os.chdir(here)
    for start, end, printed in reversed(changes):
        text = text[:start] + printed + text[end:]
    if changes:
        path.write_text(text)
    return len(changes)


if __name__ == "__main__":
    import time

    os.environ["COLUMNS"] = "80"
    for name in sys.argv[1:]:
        began = time.perf_counter()
        print(f"{name}: {renew(Path(name).resolve())} new", f"{time.perf_counter() - began:.1f} s")
