"""What the advisor does with a question, with a pool that does as the test says."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.serving import run_async

from voilattice import load_problem
from voilattice.budgets import Deadline
from voilattice.consultation.advice import advise
from voilattice.documents.consultations import Advice
from voilattice.errors import TooLargeError, UnknownNameError
from voilattice.web import tasks
from voilattice.web.advisor import Advisor, Limits
from voilattice.web.pool import Level
from voilattice.web.questions import AdviceAsked, Asked, BatchAsked, ValueAsked
from voilattice.web.refusals import Busy, UnknownProblem
from voilattice.web.shelf import Shelf
from voilattice.web.workers import Outcome

ASIA = load_problem("asia")
ASKED = {"problem": "asia", "evidence": {"smoke": "yes"}}


class Slow:
    """A pool in which no advice is found in time, but greedy's."""

    def __init__(self, error=None):
        self.asked, self.shares, self._error = [], [], error

    async def do(self, request, seconds, *, level, client, is_job=False, patience=None, tell=None):
        self.asked.append((request.options.get("policy"), seconds, level))
        self.shares.append(request.share)
        await asyncio.sleep(0)
        if "policy" not in request.options:
            return Outcome(b"{}")
        if request.options["policy"] != "greedy":
            raise self._error or TooLargeError(f"not done after {seconds:g} seconds")
        if request.task == "batch":
            return tasks._do(replace(request.within(Deadline(seconds)), name="asia"), tell)
        advice = advise(ASIA, "greedy", request.options["case"]["evidence"])
        return Outcome(json.dumps(Advice.json_of(advice)).encode())


@pytest.fixture
def advisor():
    advisor = Advisor({"asia": ASIA}, Limits(seconds=8.0), 2)
    advisor.pool = Slow()
    return advisor


def test_a_policy_that_is_not_done_in_time_is_replaced_by_greedy_in_the_open(advisor):
    async def ask(policy):
        return json.loads(await advisor.advise("advise", AdviceAsked(**ASKED, policy=policy), "me"))

    found, greedy = run_async(ask("optimal")), run_async(ask("greedy"))
    assert found["reasons"][0] == (
        "optimal cannot answer here (not done after 6 seconds). This is what greedy does."
    )
    assert found["reasons"][1:] == greedy["reasons"]
    assert (found["fallback"], greedy["fallback"]) == ("greedy", None)
    assert found["posterior"] == greedy["posterior"]
    (first, _, long), (second, left, quick), _ = advisor.pool.asked
    assert (first, second) == ("optimal", "greedy")
    assert (long, quick) == (Level.LONG, Level.QUICK)
    assert left == pytest.approx(60, abs=1)  # with as much to wait, and what was lost already,
    assert advisor.pool.shares[1] * left == pytest.approx(4)  # it plans as long as any policy
    run_async(ask("greedy"))
    assert len(advisor.pool.asked) == 3  # it is kept,
    run_async(ask("optimal"))
    assert len(advisor.pool.asked) == 5  # and what greedy said in place of another is not


def test_a_policy_whose_turn_does_not_come_is_replaced_by_greedy_too(advisor):
    advisor.pool = Slow(Busy("too many requests are waiting; try again later"))
    answer = run_async(advisor.advise("advise", AdviceAsked(**ASKED, policy="optimal"), "me"))
    found = json.loads(answer)
    assert (found["fallback"], found["quick"]) == ("greedy", True)
    assert found["reasons"][0].startswith("optimal cannot answer here (too many requests are ")
    assert advisor.n_fallbacks == 1


@pytest.mark.parametrize("error", [None, Busy("too many requests are waiting; try again later")])
def test_a_batch_whose_turn_does_not_come_is_answered_by_greedy_case_by_case(advisor, error):
    tasks.keep("asia", ASIA)
    advisor.pool = Slow(error)
    cases = [{"evidence": {"smoke": "yes"}}, {"evidence": {"smoke": "maybe"}}, {}]

    def ask(policy):
        asked = BatchAsked(problem="asia", policy=policy, cases=cases)
        return json.loads(run_async(advisor.advise("batch", asked, "me")))["answers"]

    answers, greedy = ask("optimal"), ask("greedy")
    assert answers[1] == greedy[1]
    assert answers[1]["error"]["status"] == 400
    for k in (0, 2):
        assert (answers[k]["fallback"], answers[k]["quick"]) == ("greedy", True)
        assert answers[k]["reasons"][0].startswith("optimal cannot answer here (")
        assert answers[k]["reasons"][1:] == greedy[k]["reasons"]
        assert not greedy[k]["quick"]
    assert advisor.n_fallbacks == 2
    assert [level for _, _, level in advisor.pool.asked] == [Level.LONG, Level.QUICK, Level.QUICK]


def test_what_is_quick_is_waited_for_longer_than_what_is_long(advisor):
    limits = advisor.limits
    for task, asked in (
        ("posterior", Asked(**ASKED)),
        ("value", ValueAsked(**ASKED, features=["xray"])),
        ("best", Asked(**ASKED)),
    ):
        run_async(advisor.answer(task, asked, "me"))
    late = limits.late_seconds / 2
    assert [seconds for _, seconds, _ in advisor.pool.asked] == [late, late, limits.seconds]


