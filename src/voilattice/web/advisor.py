"""The advisor behind the routes: it finds the problem, the answer that is kept, or a worker.

Nothing of a consultation is kept here: every question brings its problem's name and all that is
known, so a server can be stopped and started in the middle of one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Self

from pydantic import BaseModel, model_validator

from voilattice import time_plan
from voilattice.consultation.advice import FALLBACK
from voilattice.errors import TooLargeError, located
from voilattice.model.problem import Problem
from voilattice.warming import Warming, start_warming
from voilattice.web.answers import Answers
from voilattice.web.cases import read_case
from voilattice.web.catalogue import Catalogue
from voilattice.web.jobs import Job, Jobs
from voilattice.web.logs import log
from voilattice.web.pool import Level, Pool
from voilattice.web.questions import (
    QUESTIONS,
    AdviceAsked,
    Asked,
    BatchAsked,
    Case,
    ThresholdAsked,
    WhatIf,
)
from voilattice.web.refusals import Busy, TooMany, UnknownProblem
from voilattice.web.shelf import Shelf
from voilattice.web.uploads import upload_id
from voilattice.web.workers import Outcome, Request, Tell
from voilattice.wording import count_noun

__all__ = ["Advisor", "Limits"]


QUICK_POLICIES = frozenset({"none", FALLBACK})
QUICK_TASKS = frozenset({"describe", "network"}.union(q.task for q in QUESTIONS if q.is_quick))
TIMED_TASKS = frozenset(q.task for q in QUESTIONS if q.is_timed)


class Limits(BaseModel):
    """What requests may take."""

    seconds: float = 30.0  # of work for an answer
    late_seconds: float = 120.0  # for any answer, waiting included
    job_seconds: float = 300.0  # for a job
    memory_bytes: int = 1 << 30  # for the tables of each worker
    answer_bytes: int = 64_000_000  # for answers that are kept
    jobs: int = 32  # at work or waiting
    advice_jobs: int = 256  # the same, of advice alone
    client_jobs: int = 8  # the same, of one client
    client_requests: int = 256  # in work, of one client
    client_uploads: int = 30  # a minute, of one client

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if not 0 < self.seconds <= self.late_seconds:
            raise ValueError("seconds must be above 0, and late_seconds no less")
        return self


class Advisor:
    """Answers questions about problems. Used from one event loop alone."""

    def __init__(
        self,
        problems: Mapping[str, Problem],
        limits: Limits,
        n_workers: int,
        shelf: Shelf | None = None,
    ) -> None:
        self.catalogue = Catalogue(problems)
        self.limits = limits
        self.pool = Pool(n_workers, limits.memory_bytes)
        self.jobs = Jobs(limits.jobs, limits.client_jobs, limits.advice_jobs)
        self.n_fallbacks = 0  # advice by greedy in place of the policy asked for
        self._warming: Warming | None = None
        self._shelf = shelf
        self._uploads: dict[str, list[float]] = {}  # when each client uploaded, lately
        self._answers = Answers(limits.answer_bytes)
        self._in_work: dict[str, asyncio.Task[bytes]] = {}

    def start(self) -> None:
        """Start the workers, and a process that compiles kernels beside them."""
        self._warming = start_warming(_log_failed_warming)
        self.pool.start()

    @property
    def is_ready(self) -> bool:
        """Whether workers run and nothing is being compiled: answers have their usual speed."""
        return self.pool.is_ready and self._warming is not None and self._warming.is_done

    async def close(self) -> None:
        """Cancel what is at work and end the workers."""
        if self._warming is not None:
            await asyncio.to_thread(self._warming.stop)
        self.jobs.cancel_all()
        await self.pool.close()

    async def describe(self, task: str, name: str, client: str) -> bytes:
        """Say what a problem holds ("describe"), or draw its network ("network")."""
        request = Request(task, name, await self._problem(name, client))
        return await self._answer(request, "", client)

    async def answer(self, task: str, asked: WhatIf, client: str) -> bytes:
        """Return the answer to a question: a kept one, or one that a worker finds."""
        request = await self._request(task, asked, client)
        return await self._answer(request, asked.model_dump_json(), client)

    async def advise(self, task: str, asked: AdviceAsked | BatchAsked, client: str) -> bytes:
        """Say what to do now in a case ("advise") or in many ("batch").

        Where the policy asked for cannot answer in time, greedy does, and the advice says so.
        """
        request = await self._request(task, asked, client)

        async def work() -> Outcome:
            return await self._advise(request, client, self.limits.seconds)

        return await self._once(task + asked.model_dump_json(), work)

    async def start_job(self, task: str, asked: Asked, client: str) -> Job:
        """Begin a job."""
        request, seconds = await self._request(task, asked, client), self.limits.job_seconds

        async def work(tell: Tell) -> Outcome:
            if task == "advise":
                return await self._advise(request, client, seconds, tell, is_job=True)
            return await self.pool.do(
                request, seconds, level=Level.JOB, client=client, is_job=True, tell=tell
            )

        return self.jobs.start(work, client, is_advice=task == "advise")

    async def upload(self, files: Mapping[str, bytes], client: str) -> bytes:
        """Read a problem, and keep it under the name of its content.

        What is sent again is neither read nor counted again.
        """
        name = upload_id(files)
        if name in self.catalogue:
            content = await self.describe("describe", name, client)
        else:
            self._count_upload(client)
            content = (await self._read(files, client)).content
        if self._shelf is not None:  # what was sent long ago may have made room there
            await asyncio.to_thread(self._shelf.keep, name, files)
        return content

    def _count_upload(self, client: str) -> None:
        """Refuse an upload of a client that has sent too many in the last minute."""
        start = time.monotonic() - 60
        lately = {c: [t for t in times if t > start] for c, times in self._uploads.items()}
        self._uploads = {c: times for c, times in lately.items() if times}
        mine = self._uploads.setdefault(client, [])
        if len(mine) >= self.limits.client_uploads:
            uploads = count_noun(len(mine), "upload")
            raise TooMany(f"you sent {uploads} in a minute; try again later")
        mine.append(time.monotonic())

    async def _read(self, files: Mapping[str, bytes], client: str) -> Outcome:
        """Have a worker read an upload: what is in it can take time and memory."""
        name = upload_id(files)
        request = Request("upload", options={"files": dict(files), "name": name})
        outcome = await self._do(request, Level.LONG, client)
        if outcome.problem is not None:
            self.catalogue.add(name, outcome.problem)
        return outcome

    async def _problem(self, name: str, client: str) -> Problem:
        """Return a problem; an upload of earlier days is read again if it was kept."""
        try:
            return self.catalogue.find(name)
        except UnknownProblem:
            shelf = self._shelf
            files = None if shelf is None else await asyncio.to_thread(shelf.find, name)
            if files is None:
                raise
        await self._read(files, client)
        return self.catalogue.find(name)

    async def _advise(
        self,
        request: Request,
        client: str,
        seconds: float,
        tell: Tell = lambda text, fraction: None,
        *,
        is_job: bool = False,
    ) -> Outcome:
        asked, begin = request.options["policy"], time.monotonic()

        async def ask(policy: str) -> Outcome:
            changed = replace(request, options={**request.options, "policy": policy})
            level, limit = Level.LONG, time_plan.POLICY_ASKED_FOR * seconds
            patience = time_plan.TURN * limit
            if policy in QUICK_POLICIES:
                # It plans no longer than before. But on a machine that has too much to do, advice
                # that comes late is better than none.
                late = (self.limits.late_seconds - (time.monotonic() - begin)) / 2
                level, limit, patience = Level.QUICK, seconds if is_job else late, late
                changed = replace(changed, share=time_plan.TASK * seconds / limit)
            return await self.pool.do(
                changed, limit, level=level, client=client, is_job=is_job, patience=patience,
                tell=tell,
            )  # fmt: skip

        try:
            outcome = await ask(asked)
        except (TooLargeError, Busy) as error:  # it took too long, or its turn did not come
            if asked == FALLBACK:
                raise
            document = json.loads((await ask(FALLBACK)).content)
            why = f"{asked} cannot answer here ({error.complaint}). This is what greedy does."
            parts = document.get("answers", [document])  # of a batch
            advices = [part for part in parts if "error" not in part]
            for advice in advices:
                reasons = [why, *advice["reasons"]]
                advice.update({"fallback": FALLBACK, "quick": True, "reasons": reasons})
            outcome = Outcome(json.dumps(document).encode(), False, len(advices))
        self.n_fallbacks += outcome.n_fallbacks
        return outcome

    async def _answer(self, request: Request, question: str, client: str) -> bytes:
        level = Level.QUICK if request.task in QUICK_TASKS else Level.LONG

        async def work() -> Outcome:
            return await self._do(request, level, client)

        return await self._once(f"{request.task} {request.name} {question}", work)

    async def _do(self, request: Request, level: Level, client: str) -> Outcome:
        """Have a worker do a task; what is quick may be slow, where there is too much to do."""
        late = self.limits.late_seconds
        seconds = late / 2 if level is Level.QUICK else self.limits.seconds
        return await self.pool.do(
            request, seconds, level=level, client=client, patience=late - seconds
        )

    async def _once(self, question: str, work: Callable[[], Awaitable[Outcome]]) -> bytes:
        """Return a kept answer, or have it worked out once for all who ask for it now."""
        if (kept := self._answers.find(question)) is not None:
            return kept
        if (task := self._in_work.get(question)) is None:

            async def answer() -> bytes:
                try:
                    outcome = await work()
                    if outcome.is_final:
                        self._answers.keep(question, outcome.content)
                    return outcome.content
                finally:
                    del self._in_work[question]

            task = self._in_work[question] = asyncio.ensure_future(answer())
            # If nobody waits for it any more, nobody else looks at its error.
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(task)

    async def _request(self, task: str, asked: WhatIf, client: str) -> Request:
        """Return what a worker is asked; raw values are states then."""
        problem, options = await self._problem(asked.problem, client), asked.options
        if isinstance(asked, Case):
            fields = {name: getattr(asked, name) for name in Case.model_fields}
            options["case"] = case = read_case(problem, fields)
            if isinstance(asked, ThresholdAsked):  # a job would fail later
                with located("feature"):
                    known = problem.evidence | case["evidence"] | case["given"]
                    problem.check_acquirable([asked.feature], known)
        share = time_plan.TASK if task in TIMED_TASKS else None
        return Request(task, asked.problem, problem, json.dumps(asked.changes), options, share)


def _log_failed_warming(status: int) -> None:
    log.warning(
        "kernels could not be compiled (exit status %d; voilattice warm says why): NumPy does "
        "their work, or they are compiled at their first use",
        status,
    )
