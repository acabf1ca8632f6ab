"""Who does what next, with workers that do as the test says."""

import asyncio
import threading

import pytest
from helpers.serving import run_async

from voilattice.errors import InputError, TooLargeError
from voilattice.web import pool as pools
from voilattice.web.pool import Level, Pool
from voilattice.web.refusals import Broken, Busy
from voilattice.web.workers import Ended, Outcome, Request


class Scripted:
    """A worker in a thread. A task called "wait..." ends when the test says so."""

    is_alive, has_answered, n_deaths = False, False, 0

    def __init__(self, memory_bytes):
        self.pid, self.seen, self.go, self.begun = 1, [], threading.Event(), threading.Event()
        self.is_killed = False

    def familiarity(self, request):
        return 2 * (request.name in {other.name for other in self.seen if other.name})

    def seconds_for(self, request):
        return 0.0 if request.task == "solved" else 9.0

    def exchange(self, request, tell):
        self.is_alive = self.has_answered = True
        self.seen.append(request)
        self.begun.set()
        if request.task == "die" or (request.task == "die once" and self.n(request) == 1):
            self.deaths.append(self)
            if request.task == "die" or len(self.deaths) == 1:
                raise Ended
        if request.task == "fail":
            raise InputError("no")
        if request.task == "break":
            raise KeyError("secret")
        if request.task.startswith("wait"):
            tell("half", 0.5)
            while not self.go.wait(0.01):
                if self.is_killed:
                    self.is_killed = False
                    raise Ended
        return Outcome(request.task.encode())

    def n(self, request):
        return sum(other is request for other in self.seen)

    def kill(self):
        self.is_killed = True

    def close(self):
        pass


@pytest.fixture(autouse=True)
def no_deaths():
    Scripted.deaths = []


def run(test, n_workers=3):
    """Run a test in an event loop, with a pool that is closed at the end."""

    async def whole():
        pool = Pool(n_workers, 1, Scripted)
        try:
            await asyncio.wait_for(test(pool), 30)
        finally:
            for worker in pool.workers:
                worker.go.set()
            await pool.close()

    run_async(whole())


def ask(pool, task, name="", *, level=Level.QUICK, seconds=20.0, **more):
    return asyncio.ensure_future(pool.do(Request(task, name), seconds, level=level, **more))


async def until(condition):
    while not condition():
        await asyncio.sleep(0.005)


def test_an_answer_an_error_and_what_is_told():
    async def test(pool):
        assert (await ask(pool, "a")).content == b"a"
        with pytest.raises(InputError, match="^no$"):
            await ask(pool, "fail")
        told = []
        work = ask(pool, "wait", tell=lambda *what: told.append(what))
        await until(lambda: len(told) == 2)
        assert told == [("", None), ("half", 0.5)]
        assert pool.n_busy == 1
        for worker in pool.workers:
            worker.go.set()
        await work
        assert pool.n_busy == 0

    run(test)


def test_what_is_quick_never_waits_for_what_is_long():
    async def test(pool):
        jobs = [ask(pool, f"wait {k}", level=Level.JOB) for k in range(5)]
        await until(lambda: pool.n_busy == 1)  # three workers: one for jobs,
        long = [ask(pool, f"wait {k}", level=Level.LONG) for k in range(5)]
        await until(lambda: pool.n_busy == 2)  # one more for what is long,
        for k in range(5):  # and one for what is quick
            assert (await ask(pool, f"{k}")).content == str(k).encode()
        assert pool.n_busy == 2
        for worker in pool.workers:
            worker.go.set()
        await asyncio.gather(*jobs, *long)

    run(test)


def test_a_problem_goes_to_the_worker_that_knows_it_unless_that_is_busy_with_something_long():
    async def test(pool):
        for _ in range(3):
            await ask(pool, "a", "heart")
            await ask(pool, "a", "asia")
        knows = [{r.name for r in worker.seen} for worker in pool.workers]
        assert sum("heart" in names for names in knows) == 1
        (expert,) = (w for w in pool.workers if "heart" in {r.name for r in w.seen})
        long = ask(pool, "wait", "heart", level=Level.LONG)
        await until(lambda: expert.seen[-1].task == "wait")
        await ask(pool, "b", "heart")
        assert expert.seen[-1].task == "wait"  # another one did it
        for worker in pool.workers:
            worker.go.set()
        await long

    run(test)


