"""Jobs: tasks that take long, each with a name to ask for it, or to cancel it."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from voilattice.documents import Json
from voilattice.errors import VoilatticeError
from voilattice.web.logs import log
from voilattice.web.refusals import Broken, Busy, TooMany, refusal_of
from voilattice.web.schemas import JobStatus
from voilattice.web.workers import Outcome, Tell
from voilattice.wording import count_noun

__all__ = ["Job", "Jobs"]

MAX_KEPT = 256  # that have ended
MAX_SILENCE = 90.0  # seconds; a browser may let a page in the background ask only once a minute
MAX_KEPT_BYTES = 64_000_000

Work = Callable[[Tell], Awaitable[Outcome]]


@dataclass(eq=False, slots=True)
class Job:
    """A task that is waited for: queued, running, then done, failed or cancelled."""

    client: str
    is_advice: bool = False
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: str = "queued"
    progress: str = ""
    fraction: float | None = None
    result: bytes | None = None
    error: Json | None = None
    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None
    asked: float = field(default_factory=time.monotonic)  # when somebody asked for it last
    task: asyncio.Task[None] | None = None

    @property
    def is_active(self) -> bool:
        """Whether the job waits or is at work."""
        return self.state in {"queued", "running"}

    @property
    def document(self) -> bytes:
        """The job as JSON."""
        seconds = (self.ended or time.monotonic()) - self.begun
        status = JobStatus.json_of(self, seconds=round(seconds, 3), result=None)
        # The result, which comes last, is JSON already.
        head = json.dumps(status).encode().removesuffix(b"null}")
        return head + (b"null" if self.result is None else self.result) + b"}"

    def tell(self, text: str, fraction: float | None) -> None:
        """Note how far the work is."""
        if self.is_active:
            self.state, self.progress, self.fraction = "running", text, fraction

    def end(self, state: str, result: bytes | None = None, error: Json | None = None) -> None:
        """Note what became of the work."""
        if self.is_active:
            self.state, self.result, self.error = state, result, error
            self.ended = time.monotonic()
            self.fraction = 1.0 if state == "done" else self.fraction


class Jobs:
    """Tasks in the background. Used from one event loop alone.

    Parameters
    ----------
    max_active
        How many may wait or be at work.
    max_of_client
        How many of these may be one client's.
    max_advice
        How many jobs of advice may wait or be at work beside the others: each of them ends in
        seconds, and every page that is open has one now and then.
    """

    def __init__(self, max_active: int, max_of_client: int, max_advice: int) -> None:
        self._max_active, self._max_of_client = max_active, max_of_client
        self._max_advice = max_advice
        self._jobs: dict[str, Job] = {}

    @property
    def states(self) -> list[str]:
        """The state of each job that is kept."""
        return [job.state for job in self._jobs.values()]

    def start(self, work: Work, client: str = "", *, is_advice: bool = False) -> Job:
        """Begin a job.

        Raises
        ------
        Busy, TooMany
            Too many are at work, of all clients or of this one.
        """
        self._drop_forgotten()
        active = [job for job in self._jobs.values() if job.is_active]
        mine = sum(job.client == client for job in active)
        if mine >= self._max_of_client:
            own = count_noun(mine, "job")
            raise TooMany(f"you have {own} running or waiting; cancel one, or wait")
        alike = sum(job.is_advice == is_advice for job in active)
        if alike >= (self._max_advice if is_advice else self._max_active):
            others = count_noun(alike, "job")
            raise Busy(f"the server has {others} running or waiting; try again later")
        self._drop_old()
        job = Job(client, is_advice)
        self._jobs[job.id] = job
        job.task = asyncio.ensure_future(_run(job, work))
        return job

    def find(self, name: str) -> Job | None:
        """Return a job by its name, or None."""
        if (job := self._jobs.get(name)) is not None:
            job.asked = time.monotonic()
        return job

    def cancel(self, job: Job) -> None:
        """Cancel a job; one that has ended stays as it is."""
        if job.is_active and job.task is not None:
            job.end("cancelled")
            job.task.cancel()

    def cancel_all(self) -> None:
        """Cancel all jobs."""
        for job in self._jobs.values():
            self.cancel(job)

    def _drop_forgotten(self) -> None:
        """Cancel the jobs that nobody asks for any more: a browser may have died."""
        for job in self._jobs.values():
            if time.monotonic() - job.asked > MAX_SILENCE:
                self.cancel(job)

    def _drop_old(self) -> None:
        """Forget the oldest jobs that have ended, if there are too many."""
        ended = [job for job in self._jobs.values() if not job.is_active]
        n_kept, n_bytes = len(ended), sum(len(job.result or b"") for job in ended)
        for job in ended:
            if n_kept < MAX_KEPT and n_bytes <= MAX_KEPT_BYTES:
                return
            n_kept, n_bytes = n_kept - 1, n_bytes - len(job.result or b"")
            del self._jobs[job.id]


async def _run(job: Job, work: Work) -> None:
    try:
        outcome = await work(job.tell)
        job.end("done", outcome.content)
    except VoilatticeError as error:
        job.end("failed", error=refusal_of(error))
    except Exception as error:
        broken = Broken.by(error)
        log.error("a job failed: %s", broken.message)
        job.end("failed", error=refusal_of(broken))
