"""What the server counts and logs: every request by its route, and nothing of what was asked."""

import asyncio
import contextlib
import gc
import json
import logging
import re
from types import SimpleNamespace

import httpx
import pytest
from helpers.serving import run_async
from prometheus_client.parser import text_string_to_metric_families

from voilattice import load_problem
from voilattice.errors import InputError
from voilattice.web.app import create_app
from voilattice.web.logs import JsonLines, configure_logs

ASKED = [
    ("GET", "/api/v1/problems", 200, "/api/v1/problems"),
    ("GET", "/api/v1/problems/secret", 404, "/api/v1/problems/{name}"),
    ("DELETE", "/api/v1/jobs/secret", 404, "/api/v1/jobs/{name}"),
    ("GET", "/health", 200, "/health"),
    ("GET", "/ready", 503, "/ready"),
    ("GET", "/nothing/secret", 404, "none"),
    ("SECRET", "/api/v1/problems", 405, "none"),
]


@pytest.fixture
def app():
    return create_app({"asia": load_problem("asia")}, n_workers=2)


def ask(app, *asked):
    async def whole():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return [await client.request(method, path) for method, path in asked]

    return run_async(whole())


def numbers(text):
    """Return the numbers of a page of metrics, by name and labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route_and_status(app):
    answers = ask(app, *[(method, path) for method, path, _, _ in ASKED] * 2, ("GET", "/metrics"))
    assert [answer.status_code for answer in answers[: len(ASKED)]] == [s for _, _, s, _ in ASKED]
    metrics = answers[-1]
    assert metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "secret" not in metrics.text.lower()
    found = numbers(metrics.text)
    for method, _, status, route in ASKED:
        known = method if method != "SECRET" else "other"
        assert found["voilattice_requests_total", known, route, str(status)] == 2
        assert found["voilattice_request_seconds_count", route] >= 2


def test_workers_and_jobs_are_counted(app):
    advisor = app.state.advisor
    advisor.n_fallbacks = 3
    advisor.jobs = SimpleNamespace(states=["done", "running", "done"])
    (metrics,) = ask(app, ("GET", "/metrics"))
    found = numbers(metrics.text)
    assert {name: found[f"voilattice_{name}",] for name in (
        "ready", "workers", "workers_alive", "workers_busy", "tasks_waiting",
        "worker_deaths_total", "worker_stops_total", "fallbacks_total",
    )} == {
        "ready": 0, "workers": 2, "workers_alive": 0, "workers_busy": 0, "tasks_waiting": 0,
        "worker_deaths_total": 0, "worker_stops_total": 0, "fallbacks_total": 3,
    }  # fmt: skip
    assert (found["voilattice_jobs", "done"], found["voilattice_jobs", "running"]) == (2, 1)


def test_a_server_is_ready_when_its_workers_run_and_nothing_is_being_compiled(app):
    before, health = ask(app, ("GET", "/ready"), ("GET", "/health"))
    assert (before.status_code, health.status_code) == (503, 200)
    assert before.headers["content-type"] == "application/problem+json"
    assert before.json()["detail"].startswith("workers are being started")
    advisor = app.state.advisor
    advisor.pool = SimpleNamespace(is_ready=True, workers=[1, 2])
    advisor._warming = SimpleNamespace(is_done=False)
    (compiling,) = ask(app, ("GET", "/ready"))
    assert compiling.status_code == 503
    assert compiling.json()["detail"].startswith("kernels are being compiled")
    advisor._warming.is_done = True
    (after,) = ask(app, ("GET", "/ready"))
    assert (after.status_code, after.json()) == (200, {"status": "ready", "workers": 2})


def test_a_request_is_logged_by_route_alone(app, caplog):
    caplog.set_level(logging.INFO, "voilattice.web")
    answers = ask(app, *[(method, path) for method, path, _, _ in ASKED])
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    keys = ["time", "level", "event", "request", "method", "route", "status", "ms"]
    assert [list(line) for line in lines] == [keys] * len(ASKED)
    assert [(line["route"], line["status"]) for line in lines] == [(r, s) for _, _, s, r in ASKED]
    assert [line["request"] for line in lines] == [a.headers["x-request-id"] for a in answers]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00", line["time"]) for line in lines)
    assert "secret" not in json.dumps(lines).lower()


@contextlib.contextmanager
def written_log(as_json, capsys):
    """Write the log to standard error; give the lines that are there at the end."""
    root, log = logging.getLogger(), logging.getLogger("voilattice.web")
    before = root.handlers, root.level, log.level
    root.handlers, lines = [], []
    try:
        configure_logs(as_json=as_json)
        yield lines
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
        log.setLevel(before[2])
    written = capsys.readouterr().err
    assert "secret" not in written
    lines += map(json.loads, written.splitlines()) if as_json else written.splitlines()


@pytest.mark.parametrize("as_json", [False, True])
def test_the_log_has_warnings_and_on_demand_requests(as_json, capsys):
    with written_log(as_json, capsys) as lines:
        log = logging.getLogger("voilattice.web")
        log.info("request", extra={"fields": {"ms": 1.5}})
        log.warning("worker process %d ended", 7)
    if as_json:
        del lines[0]["time"], lines[1]["time"]
        assert lines == [
            {"level": "info", "event": "request", "ms": 1.5},
            {"level": "warning", "event": "worker process 7 ended"},
        ]
    else:
        assert lines == ["worker process 7 ended"]


@pytest.mark.parametrize("as_json", [False, True])
def test_what_others_log_is_told_by_its_place_in_the_code_alone(as_json, capsys):
    async def fail():
        raise InputError("secret", "secret")

    async def forget():
        task = asyncio.ensure_future(fail())
        await asyncio.wait({task})
        del task
        gc.collect()  # asyncio writes: Task exception was never retrieved ... InputError('secret')

    with written_log(as_json, capsys) as lines:
        run_async(forget())
        logging.getLogger("uvicorn.error").warning("Invalid request: %s", "secret")
        try:
            raise KeyError("secret")
        except KeyError:
            logging.getLogger("voilattice.web").exception("a task failed")
    if as_json:
        lines[:] = (": ".join([line["event"], line.get("error", "")]) for line in lines)
    assert [re.sub(r"line \d+", "line 1", line).removesuffix(": ") for line in lines] == [
        "a message of asyncio (base_events.py, line 1): InputError in test_metrics.py, line 1",
        "a message of uvicorn.error (test_metrics.py, line 1)",
        "a task failed: KeyError in test_metrics.py, line 1",
    ]
