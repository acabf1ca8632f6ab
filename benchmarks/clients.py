"""What the benchmarks of the server share: a server, connections to it, and cases to ask about."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from voilattice import load_problem
from voilattice.cases.tables import draw_cases

__all__ = ["Case", "Line", "draw", "server"]

Case = Mapping[str, str]


def draw(name: str, n: int) -> list[Case]:
    """Return cases of a problem: the state of each feature."""
    problem = load_problem(name)
    drawn = draw_cases(problem.network, n, np.random.default_rng(0))
    return [{feature: drawn[feature][row] for feature in problem.features} for row in range(n)]


@contextlib.contextmanager
def server(**environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server on this machine alone, and give its process and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "voilattice", "serve", "--port", "0"],
        stdout=subprocess.PIPE, text=True, env=os.environ | environment,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().split()[4]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


class Line:
    """A connection to the server that asks one question after another.

    A client library would take more time than the server, on the same cores.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, address: str) -> AsyncIterator[Line]:
        """Connect to the server."""
        where = urlsplit(address)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        try:
            yield cls(reader, writer)
        finally:
            writer.close()

    async def ask(self, method: str, path: str, asked: object = None) -> tuple[int, Any]:
        """Return the status of an answer, and the answer."""
        body = b"" if asked is None else json.dumps(asked).encode()
        head = (
            f"{method} /api/v1/{path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        start, *lines = (await self.reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        (length,) = (line for line in lines if line.startswith(b"content-length:"))
        content = await self.reader.readexactly(int(length.split(b":")[1]))
        return int(start.split()[1]), json.loads(content)
