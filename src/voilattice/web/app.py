"""The routes of the advisor: an HTTP API over the functions of the command line, and the page.

Light requests are answered at once. What needs a valuation goes to a worker that keeps what it has
solved; what can take long (a policy, a comparison) is a job, to be asked for by its name, or
cancelled. Nothing of a consultation is kept here: every request brings its problem's name, its
evidence and its stakes, so a server can be stopped and started in the middle of one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import resources
from threading import Lock
from typing import Annotated, Any, Literal

from fastapi import FastAPI, File, HTTPException, Path, Request, Response, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
)
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voilattice import __version__
from voilattice.budgets import Deadline, memory_limit
from voilattice.documents import problem_document, problem_entry
from voilattice.errors import TooLargeError, VoilatticeError
from voilattice.model.problem import Evidence, Problem
from voilattice.policy.advice import FALLBACK
from voilattice.policy.solvers import policy_names
from voilattice.web import workers
from voilattice.web.refusals import UnknownProblem, describe, status_of
from voilattice.web.uploads import MAX_BYTES, read_upload, upload_id
from voilattice.wording import nearest

__all__ = ["Limits", "create_app"]

MAX_UPLOADS = 20
MAX_FILES = 4
MAX_POINTS = 101
MAX_BODY = MAX_BYTES + 100_000

SHARE_OF_TASK = 0.5  # of the time left, that a task plans with; the rest is for what it overlooks
SHARE_OF_POLICY = 0.75  # of the time for advice, for the policy asked for; then greedy answers

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "
    "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)  # drawings carry their own style


def _check_policy(name: str) -> str:
    if name not in policy_names():
        raise ValueError(f"must be one of {', '.join(policy_names())}, got {name!r}")
    return name


PolicyName = Annotated[
    str, AfterValidator(_check_policy), Field(json_schema_extra={"enum": list(policy_names())})
]

Name = Annotated[str, Field(min_length=1, max_length=200)]

# What is known: a state, or a raw value that stands for one.
Known = Annotated[dict[Name, Name | StrictBool | StrictInt | StrictFloat], Field(max_length=1000)]


class Limits(BaseModel):
    """What a request may take."""

    seconds: float = 30.0  # for an answer
    job_seconds: float = 300.0  # for a job
    memory_bytes: int = 1 << 30  # for the tables of each worker
    max_waiting: int = 8  # jobs


class Stakes(BaseModel):
    """Misclassification costs of a scaled kind, in place of the problem's own."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["symmetric", "asymmetric"]
    expected: Annotated[float, Field(ge=0, le=1e100, allow_inf_nan=False, strict=True)]


class Asked(BaseModel):
    """What every question says: which problem, what is known, and what is at stake."""

    model_config = ConfigDict(extra="forbid")
    problem: Name
    evidence: Known = {}
    unavailable: Annotated[list[Name], Field(max_length=1000)] = []
    stakes: Stakes | None = None


class ValueAsked(Asked):
    """The value of a set of features."""

    features: Annotated[list[Name], Field(max_length=1000)]


class PolicyAsked(Asked):
    """A policy, or its advice."""

    policy: PolicyName


class AdviceAsked(PolicyAsked):
    """What a policy does now; what is given is known for free.

    `together` names features of the evidence that were acquired in one round.
    """

    given: Known = {}
    together: Annotated[
        list[Annotated[list[Name], Field(max_length=1000)]], Field(max_length=1000)
    ] = []


class CompareAsked(Asked):
    """All policies along a sweep of the a-priori expected misclassification cost."""

    points: Annotated[
        list[Annotated[float, Field(ge=0, le=1e100, allow_inf_nan=False, strict=True)]],
        Field(min_length=1, max_length=MAX_POINTS),
    ]


class Failure(BaseModel):
    """Why there is no answer."""

    error: str


