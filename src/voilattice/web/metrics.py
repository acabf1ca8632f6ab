"""What the server counts: requests, waits, workers and jobs, for Prometheus and for the log.

A request is counted by its route as the API describes it (``/api/v1/jobs/{name}``), so that no
name and no value of a request is in a metric or in a log.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter as Tally
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voilattice.web.advisor import Advisor
from voilattice.web.logs import log

__all__ = ["CONTENT_TYPE", "Meter", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
NO_ROUTE = "none"  # refused before a route was looked for, or a file of the page
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60)


class Metrics:
    """The numbers of one server, in a registry of its own."""

    def __init__(self, advisor: Advisor) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_State(advisor))
        self._requests = Counter(
            "voilattice_requests", "Requests that were answered.",
            ("method", "route", "status"), registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "voilattice_request_seconds", "Seconds from a request to the end of its answer.",
            ("route",), buckets=SECONDS, registry=self._registry,
        )  # fmt: skip

    @property
    def text(self) -> bytes:
        """All numbers, as Prometheus reads them."""
        return generate_latest(self._registry)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(route).observe(seconds)


class _State(Collector):
    """How the workers and the jobs are at the moment when somebody asks."""

    def __init__(self, advisor: Advisor) -> None:
        self._advisor = advisor

    def collect(self) -> Iterator[Metric]:
        """Read the numbers of the pool and of the jobs."""
        pool, jobs = self._advisor.pool, self._advisor.jobs
        for name, number, what in (
            ("ready", int(self._advisor.is_ready), "1: answers have their usual speed."),
            ("workers", len(pool.workers), "Workers that the server should have."),
            ("workers_alive", pool.n_alive, "Workers whose process runs."),
            ("workers_busy", pool.n_busy, "Workers at work on a task."),
            ("tasks_waiting", pool.n_waiting, "Tasks that wait for a worker."),
        ):
            yield GaugeMetricFamily(f"voilattice_{name}", what, value=number)
        states = GaugeMetricFamily("voilattice_jobs", "Jobs by state.", labels=("state",))
        for state, number in Tally(jobs.states).items():
            states.add_metric((state,), number)
        yield states
        for name, number, what in (
            ("worker_deaths", pool.n_deaths, "Worker processes that ended by themselves."),
            ("worker_stops", pool.n_stops, "Worker processes ended for their time, or cancelled."),
            ("fallbacks", self._advisor.n_fallbacks, "Advice by greedy for another policy."),
        ):
            yield CounterMetricFamily(f"voilattice_{name}", what, value=number)


class Meter:
    """Counts every request and gives it a name, which the answer and the log tell."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, name, status = time.perf_counter(), uuid.uuid4().hex, 0
        method = scope["method"] if scope["method"] in METHODS else "other"

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = name
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - begin
            route = getattr(scope.get("route"), "path", NO_ROUTE)
            self._metrics.count(method, route, status, seconds)
            fields = {
                "request": name, "method": method, "route": route, "status": status,
                "ms": round(1000 * seconds, 1),
            }  # fmt: skip
            log.info("request", extra={"fields": fields})
