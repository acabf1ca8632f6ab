"""The routes of the API: each hands a question to the advisor and sends its answer on."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, File, HTTPException, Path, Request, Response, UploadFile

from voilattice.documents import consultations, problems, sets
from voilattice.errors import TooLargeError
from voilattice.policy.solvers import policy_names
from voilattice.web import schemas
from voilattice.web.advisor import Advisor
from voilattice.web.guards import client_of
from voilattice.web.jobs import Job
from voilattice.web.malformed import UniqueKeysRoute
from voilattice.web.questions import (
    AdviceAsked,
    ApplyAsked,
    Asked,
    BatchAsked,
    CompareAsked,
    ExplainAsked,
    FirstStepsAsked,
    LatticeAsked,
    PolicyAsked,
    ThresholdAsked,
    ValueAsked,
)
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
    @routes.post("/posterior", response_model=consultations.Standing)
    async def posterior(client: Client, asked: Asked) -> Response:
        """Say at once what is believed, what deciding costs, what was paid and what can come."""
        return _json(await advisor.answer("posterior", asked, client))

    @routes.post("/advise", response_model=consultations.Advice)
    async def advise(client: Client, asked: AdviceAsked) -> Response:
        """Say what to do now; greedy says it where the policy asked for cannot in time."""
        return _json(await advisor.advise("advise", asked, client))

    @routes.post("/advise/batch", response_model=schemas.Batch)
    async def advise_batch(client: Client, asked: BatchAsked) -> Response:
        """Say what to do now in each of many cases; a case that is wrong is answered as such.

        Greedy says it where the policy asked for cannot in time.
        """
        return _json(await advisor.advise("batch", asked, client))

    @routes.post("/first-steps", response_model=consultations.FirstSteps)
    async def first_steps(client: Client, asked: FirstStepsAsked) -> Response:
        """Say what it costs to begin with each feature, and which outcome makes the difference."""
        return _json(await advisor.answer("first_steps", asked, client))

    @routes.post("/apply", response_model=schemas.Applied)
    async def apply(client: Client, asked: ApplyAsked) -> Response:
        """Follow a policy for each row of a table of raw values or states."""
        return _json(await advisor.answer("apply", asked, client))

    @routes.post("/value", response_model=sets.SetValue)
    async def value(client: Client, asked: ValueAsked) -> Response:
        """Value a set of features."""
        return _json(await advisor.answer("value", asked, client))

    @routes.post("/explain", response_model=sets.Explanation)
    async def explain(client: Client, asked: ExplainAsked) -> Response:
        """Explain why a set of features is, or is not, in the lattice."""
        return _json(await advisor.answer("explain", asked, client))

    @routes.post("/best", response_model=sets.BestSet)
    async def best(client: Client, asked: Asked) -> Response:
        """Find the set of highest benefit."""
        return _json(await advisor.answer("best", asked, client))

    @routes.post("/lattice", response_model=schemas.Lattice)
    async def lattice(client: Client, asked: LatticeAsked) -> Response:
        """Build the lattice: the best sets of each size, and a drawing of a small one."""
        return _json(await advisor.answer("lattice", asked, client))


def _add_jobs(routes: APIRouter, advisor: Advisor) -> None:
    def find_job(name: str) -> Job:
        if (job := advisor.jobs.find(name)) is None:
            raise HTTPException(404, f"no job {name!r}: it is too old, or the server was restarted")
        return job

    async def started(task: str, asked: Asked, client: str) -> Response:
        return _json((await advisor.start_job(task, asked, client)).document, 202)

    @routes.post("/jobs/advise", status_code=202, response_model=schemas.JobStatus)
    async def start_advice(client: Client, asked: AdviceAsked) -> Response:
        """Start to look for advice; the answer names a job to ask for."""
        return await started("advise", asked, client)

    @routes.post("/policy", status_code=202, response_model=schemas.JobStatus)
    async def start_policy(client: Client, asked: PolicyAsked) -> Response:
        """Start to build a policy; the answer names a job to ask for."""
        return await started("policy", asked, client)

    @routes.post("/compare", status_code=202, response_model=schemas.JobStatus)
    async def start_comparison(client: Client, asked: CompareAsked) -> Response:
        """Start to compare all policies along a sweep; the answer names a job to ask for."""
        return await started("compare", asked, client)

    @routes.post("/threshold", status_code=202, response_model=schemas.JobStatus)
    async def start_threshold(client: Client, asked: ThresholdAsked) -> Response:
        """Start to find where a feature is used and where the advice changes; names a job."""
        return await started("threshold", asked, client)

    @routes.post("/report", status_code=202, response_model=schemas.JobStatus)
    async def start_report(client: Client, asked: PolicyAsked) -> Response:
        """Start to write a report to print; the answer names a job to ask for."""
        return await started("report", asked, client)

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
