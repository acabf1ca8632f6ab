"""The server that runs the application: how it is stopped.

After SIGTERM or Ctrl-C no connection is accepted. Requests in work have some seconds to finish;
then the workers are ended, and whoever still waits is told so (503). The process ends with status
0, and writes nothing unless a client does not take its answer.
"""

from __future__ import annotations

import asyncio
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from voilattice.web.advisor import Advisor
from voilattice.web.connections import Connection

__all__ = ["Server"]

STOP_SECONDS = 3.0  # that requests in work have left
LATE_SECONDS = 2  # after that, to send the last answers


class Server(uvicorn.Server):
    """Runs an application of `create_app` until it is stopped."""

    def __init__(self, app: FastAPI) -> None:
        self._advisor: Advisor = app.state.advisor
        super().__init__(
            uvicorn.Config(
                app, http=Connection, log_config=None, access_log=False, server_header=False,
                proxy_headers=False,  # `proxies` knows whom to believe
                timeout_graceful_shutdown=round(STOP_SECONDS) + LATE_SECONDS,
            )
        )  # fmt: skip

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop in good order. The signal is not raised again at the end: the exit status is 0."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let requests in work finish, for a while."""
        stop = asyncio.create_task(self._stop_work())
        await super().shutdown(sockets)
        stop.cancel()

    async def _stop_work(self) -> None:
        await asyncio.sleep(STOP_SECONDS)
        await self._advisor.close()