class Catalogue:
    """The problems that can be asked about: those of the start, and the latest uploads."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self._fixed, self._uploads = dict(problems), dict[str, Problem]()
        self._lock = Lock()

    def entries(self) -> list[dict[str, Any]]:
        return [problem_entry(name, problem) for name, problem in self._fixed.items()]

    def find(self, name: str) -> Problem:
        with self._lock:
            if (found := self._fixed.get(name) or self._uploads.get(name)) is None:
                raise UnknownProblem(f"no problem {name!r}{nearest(name, self._fixed)}")
            return found

    def add(self, name: str, problem: Problem) -> None:
        with self._lock:
            self._uploads.pop(name, None)
            self._uploads[name] = problem
            while len(self._uploads) > MAX_UPLOADS:
                del self._uploads[next(iter(self._uploads))]


def create_app(  # noqa: PLR0915 (a route is a statement)
    problems: Mapping[str, Problem], limits: Limits | None = None, *, host: str = "127.0.0.1"
) -> FastAPI:
    """Return the server's application.

    Parameters
    ----------
    problems
        What can be asked about, by name, beside uploads.
    host
        The name that the server is called by; requests for any other are refused.
    """
    limits = limits or Limits()
    catalogue = Catalogue(problems)
    # What is quick, what takes a moment, and what takes long do not wait for each other.
    advisor, explorer, builder = (workers.Worker(limits.memory_bytes) for _ in range(3))
    jobs = workers.Jobs(builder, limits.max_waiting)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        jobs.cancel_all()
        for worker in (advisor, explorer, builder):
            worker.close()

    failures: dict[int | str, dict[str, Any]] = {
        400: {"model": Failure}, 404: {"model": Failure}, 413: {"model": Failure},
        422: {"model": Failure}, 503: {"model": Failure},
    }  # fmt: skip
    app = FastAPI(
        title="voilattice", version=__version__, lifespan=lifespan, responses=failures,
        docs_url=None, redoc_url=None,
        description="Which features to acquire, and when to stop and decide.",
    )  # fmt: skip
    app.add_middleware(
        TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "[::1]", host]
    )
    app.add_middleware(_BodyLimit)
    _add_guards(app)

    def request(
        task: str, asked: Asked, *, share: float | None = None, **options: Any
    ) -> workers.Request:
        problem = catalogue.find(asked.problem)
        evidence = _states(problem, asked.evidence)  # wrong evidence is known at once
        kind = asked.stakes.kind if asked.stakes else None
        expected = asked.stakes.expected if asked.stakes else None
        return workers.Request(
            task, asked.problem, problem, kind, expected,
            tuple(sorted(set(asked.unavailable))), evidence, options, share,
        )  # fmt: skip

    def answer(
        task: str, asked: Asked, *, worker: workers.Worker = advisor, **options: Any
    ) -> dict[str, Any]:
        return worker.do(request(task, asked, **options), limits.seconds)

    def started(task: str, asked: Asked, **options: Any) -> dict[str, Any]:
        return _job_document(jobs.start(request(task, asked, **options), limits.job_seconds))

    @app.get("/api/problems")
    def list_problems() -> list[dict[str, Any]]:
        """List the problems."""
        return catalogue.entries()

    @app.get("/api/policies")
    def list_policies() -> list[str]:
        """List the names of the policies."""
        return list(policy_names())

    @app.post("/api/problems", status_code=201)
    def upload_problem(
        files: Annotated[list[UploadFile], File(max_length=MAX_FILES)],
    ) -> dict[str, Any]:
        """Upload a problem file and its network; the answer gives the name to use for them."""
        content: dict[str, bytes] = {}
        for file in files:
            content[file.filename or ""] = file.file.read(MAX_BYTES + 1)
            if sum(map(len, content.values())) > MAX_BYTES:
                raise HTTPException(413, f"an upload may have at most {MAX_BYTES:,} bytes")
        with memory_limit(limits.memory_bytes):
            problem = read_upload(content)
        name = upload_id(content)
        catalogue.add(name, problem)
        return {"name": name} | problem_document(problem, {})

    @app.get("/api/problems/{name}")
    def show_problem(name: Annotated[str, Path(max_length=200)]) -> dict[str, Any]:
        """Say what a problem holds."""
        return {"name": name} | problem_document(catalogue.find(name), {})

    @app.post("/api/value")
    def value(asked: ValueAsked) -> dict[str, Any]:
        """Value a set of features."""
        return answer("value", asked, features=asked.features)

    @app.post("/api/best")
    def best(asked: Asked) -> dict[str, Any]:
        """Find the set of highest benefit."""
        return answer("best", asked, worker=explorer, share=SHARE_OF_TASK)

    @app.post("/api/advise")
    def advise(asked: AdviceAsked) -> dict[str, Any]:
        """Say what to do now; greedy says it where the policy asked for cannot in time."""
        deadline = Deadline(limits.seconds)
        free = _states(catalogue.find(asked.problem), asked.given)
        # Advice says what cannot be acquired without an unavailable feature: it sees all features.
        everything = asked.model_copy(update={"unavailable": []})

        def asking(policy: str) -> workers.Request:
            return request(
                "advise", everything, share=SHARE_OF_TASK, policy=policy, free=free,
                unavailable=asked.unavailable, together=asked.together,
            )  # fmt: skip

        try:
            return advisor.do(asking(asked.policy), SHARE_OF_POLICY * limits.seconds)
        except TooLargeError as error:
            if asked.policy == FALLBACK:
                raise
            found = advisor.do(asking(FALLBACK), deadline.seconds_left or 0.0)
            why = (
                f"{asked.policy} cannot answer here ({error.complaint}). This is what greedy does."
            )
            return found | {"fallback": FALLBACK, "reasons": [why, *found["reasons"]]}

    @app.post("/api/lattice")
    def lattice(asked: Asked) -> dict[str, Any]:
        """Build the lattice, with a drawing."""
        return answer("lattice", asked, worker=explorer)

    @app.post("/api/policy", status_code=202)
    def policy(asked: PolicyAsked) -> dict[str, Any]:
        """Start to build a policy; the answer names a job to ask for."""
        return started("policy", asked, share=SHARE_OF_TASK, policy=asked.policy)

    @app.post("/api/compare", status_code=202)
    def compare(asked: CompareAsked) -> dict[str, Any]:
        """Start to compare all policies along a sweep; the answer names a job to ask for."""
        return started("compare", asked, share=SHARE_OF_TASK, points=asked.points)

    @app.get("/api/jobs/{name}")
    def show_job(name: Annotated[str, Path(max_length=200)]) -> dict[str, Any]:
        """Say how far a job has come, with its result when it is done."""
        return _job_document(_found(jobs, name))

    @app.delete("/api/jobs/{name}")
    def cancel_job(name: Annotated[str, Path(max_length=200)]) -> dict[str, Any]:
        """Cancel a job."""
        job = _found(jobs, name)
        jobs.cancel(name)
        return _job_document(job)

    static = resources.files("voilattice.web") / "static"
    app.mount("/", StaticFiles(directory=str(static), html=True), name="page")
    return app


class _BodyLimit:
    """Reads no more of a request than it may have, whatever it says of its length."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0
        has_begun = False

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BODY:
                raise _TooMuch
            return message

        async def noted(message: Message) -> None:
            nonlocal has_begun
            # What the application makes of a body that was cut off is not what is wrong with it.
            if taken <= MAX_BODY or has_begun:
                has_begun = True
                await send(message)

        with suppress(_TooMuch):
            await self._app(scope, limited, noted)
        if taken > MAX_BODY and not has_begun:
            refusal = {"error": f"a request may have at most {MAX_BODY:,} bytes"}
            await JSONResponse(refusal, 413)(scope, receive, send)


