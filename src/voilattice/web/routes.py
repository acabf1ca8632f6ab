"""The routes of the API: each hands a question to the advisor and sends its answer on."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, HTTPException, Path, Request, Response, UploadFile

from voilattice.documents import problems
from voilattice.errors import TooLargeError
from voilattice.policy.solvers import policy_names
from voilattice.web import schemas
from voilattice.web.advisor import Advisor
from voilattice.web.guards import client_of
from voilattice.web.jobs import Job
from voilattice.web.malformed import UniqueKeysRoute
from voilattice.web.questions import QUESTIONS, ApiQuestion
from voilattice.web.uploads import MAX_BYTES, MAX_FILES

__all__ = ["api_routes"]


async def _client(request: Request) -> str:
    return client_of(request.scope)


Client = Annotated[str, Depends(_client)]
Name = Annotated[str, Path(max_length=200, description="The name of a problem, or of a job.")]
Files = Annotated[
    list[UploadFile],
    File(max_length=MAX_FILES, description="A problem file (TOML), and the network it names."),
]


def _json(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


def api_routes(advisor: Advisor) -> APIRouter:
    """Return the routes under ``/api/v1``."""
    routes = APIRouter(prefix="/api/v1", route_class=UniqueKeysRoute)
    _add_problems(routes, advisor)
    _add_questions(routes, advisor)
    _add_jobs(routes, advisor)
    return routes


def _add_problems(routes: APIRouter, advisor: Advisor) -> None:
    entries = json.dumps(advisor.catalogue.entries()).encode()

    @routes.get("/problems", response_model=list[problems.ProblemEntry])
    async def list_problems() -> Response:
        """List the problems."""
        return _json(entries)

    @routes.post("/problems", status_code=201, response_model=schemas.ProblemSummary)
    async def upload_problem(client: Client, files: Files) -> Response:
        """Upload a problem file and its network; the answer gives the name to use for them."""
        content: dict[str, bytes] = {}
        for file in files:
            content[file.filename or ""] = await file.read(MAX_BYTES + 1)
        if sum(map(len, content.values())) > MAX_BYTES:
            raise TooLargeError(f"an upload may have at most {MAX_BYTES:,} bytes")
        return _json(await advisor.upload(content, client), 201)

    @routes.get("/problems/{name}", response_model=schemas.ProblemSummary)
    async def show_problem(client: Client, name: Name) -> Response:
        """Say what a problem holds."""
        return _json(await advisor.describe("describe", name, client))

    @routes.get(
        "/problems/{name}/network.svg",
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
    )
    async def draw_network(client: Client, name: Name) -> Response:
        """Draw the network of a problem."""
        drawing = await advisor.describe("network", name, client)
        return Response(drawing, media_type="image/svg+xml")

    @routes.get("/policies")
    async def list_policies() -> list[str]:
        """List the names of the policies."""
        return list(policy_names())


def _add_questions(routes: APIRouter, advisor: Advisor) -> None:
    async def answer(question: ApiQuestion, asked: Any, client: str) -> bytes:
        if question.is_job:
            return (await advisor.start_job(question.task, asked, client)).document
        if question.is_advice:
            return await advisor.advise(question.task, asked, client)
        return await advisor.answer(question.task, asked, client)

    for question in QUESTIONS:
        status = 202 if question.is_job else 200
        routes.add_api_route(
            question.path, _endpoint(question, answer, status), methods=["POST"],
            name=question.name, description=question.summary, response_model=question.answer,
            status_code=status,
        )  # fmt: skip


def _endpoint(
    question: ApiQuestion, answer: Callable[..., Awaitable[bytes]], status: int
) -> Callable[..., Awaitable[Response]]:
    async def endpoint(client: Client, asked: Any) -> Response:
        return _json(await answer(question, asked, client), status)

    endpoint.__annotations__ = {"client": Client, "asked": question.asked, "return": Response}
    return endpoint


def _add_jobs(routes: APIRouter, advisor: Advisor) -> None:
    def find_job(name: str) -> Job:
        if (job := advisor.jobs.find(name)) is None:
            raise HTTPException(404, f"no job {name!r}: it is too old, or the server was restarted")
        return job

    @routes.get("/jobs/{name}", response_model=schemas.JobStatus)
    async def show_job(name: Name) -> Response:
        """Say how far a job has come, with its result when it is done."""
        return _json(find_job(name).document)

    @routes.delete("/jobs/{name}", response_model=schemas.JobStatus)
    async def cancel_job(name: Name) -> Response:
        """Cancel a job."""
        job = find_job(name)
        advisor.jobs.cancel(job)
        return _json(job.document)