def test_no_answer_takes_longer_than_the_documentation_lets_a_proxy_wait():
    docs = Path(__file__).parents[2] / "docs"
    recipe = (docs / "how-to" / "serve-it-behind-a-proxy.md").read_text()
    limits = Limits()
    assert limits.seconds <= limits.late_seconds
    assert float(re.search(r"proxy_read_timeout (\d+)s;", recipe)[1]) > limits.late_seconds
    said = " ".join((docs / "server.md").read_text().split())
    assert f"An answer may take {limits.seconds:g} seconds of work" in said
    assert f"and {limits.late_seconds:g} seconds with waiting for its turn" in said


def test_waiting_and_work_together_are_never_late(advisor):
    asked, together = Asked(**ASKED), []

    async def do(request, seconds, *, level, client, patience):
        together.append((level, seconds + patience))
        return Outcome(b"{}")

    async def ask():
        await advisor.answer("posterior", asked, "me")
        await advisor.answer("first_steps", asked, "me")
        await advisor.upload({"p.toml": b"1"}, "me")

    advisor.pool = SimpleNamespace(do=do)
    run_async(ask())
    late = Limits().late_seconds
    assert together == [(Level.QUICK, late), (Level.LONG, late), (Level.LONG, late)]


def test_those_who_ask_the_same_at_once_get_one_answer(advisor):
    asked = ValueAsked(**ASKED, features=["xray"])

    async def ask():
        return await asyncio.gather(*(advisor.answer("value", asked, "me") for _ in range(5)))

    assert run_async(ask()) == [b"{}"] * 5
    assert len(advisor.pool.asked) == 1


def test_wrong_questions_are_refused_before_anybody_works(advisor):
    async def ask(**changed):
        return await advisor.answer("value", ValueAsked(**ASKED | changed, features=[]), "me")

    for changed, error, said in (
        ({"problem": "asiä"}, UnknownProblem, "no problem 'asiä'"),
        ({"problem": "upload-" + "0" * 32}, UnknownProblem, "no longer has the upload"),
        ({"evidence": {"smoke": "maybe"}}, UnknownNameError, "'maybe'"),
        ({"given": {"smoke": "maybe"}}, UnknownNameError, "^given.smoke: "),
    ):
        with pytest.raises(error, match=said):
            run_async(ask(**changed))
    assert not advisor.pool.asked


def test_advice_as_a_job_tells_and_falls_back_too(advisor):
    async def ask():
        job = await advisor.start_job("advise", AdviceAsked(**ASKED, policy="optimal"), "me")
        while job.is_active:
            await asyncio.sleep(0.001)
        return json.loads(job.document)

    found = run_async(ask())
    assert (found["state"], found["result"]["fallback"]) == ("done", "greedy")
    assert [level for _, _, level in advisor.pool.asked] == [Level.LONG, Level.QUICK]


def test_a_server_is_ready_when_its_workers_run_and_its_kernels_are_compiled(monkeypatch):
    warming = SimpleNamespace(is_done=False, stop=lambda: None)
    monkeypatch.setattr("voilattice.web.advisor.start_warming", lambda on_failure: warming)
    advisor = Advisor({}, Limits(), 2)
    advisor.pool = SimpleNamespace(is_ready=True, start=lambda: None)
    advisor.start()
    assert not advisor.is_ready
    warming.is_done = True
    assert advisor.is_ready
    advisor.pool.is_ready = False
    assert not advisor.is_ready


def test_kernels_that_could_not_be_compiled_are_logged_in_a_line(monkeypatch, caplog):
    monkeypatch.setattr("voilattice.web.advisor.start_warming", lambda on_failure: on_failure(3))
    advisor = Advisor({}, Limits(), 2)
    advisor.pool = SimpleNamespace(start=lambda: None)
    advisor.start()
    (record,) = caplog.records
    assert record.getMessage().startswith("kernels could not be compiled (exit status 3;")


def test_an_upload_is_kept_under_the_name_of_its_content(advisor):
    async def do(request, seconds, *, level, client, patience):
        assert request.task == "upload"
        return Outcome(b"{}", problem=ASIA)

    advisor.pool = SimpleNamespace(do=do)
    assert run_async(advisor.upload({"p.toml": b"1"}, "me")) == b"{}"
    (name,) = advisor.catalogue._uploads
    assert advisor.catalogue.find(name) is ASIA


def test_what_is_sent_again_is_put_back_on_the_shelf(advisor, tmp_path):
    async def do(request, seconds, *, level, client, patience):
        return Outcome(b"{}", problem=ASIA)

    async def send():
        await advisor.upload({"p.toml": b"1"}, "me")

    advisor.pool, advisor._shelf = SimpleNamespace(do=do), Shelf(tmp_path)
    run_async(send())
    (kept,) = tmp_path.iterdir()
    kept.unlink()  # it has made room for others
    run_async(send())
    assert kept.exists()


@pytest.mark.parametrize("times", [{"seconds": 0}, {"seconds": 200}, {"late_seconds": 10}])
def test_limits_leave_time_to_wait(times):
    with pytest.raises(ValueError, match="seconds must be above 0, and late_seconds no less"):
        Limits(**times)