class _TooMuch(Exception):
    """A request is too long."""


def _states(problem: Problem, known: Evidence) -> dict[str, str]:
    """Return the states that raw values stand for."""
    return problem.further(problem.merge_evidence(known))


def _found(jobs: workers.Jobs, name: str) -> workers.Job:
    if (job := jobs.find(name)) is None:
        raise HTTPException(404, f"no job {name!r}: it is too old, or the server was restarted")
    return job


def _job_document(job: workers.Job) -> dict[str, Any]:
    return {
        "job": job.id,
        "state": job.state,
        "progress": job.progress,
        "result": job.result,
        "error": job.error,
    }


def _add_guards(app: FastAPI) -> None:
    """Answer every mistake with the line that the command line prints, and guard the browser."""

    @app.exception_handler(VoilatticeError)
    def refused(request: Request, error: VoilatticeError) -> JSONResponse:
        return JSONResponse({"error": describe(error)}, status_of(error))

    @app.exception_handler(StarletteHTTPException)
    def failed(request: Request, error: StarletteHTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code)

    @app.exception_handler(RequestValidationError)
    def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":  # its place is a number of characters, not a field
            return JSONResponse({"error": "the body is not valid JSON"}, 422)
        place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
        said = first["msg"].removeprefix("Value error, ")  # pydantic's mark of our own checks
        return JSONResponse({"error": f"{place}: {said}"}, 422)

    @app.middleware("http")
    async def guard(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call(request)
        response.headers["Content-Security-Policy"] = CONTENT_SECURITY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response
