"""A process that does one task after another."""

import json
import math
import os
import signal
from dataclasses import replace

import pytest

from voilattice import load_problem, value
from voilattice.budgets import Deadline
from voilattice.documents.sets import SetValue
from voilattice.errors import UnknownNameError
from voilattice.web import tasks
from voilattice.web.refusals import Broken
from voilattice.web.workers import MAX_VARIANTS, Ended, Request, Worker

ASIA = Request("value", "asia", load_problem("asia"), options={"features": ["xray"]})


@pytest.fixture
def worker():
    worker = Worker(1 << 30)
    yield worker
    worker.close()


def silent(text, fraction):
    pass


def do(worker, request):
    return json.loads(worker.exchange(request, silent).content)


@pytest.mark.slow
def test_a_worker_is_told_a_problem_once_and_goes_on_after_an_error(worker):
    assert (worker.pid, worker.familiarity(ASIA)) == (None, 0)
    first = do(worker, ASIA)
    assert first == SetValue.json_of(value(ASIA.problem, ["xray"]))
    assert do(worker, replace(ASIA, problem=None)) == first
    with pytest.raises(UnknownNameError, match="no feature 'smok' "):
        do(worker, replace(ASIA, options={"features": ["smok"]}))
    assert do(worker, ASIA) == first
    assert worker.familiarity(ASIA) == 2
    assert worker.familiarity(replace(ASIA, changes='{"stakes": {"scale": 2}}')) == 1


@pytest.mark.slow
def test_a_worker_that_dies_is_said_to_have_died_and_the_next_task_has_another(worker, caplog):
    long = Request("compare", "asia", ASIA.problem, options={"points": [1.0, 2.0], "seconds": 9.0})
    with pytest.raises(Ended):
        worker.exchange(long, lambda text, fraction: os.kill(worker.pid, signal.SIGKILL))
    assert (worker.familiarity(ASIA), worker.n_deaths) == (0, 1)
    assert (worker.is_alive, worker.has_answered) == (False, False)
    assert do(worker, ASIA)["features"] == ["xray"]
    assert (worker.is_alive, worker.has_answered) == (True, True)
    first = worker.pid
    os.kill(first, signal.SIGKILL)  # while it is idle
    worker._process.join()
    assert do(worker, ASIA)["features"] == ["xray"]
    assert worker.n_deaths == 2
    assert f"worker process {first} ended by itself (exit status -9)" in caplog.text
    worker.kill()  # on purpose
    worker._process.join()
    assert do(worker, ASIA)["features"] == ["xray"]
    assert worker.n_deaths == 2


def test_a_task_gets_a_share_of_the_time_that_is_left():
    asked = replace(ASIA, share=0.5)
    assert asked.within(Deadline(60)).options["seconds"] == pytest.approx(30, abs=1)
    assert asked.within(Deadline()) is asked
    assert ASIA.within(Deadline(60)) is ASIA


def test_a_problem_that_the_worker_no_longer_has_is_asked_for(monkeypatch):
    monkeypatch.setattr(tasks, "_problems", tasks.OrderedDict())
    monkeypatch.setattr(tasks, "MAX_PROBLEMS", 1)
    asked = replace(ASIA, problem=None)
    assert tasks._answer(asked, silent) == ("unknown", None)
    assert tasks._answer(ASIA, silent)[0] == "done"
    assert tasks._answer(replace(ASIA, name="other"), silent)[0] == "done"
    assert tasks._answer(asked, silent) == ("unknown", None)


def test_an_error_of_our_own_says_where_and_nothing_of_what_was_asked(monkeypatch):
    def broken(case, tell, features):
        raise KeyError(features[0])

    monkeypatch.setitem(tasks.TASKS, "value", broken)
    what, error = tasks._answer(ASIA, silent)
    assert (what, type(error)) == ("error", Broken)
    assert "KeyError in test_workers.py, line " in error.message
    assert "xray" not in error.message


def test_a_worker_remembers_as_many_variants_as_its_process_keeps():
    worker = Worker(1)
    for k in range(MAX_VARIANTS + 1):
        worker._remember(replace(ASIA, changes=str(k)), 0.5)
    assert worker.familiarity(replace(ASIA, changes="0")) == 1
    assert worker.familiarity(replace(ASIA, changes="1")) == 2
    assert worker.seconds_for(replace(ASIA, changes="0")) == math.inf
    assert worker.seconds_for(replace(ASIA, changes="1")) == 0.5
    assert worker.seconds_for(replace(ASIA, changes="1", task="best")) == math.inf