def test_a_task_waits_a_moment_for_the_worker_that_knows_its_problem(monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE", 0.05)

    async def test(pool):
        await ask(pool, "a", "heart")
        (expert,) = (w for w in pool.workers if w.seen)
        quick = ask(pool, "wait", "heart")
        await until(lambda: expert.seen[-1].task == "wait")
        work = ask(pool, "b", "heart")
        await asyncio.sleep(0)
        assert pool.n_busy == 1  # it waits,
        assert (await work).content == b"b"  # and then takes another
        assert expert.seen[-1].task == "wait"
        expert.go.set()
        await quick

    run(test)


def test_what_its_worker_has_solved_does_not_wait_for_what_is_long():
    async def test(pool):
        await ask(pool, "a", "heart", level=Level.LONG)
        (expert,) = (w for w in pool.workers if w.seen)
        long = [ask(pool, f"wait {k}", "asia", level=Level.LONG) for k in range(5)]
        await until(lambda: pool.n_busy == 1)  # the second worker is for what is quick
        if expert.seen[-1].task != "wait 0":
            assert (await ask(pool, "solved", "heart", level=Level.LONG)).content == b"solved"
        assert pool.n_busy == 1
        for worker in pool.workers:
            worker.go.set()
        await asyncio.gather(*long)

    run(test, n_workers=2)


def test_clients_take_turns():
    async def test(pool):
        greedy = [ask(pool, f"wait {k}", level=Level.LONG, client="greedy") for k in range(4)]
        await until(lambda: pool.n_busy == 1)
        modest = ask(pool, "wait modest", level=Level.LONG, client="modest")
        for worker in pool.workers:
            worker.go.set()
        await asyncio.gather(modest, *greedy)
        seen = [r.task for worker in pool.workers for r in worker.seen]
        assert seen.index("wait modest") == 1

    run(test, n_workers=2)


def test_what_lost_its_worker_is_tried_once_more():
    async def test(pool):
        assert (await ask(pool, "die once")).content == b"die once"
        assert len(Scripted.deaths) == 1
        with pytest.raises(Busy, match="^the worker process ended twice at this"):
            await ask(pool, "die")
        assert (await ask(pool, "a")).content == b"a"

    run(test)


def test_what_takes_too_long_is_stopped_and_what_waits_too_long_is_refused():
    async def test(pool):
        first = ask(pool, "wait 1", level=Level.LONG, seconds=0.2)
        waiting = ask(pool, "wait 2", level=Level.LONG, seconds=0.1)
        with pytest.raises(Busy, match="^too many requests are waiting"):
            await waiting
        with pytest.raises(TooLargeError, match="^not done after 0.2 seconds; ask for less"):
            await first
        assert pool.n_stops == 1
        assert (await ask(pool, "a", level=Level.LONG)).content == b"a"

    run(test, n_workers=2)


def test_a_turn_is_waited_for_no_longer_than_patience_allows():
    async def test(pool):
        first = ask(pool, "wait 1", level=Level.LONG)
        with pytest.raises(Busy, match="^too many requests are waiting"):
            await ask(pool, "wait 2", level=Level.LONG, patience=0.05)
        patient = ask(pool, "wait 3", level=Level.LONG, patience=20.0)
        for worker in pool.workers:
            worker.go.set()
        assert (await patient).content == b"wait 3"
        await first

    run(test, n_workers=2)


def test_what_lost_its_worker_after_its_patience_was_over_waits_no_longer_than_it_may():
    async def test(pool):
        work = ask(pool, "wait", level=Level.LONG, seconds=0.3, patience=0.01)
        await until(lambda: pool.n_busy == 1)
        (worker,) = (worker for worker in pool.workers if worker.seen)
        first = ask(pool, "wait first", level=Level.QUICK)
        second = ask(pool, "wait second", level=Level.QUICK)
        await until(lambda: pool.n_waiting == 1)
        worker.is_killed = True  # by somebody else: the task is put back, behind what is quick
        with pytest.raises(Busy, match="^too many requests are waiting"):
            await work
        for worker in pool.workers:
            worker.go.set()
        await asyncio.gather(first, second)

    run(test, n_workers=2)


def test_an_error_of_our_own_is_logged_and_told_without_what_was_asked(caplog):
    async def test(pool):
        with pytest.raises(Broken, match=r"KeyError in test_pool.py, line \d+\)") as told:
            await ask(pool, "break")
        assert "secret" not in str(told.value)

    run(test)
    assert "KeyError in test_pool.py" in caplog.text
    assert "secret" not in caplog.text


def test_a_pool_is_ready_once_all_workers_have_answered_and_while_one_of_them_runs(monkeypatch):
    monkeypatch.setattr(pools, "SECONDS_PER_LOOK", 0.01)

    async def test(pool):
        assert (pool.is_ready, pool.n_alive) == (False, 0)
        await ask(pool, "a")
        assert (pool.is_ready, pool.n_alive) == (False, 1)
        pool.start()
        await until(lambda: pool.is_ready)
        assert pool.n_alive == 3
        victim = pool.workers[1]
        n_seen = len(victim.seen)
        victim.is_alive = False  # while it is idle, or because its job was cancelled
        assert (pool.is_ready, pool.n_alive) == (True, 2)
        await until(lambda: pool.n_alive == 3)
        assert [request.task for request in victim.seen[n_seen:]] == ["warm"]
        for worker in pool.workers:
            worker.is_alive = False
        assert (pool.is_ready, pool.n_alive) == (False, 0)
        await until(lambda: pool.is_ready)
        await pool.close()
        assert not pool.is_ready

    run(test)


class Looks:
    """A deadline that is never over, and counts who looks at it."""

    seconds_left, n = 9.0, 0

    @property
    def is_over(self):
        self.n += 1
        return False


def test_a_job_that_is_cancelled_is_stopped_and_any_other_task_goes_on():
    async def test(pool):
        job = ask(pool, "wait job", level=Level.JOB, is_job=True, seconds=1000.0)
        await until(lambda: pool.n_busy == 1)
        queued = ask(pool, "wait queued", level=Level.JOB, is_job=True)
        queued.cancel()
        job.cancel()
        await until(lambda: pool.n_busy == 0)
        assert [r.task for w in pool.workers for r in w.seen if r.task != "warm"] == ["wait job"]
        long = ask(pool, "wait long", level=Level.LONG)
        await until(lambda: pool.n_busy == 1)
        (ticket,) = filter(None, pool._at_work.values())
        ticket.deadline = looks = Looks()
        long.cancel()
        await until(long.done)
        looks.n = 0
        await until(lambda: looks.n == 2 or pool.n_busy == 0)
        assert pool.n_busy == 1

    run(test)


def test_advice_that_is_a_job_does_not_wait_for_whole_policies_and_can_be_stopped():
    async def test(pool):
        policies = [ask(pool, f"wait {k}", level=Level.JOB, is_job=True) for k in range(3)]
        await until(lambda: pool.n_busy == 1)
        advice = ask(pool, "wait advice", level=Level.LONG, is_job=True, seconds=1000.0)
        await until(lambda: pool.n_busy == 2)
        advice.cancel()
        await until(lambda: pool.n_busy == 1)
        for policy in policies:
            policy.cancel()

    run(test)


def test_no_more_tasks_wait_than_may(monkeypatch):
    monkeypatch.setattr(pools, "MAX_WAITING", 1)

    async def test(pool):
        work = [ask(pool, f"wait {k}", level=Level.LONG) for k in range(2)]
        await until(lambda: pool.n_busy == 1)
        with pytest.raises(Busy, match="^too many requests are waiting"):
            await ask(pool, "wait", level=Level.LONG)
        for worker in pool.workers:
            worker.go.set()
        await asyncio.gather(*work)

    run(test, n_workers=2)


def test_a_pool_that_is_closed_says_so():
    async def test(pool):
        work = [ask(pool, f"wait {k}", level=Level.LONG) for k in range(2)]
        await until(lambda: pool.n_busy == 1)
        await pool.close()
        for one in (*work, ask(pool, "late")):
            with pytest.raises(Busy, match="^the server is being stopped$"):
                await one

    run(test, n_workers=2)


def test_a_worker_that_warms_up_is_not_the_one_left_for_what_is_quick():
    async def test(pool):
        pool._at_work[pool.workers[0]] = None
        long = [ask(pool, f"wait {k}", level=Level.LONG) for k in range(3)]
        await until(lambda: pool.n_busy == 1)
        assert (await ask(pool, "quick")).content == b"quick"
        assert pool.n_busy == 1
        del pool._at_work[pool.workers[0]]
        for worker in pool.workers:
            worker.go.set()
        await asyncio.gather(*long)

    run(test)


def test_workers_warm_up_one_after_another():
    async def test(pool):
        pool.start()
        await until(lambda: all(worker.seen for worker in pool.workers))
        assert {r.task for worker in pool.workers for r in worker.seen} == {"warm"}
        assert pool.n_busy == 0

    run(test)
