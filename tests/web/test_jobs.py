"""Tasks in the background, each with a name to ask for it."""

import asyncio
import json

import pytest
from helpers.serving import run_async

from voilattice.errors import Remedy, TooLargeError
from voilattice.web import jobs as module
from voilattice.web.jobs import Jobs
from voilattice.web.refusals import Busy, TooMany
from voilattice.web.workers import Outcome


def run(test):
    async def whole():
        await asyncio.wait_for(test(), 30)

    run_async(whole())


def answering(content):
    async def work(tell):
        tell("begun", 0.5)
        return Outcome(content)

    return work


async def for_ever(tell):
    tell("begun", None)
    await asyncio.Event().wait()


async def ended(job):
    while job.is_active:
        await asyncio.sleep(0.001)
    return json.loads(job.document)


def test_a_job_ends_with_its_document_or_the_reason():
    async def failing(tell):
        raise TooLargeError("too much", remedies=(Remedy("ask less", "max_nodes"),))

    async def test():
        jobs = Jobs(5, 5, 5)
        good, bad = jobs.start(answering(b'{"a": 1}')), jobs.start(failing)
        assert jobs.find(good.id) is good
        assert json.loads(good.document)["state"] == "queued"
        done, failed = await ended(good), await ended(bad)
        assert (done["state"], done["result"], done["error"]) == ("done", {"a": 1}, None)
        assert (done["progress"], done["fraction"]) == ("begun", 1.0)
        assert (failed["state"], failed["result"]) == ("failed", None)
        assert failed["error"]["status"] == 413
        assert failed["error"]["detail"].startswith("too much; use the command line")
        assert jobs.find("nothing") is None

    run(test)


def test_no_more_jobs_are_active_than_may():
    async def test():
        jobs = Jobs(3, 2, 3)
        first, second = jobs.start(for_ever, "a"), jobs.start(for_ever, "a")
        with pytest.raises(TooMany, match="^you have 2 jobs running or waiting"):
            jobs.start(for_ever, "a")
        jobs.start(for_ever, "b")
        with pytest.raises(
            Busy, match="^the server has 3 jobs running or waiting; try again later$"
        ):
            jobs.start(for_ever, "c")
        jobs.cancel(second)
        third = jobs.start(answering(b"3"), "a")
        assert (await ended(third))["result"] == 3
        assert (await ended(second))["state"] == "cancelled"
        jobs.cancel_all()
        assert (await ended(first))["state"] == "cancelled"

    run(test)


def test_advice_does_not_wait_until_longer_jobs_have_ended():
    async def test():
        jobs = Jobs(1, 9, 2)
        jobs.start(for_ever)
        with pytest.raises(Busy, match="^the server has 1 job running or waiting"):
            jobs.start(for_ever)
        for _ in range(2):
            jobs.start(for_ever, is_advice=True)
        with pytest.raises(Busy, match="^the server has 2 jobs running or waiting"):
            jobs.start(for_ever, is_advice=True)
        assert len(jobs.states) == 3
        jobs.cancel_all()

    run(test)


def test_a_job_that_meets_an_error_of_our_own_fails_without_details(caplog):
    async def broken(tell):
        raise KeyError("secret")

    async def test():
        failed = await ended(Jobs(1, 1, 1).start(broken))
        assert (failed["state"], failed["error"]["status"]) == ("failed", 500)
        assert "KeyError in test_jobs.py, line " in failed["error"]["detail"]
        assert "secret" not in failed["error"]["detail"] + caplog.text
        assert "KeyError in test_jobs.py" in caplog.text

    run(test)


def test_a_job_that_has_ended_cannot_be_cancelled():
    async def test():
        jobs = Jobs(2, 2, 2)
        job = jobs.start(answering(b"1"))
        await ended(job)
        jobs.cancel(job)
        assert job.state == "done"

    run(test)


@pytest.mark.parametrize(("limit", "value"), [("MAX_KEPT", 3), ("MAX_KEPT_BYTES", 2)])
def test_only_the_latest_jobs_are_kept(monkeypatch, limit, value):
    monkeypatch.setattr(module, limit, value)

    async def test():
        jobs, made = Jobs(2, 2, 2), []
        for _ in range(5):
            made.append(jobs.start(answering(b"1")))
            await ended(made[-1])
        kept = [jobs.find(job.id) is not None for job in made]
        assert kept == [False, False, True, True, True]

    run(test)


def test_a_job_that_nobody_asks_for_is_cancelled():
    async def test():
        jobs = Jobs(5, 5, 5)
        forgotten, awaited = jobs.start(for_ever), jobs.start(for_ever)
        forgotten.asked -= 2 * module.MAX_SILENCE
        awaited.asked -= 2 * module.MAX_SILENCE
        jobs.find(awaited.id)
        jobs.start(answering(b"{}"))
        assert (forgotten.state, awaited.is_active) == ("cancelled", True)
        jobs.cancel_all()

    run(test)
