"""The application that the server runs: the API, the page, the guards, and how errors are answered.

What needs work goes to a worker (`pool`); what can take long is a job (`jobs`), to be asked for by
its name, or cancelled. Every mistake is answered with a document of type
``application/problem+json`` (`refusals`).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from voilattice import __version__
from voilattice.errors import VoilatticeError
from voilattice.model.problem import Problem
from voilattice.web.advisor import Advisor, Limits
from voilattice.web.description import describe_api
from voilattice.web.guards import BodyGuard, BrowserGuard, ClientGuard, OriginGuard
from voilattice.web.malformed import NOT_JSON, describe_malformed
from voilattice.web.metrics import CONTENT_TYPE, Meter, Metrics
from voilattice.web.proxies import Network, ProxyGuard
from voilattice.web.reference import reference_page
from voilattice.web.refusals import Busy, ProblemDetails, Refusal, describe, status_of
from voilattice.web.routes import api_routes
from voilattice.web.schemas import Health, Readiness
from voilattice.web.shelf import Shelf
from voilattice.wording import quote

__all__ = ["Limits", "create_app", "default_workers"]

REFUSALS = {
    400: "Something in the request is wrong.",
    403: "The request comes from a page of another site.",
    404: "There is no problem, or no job, of that name.",
    405: "The route has other methods: Allow names them.",
    408: "The request came too slowly.",
    413: "The work or the upload exceeds a limit of the server.",
    422: "The request does not have the form that this document describes.",
    429: "One client asks for too much at once.",
    500: "The server met an error of its own; the detail says where in its code.",
    503: "The server is busy: try again later.",
}


def default_workers() -> int:
    """Return how many workers a server has: one a core, and enough for all levels of tasks."""
    return min(max(os.cpu_count() or 1, 4), 16)


def create_app(
    problems: Mapping[str, Problem],
    limits: Limits | None = None,
    *,
    hosts: Collection[str] = (),
    n_workers: int | None = None,
    root_path: str = "",
    trusted_proxies: Sequence[Network] = (),
    shelf: Shelf | None = None,
) -> FastAPI:
    """Return the server's application.

    Parameters
    ----------
    problems
        What can be asked about, by name, beside uploads.
    hosts
        The names that the server is called by, beside those of this machine; ``*``: any.
    root_path
        Where a proxy shows the server, such as ``/advisor``.
    trusted_proxies
        Proxies whose `X-Forwarded-For` says who asks.
    shelf
        Where uploads are kept; None: in memory, until the server is stopped.
    """
    limits = limits or Limits()
    advisor = Advisor(problems, limits, n_workers or default_workers(), shelf)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        advisor.start()
        yield
        await advisor.close()

    metrics = Metrics(advisor)
    refusals: dict[int | str, dict[str, Any]] = {
        status: {"model": ProblemDetails, "description": why} for status, why in REFUSALS.items()
    }
    app = FastAPI(
        title="voilattice", version=__version__, lifespan=lifespan, responses=refusals,
        docs_url=None, redoc_url=None,
        # Clients that are generated from the document call their functions by these names.
        generate_unique_id_function=lambda route: route.name,
        description="Which features to acquire, and when to stop and decide.",
    )  # fmt: skip
    app.state.advisor = advisor
    # The last one added is the outermost one.
    app.add_middleware(BodyGuard)
    app.add_middleware(ClientGuard, max_requests=limits.client_requests)
    app.add_middleware(OriginGuard, names=hosts)
    app.add_middleware(ProxyGuard, trusted=trusted_proxies)
    app.add_middleware(BrowserGuard, root_path=root_path)
    app.add_middleware(Meter, metrics=metrics)
    _answer_errors(app)
    app.include_router(api_routes(advisor))

    @app.get("/health")
    async def health() -> Health:
        """Say whether the server works, and how much it has to do."""
        pool = advisor.pool
        return Health(status="ok", version=__version__, workers=len(pool.workers), busy=pool.n_busy)

    @app.get("/ready")
    async def ready() -> Readiness:
        """Say whether the server has started, with all workers and kernels; 503 until then.

        It stays ready while a worker runs. If kernels could not be compiled, the log says so, and
        answers come from NumPy, or a kernel is compiled at its first use.
        """
        pool = advisor.pool
        if not advisor.is_ready:
            todo = "kernels are being compiled" if pool.is_ready else "workers are being started"
            raise Busy(f"{todo}: answers come, but not yet at their usual speed")
        return Readiness(status="ready", workers=len(pool.workers))

    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def show_metrics() -> Response:
        """Count requests, waits, workers and jobs, in the text format of Prometheus."""
        return Response(metrics.text, media_type=CONTENT_TYPE)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()))

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = describe_api(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    static = resources.files("voilattice.web") / "static"
    app.mount("/", StaticFiles(directory=str(static), html=True), name="page")
    return app


def _methods_at(app: FastAPI, request: Request) -> list[str]:
    """Return the methods of the routes at the path of a request; none: it has no route."""
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    routes = app.openapi()["paths"].items()
    return sorted(
        method.upper()
        for template, methods in routes
        if compile_path(template)[0].match(path)
        for method in methods
    )


def _answer_errors(app: FastAPI) -> None:
    """Answer every mistake with the line that the command line prints."""

    @app.exception_handler(VoilatticeError)
    async def refused(request: Request, error: VoilatticeError) -> Refusal:
        return Refusal(status_of(error), describe(error))

    @app.exception_handler(HTTPException)
    async def failed(request: Request, error: HTTPException) -> Refusal:
        # JSON that is too deep, or a number too long, is no error of JSON for the framework.
        is_json = "json" in request.headers.get("content-type", "")
        if is_json and isinstance(error.__cause__, ValueError | RecursionError):
            return Refusal(422, NOT_JSON)
        if error.detail != HTTPStatus(error.status_code).phrase:
            return Refusal(error.status_code, str(error.detail))
        # What no route takes goes to the files of the page, which know nothing of other methods.
        allowed = _methods_at(app, request)
        detail = f"no {request.method} of {quote(request.url.path)}; /docs lists what there is"
        refusal = Refusal(405 if allowed else 404, detail)
        refusal.headers.update({"Allow": ", ".join(allowed)} if allowed else {})
        return refusal

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Refusal:
        return Refusal(422, describe_malformed(error.errors(), error.body))
