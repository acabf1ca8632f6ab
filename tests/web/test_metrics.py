"""What the server counts and logs: every request by its route, and nothing of what was asked."""

import json
import logging
import re
from types import SimpleNamespace

import httpx
import pytest
from helpers.serving import run_async
from prometheus_client.parser import text_string_to_metric_families

from voilattice import load_problem
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


@pytest.mark.parametrize("as_json", [False, True])
def test_the_log_has_warnings_and_on_demand_requests(as_json, capsys, monkeypatch):
    root, log = logging.getLogger(), logging.getLogger("voilattice.web")
    before = root.handlers, root.level, log.level
    monkeypatch.setattr(root, "handlers", [])
    try:
        configure_logs(as_json=as_json)
        log.info("request", extra={"fields": {"ms": 1.5}})
        log.warning("worker process %d ended", 7)
        try:
            raise KeyError("secret")
        except KeyError:
            logging.getLogger("asyncio").exception("a task failed")
    finally:
        root.handlers = []
        root.setLevel(before[1])
        log.setLevel(before[2])
    written = capsys.readouterr().err
    if not as_json:
        assert written.startswith("worker process 7 ended\na task failed\n")
        return
    lines = [json.loads(line) for line in written.splitlines()]
    assert [(line["level"], line["event"]) for line in lines] == [
        ("info", "request"),
        ("warning", "worker process 7 ended"),
        ("error", "a task failed"),
    ]
    assert (lines[0]["ms"], lines[2]["error"]) == (1.5, "KeyError")
    assert "secret" not in written
