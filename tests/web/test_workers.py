"""Processes that do the work, one task after another, and jobs."""

import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from helpers.serving import waited_for

from voilattice import load_problem, value
from voilattice.budgets import Deadline
from voilattice.documents import value_document
from voilattice.errors import Remedy, TooLargeError, UnknownNameError
from voilattice.web import workers
from voilattice.web.refusals import Busy
from voilattice.web.workers import Cancelled, Jobs, Request, Worker


@pytest.mark.slow
def test_jobs_can_be_cancelled_and_the_next_one_runs(api):
    points = [float(x) for x in range(0, 4000, 40)]
    slow = api.post("/api/compare", json={"problem": "hepatitis", "points": points}).json()
    waiting = api.post("/api/policy", json={"problem": "asia", "policy": "greedy"}).json()
    assert api.delete(f"/api/jobs/{slow['job']}").status_code == 200
    assert waited_for(api, slow)["state"] == "cancelled"
    assert waited_for(api, waiting)["state"] == "done"
    assert api.get("/api/jobs/nothing").status_code == 404
    assert api.delete("/api/jobs/nothing").status_code == 404


@pytest.mark.slow
def test_light_requests_are_answered_while_a_heavy_one_runs(api):
    points = [float(x) for x in range(0, 4000, 40)]
    heavy = api.post("/api/compare", json={"problem": "thyroid", "points": points}).json()

    def ask(k):
        begin = time.perf_counter()
        path = ("/api/problems", "/api/problems/asia")[k % 2]
        status = api.get(path).status_code
        return status, time.perf_counter() - begin

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    still = api.get(f"/api/jobs/{heavy['job']}").json()["state"]
    api.delete(f"/api/jobs/{heavy['job']}")
    assert {status for status, _ in answers} == {200}
    assert still in {"queued", "running"}  # so no answer waited for the heavy one
    print(f"median {statistics.median(t for _, t in answers):.3f} s")


@pytest.mark.slow
def test_a_failing_job_says_why(api):
    asked = {"problem": "asia", "policy": "greedy", "unavailable": ["lung"]}  # the target
    found = waited_for(api, api.post("/api/policy", json=asked).json())
    assert (found["state"], found["result"]) == ("failed", None)
    assert "'lung'" in found["error"]


@pytest.mark.slow
def test_many_at_once_are_answered_or_told_to_come_again(api):
    def ask(k):
        asked = {"problem": "diabetes", "policy": "greedy-la", "stakes": {
            "kind": "symmetric", "expected": 100.0 + k}}  # fmt: skip
        return api.post("/api/advise", json=asked).status_code

    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(ask, range(60)))
    assert set(answers) <= {200, 503}
    assert answers.count(200) >= 10


class Slow:
    """A worker whose tasks end when the test says so, one after another."""

    def __init__(self):
        self.turn, self.go = threading.Lock(), threading.Event()

    def do(self, request, seconds, *, tell, is_cancelled):
        with self.turn:
            if is_cancelled():
                raise Cancelled
            tell("begun")
            assert self.go.wait(30)
            if isinstance(request, Exception):
                raise request
            return {"task": request}


def ended(job):
    for _ in range(3000):
        if job.state not in {"queued", "running"}:
            return job
        time.sleep(0.01)
    pytest.fail("the job has not ended")


def test_a_job_ends_with_its_document_or_the_reason():
    worker = Slow()
    jobs = Jobs(worker, 5)
    good = jobs.start("asked", 9.0)
    bad = jobs.start(TooLargeError("too much", remedies=(Remedy("ask less", "max_nodes"),)), 9.0)
    assert jobs.find(good.id) is good
    worker.go.set()
    assert (ended(good).state, good.result, good.error) == ("done", {"task": "asked"}, None)
    assert (ended(bad).state, bad.result) == ("failed", None)
    assert bad.error.startswith("too much; use the command line")


def test_no_more_jobs_wait_than_may():
    worker = Slow()
    jobs = Jobs(worker, 2)
    first, second = jobs.start("a", 9.0), jobs.start("b", 9.0)
    with pytest.raises(Busy, match="^2 jobs are running or waiting; try again later$"):
        jobs.start("c", 9.0)
    jobs.cancel(second.id)
    third = jobs.start("c", 9.0)
    worker.go.set()
    assert (ended(first).state, ended(third).state) == ("done", "done")
    assert (second.state, second.result) == ("cancelled", None)


def test_a_job_that_has_ended_cannot_be_cancelled():
    worker = Slow()
    worker.go.set()
    jobs = Jobs(worker, 2)
    job = ended(jobs.start("a", 9.0))
    jobs.cancel(job.id)
    jobs.cancel("nothing")
    assert job.state == "done"
    assert jobs.find("nothing") is None


def test_only_the_latest_jobs_are_kept(monkeypatch):
    monkeypatch.setattr(workers, "MAX_KEPT_JOBS", 2)
    worker = Slow()
    worker.go.set()
    jobs = Jobs(worker, 2)
    made = [ended(jobs.start(k, 9.0)) for k in range(5)]
    kept = [jobs.find(job.id) is not None for job in made]
    assert kept == [False, False, True, True, True]


@pytest.fixture
def worker():
    worker = Worker(1 << 30)
    yield worker
    worker.stop()


ASIA = Request("value", "asia", load_problem("asia"), options={"features": ["xray"]})


@pytest.mark.slow
def test_a_worker_is_told_a_problem_once_and_goes_on_after_an_error(worker):
    first = worker.do(ASIA, 60)
    assert first == value_document(value(ASIA.problem, ["xray"]))
    assert worker.do(replace(ASIA, problem=None), 60) == first
    with pytest.raises(UnknownNameError, match="no feature 'smok' "):
        worker.do(replace(ASIA, options={"features": ["smok"]}), 60)
    assert worker.do(ASIA, 60) == first


@pytest.mark.slow
def test_a_task_that_takes_too_long_ends_with_its_process_and_the_next_has_another(worker):
    points = [float(x) for x in range(0, 4000, 10)]
    long = Request(
        "compare", "heart", load_problem("heart"), options={"points": points, "seconds": 60.0}
    )
    with pytest.raises(TooLargeError, match="^not done after 0.3 seconds; ask for less"):
        worker.do(long, 0.3)
    looks = iter([False, False, False])
    with pytest.raises(Cancelled):
        worker.do(long, 60, is_cancelled=lambda: next(looks, True))
    assert next(looks, None) is None
    assert worker.do(ASIA, 60)["features"] == ["xray"]


@pytest.mark.slow
def test_a_worker_that_dies_is_said_to_have_died(worker):
    worker.do(ASIA, 60)
    worker._process.kill()
    worker._process.join()
    assert worker.do(ASIA, 60)["features"] == ["xray"]  # a new one, told the problem again
    worker.close()
    with pytest.raises(Busy, match="^the server is being stopped$"):
        worker.do(replace(ASIA, problem=None), 60, tell=lambda text: worker._process.join())


def test_a_task_gets_a_share_of_the_time_that_is_left():
    asked = replace(ASIA, share=0.5)
    assert asked.within(Deadline(60)).options["seconds"] == pytest.approx(30, abs=1)
    assert asked.within(Deadline()) is asked
    assert ASIA.within(Deadline(60)) is ASIA
