"""What every request passes before it reaches a route, and every response on its way out.

The guards are plain ASGI middleware. From the outside in: headers for the browser and a line in
place of a traceback; the name that the server is called by; where a request comes from; how many
requests a client has in work; how long and how large a body may be.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voilattice.web.logs import log
from voilattice.web.refusals import STOPPED, Broken, Refusal
from voilattice.web.uploads import MAX_BYTES
from voilattice.wording import count_noun

__all__ = ["BodyGuard", "BrowserGuard", "ClientGuard", "OriginGuard", "client_of"]

MAX_BODY = MAX_BYTES + 100_000
BODY_SECONDS = 30.0

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
ANY_HOST = "*"


def client_of(scope: Scope) -> str:
    """Return who asks: the address that the limits of a client go by."""
    client = scope.get("client")
    return client[0] if client else ""


class BrowserGuard:
    """Tells the browser what a page may do, and answers errors of our own without details.

    Parameters
    ----------
    root_path
        Where a proxy shows the server. Whether it leaves that part in the path or removes it makes
        no difference.
    """

    def __init__(self, app: ASGIApp, root_path: str = "") -> None:
        self._app, self._root_path = app, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False
        scope["root_path"] = self._root_path
        if scope["method"] == "HEAD":  # the routes have GET; the server leaves out the body
            scope = {**scope, "method": "GET"}

        async def guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, content in HEADERS.items():
                    headers.setdefault(name, content)
            await send(message)

        try:
            await self._app(scope, receive, guarded)
        except asyncio.CancelledError:  # a request is cancelled only where the server is stopped
            if not has_begun:
                await Refusal(503, STOPPED)(scope, receive, guarded)
        except Exception as error:
            broken = Broken.by(error)
            log.error("a request failed: %s", broken.message)
            if not has_begun:
                await Refusal(500, broken.message)(scope, receive, guarded)


class OriginGuard:
    """Refuses requests that call the server by another name, or come from another site's page.

    A page of another site can make a browser send requests here. By the name it uses (the header
    `Host`) a page that has rebound its own name to this machine is found. Browsers say where a
    request that changes something comes from (`Sec-Fetch-Site`, or `Origin`).
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._allows_all = ANY_HOST in names
        self._names = {_bare(name) for name in (*LOCAL_NAMES, *names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        host = _host_name(f"//{headers.get('host', '')}")
        if not self._allows_all and host not in self._names:
            return Refusal(
                400,
                "the server is not known by the name in the header Host; start it with "
                "--allow-host NAME to allow that name",
            )
        if scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            return None
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            is_ours = site in {"same-origin", "none"}
        else:
            is_ours = origin is None or _host_name(origin) in {host, *self._names}
        return None if is_ours else Refusal(403, "requests from pages of other sites are refused")


def _host_name(address: str) -> str | None:
    with suppress(ValueError):
        return urlsplit(address).hostname
    return None


def _bare(name: str) -> str:
    """Return a host's name as `urlsplit` gives it."""
    return name.strip("[]").lower()


class ClientGuard:
    """Limits how many requests of one client are in work at once."""

    def __init__(self, app: ASGIApp, max_requests: int) -> None:
        self._app, self._max_requests = app, max_requests
        self._in_work: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = client_of(scope)
        if self._in_work[client] >= self._max_requests:
            requests = count_noun(self._max_requests, "request")
            await Refusal(429, f"you have {requests} in work; try again later")(
                scope, receive, send
            )
            return
        self._in_work[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_work[client] -= 1
            if not self._in_work[client]:
                del self._in_work[client]


class BodyGuard:
    """Reads no more of a request than it may have, and waits no longer for it than it may take."""

    def __init__(self, app: ASGIApp, seconds: float = BODY_SECONDS) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken, is_complete, has_begun = 0, False, False
        refusal: Refusal | None = None
        end = asyncio.get_running_loop().time() + self._seconds

        async def limited() -> Message:
            nonlocal taken, is_complete, refusal
            if is_complete:
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                refusal = Refusal(408, f"the request was not complete in {self._seconds:g} seconds")
                raise _Refused from None
            taken += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if taken > MAX_BODY:
                refusal = Refusal(413, f"a request may have at most {MAX_BODY:,} bytes")
                raise _Refused
            return message

        async def noted(message: Message) -> None:
            nonlocal has_begun
            # What the application makes of a body that was cut off is not what is wrong with it.
            if refusal is None or has_begun:
                has_begun = True
                await send(message)

        with suppress(_Refused):
            await self._app(scope, limited, noted)
        if refusal is not None and not has_begun:
            refusal.headers["Connection"] = "close"  # the rest of the body is not read
            await refusal(scope, receive, send)


class _Refused(Exception):
    """A body is too long, or too slow."""
