"""The routes of the advisor, and what the server refuses to read."""

from typing import ClassVar

import pytest
from fastapi.testclient import TestClient

from voilattice import load_problem
from voilattice.documents import advice_document
from voilattice.errors import TooLargeError
from voilattice.policy.advice import advise
from voilattice.web.app import Limits, create_app

pytestmark = pytest.mark.slow


def test_problems(api):
    names = {entry["name"] for entry in api.get("/api/problems").json()}
    assert {"figure1", "heart", "thyroid"} <= names
    heart = api.get("/api/problems/heart").json()
    assert heart["target"] == "class"
    assert heart["states"]["cp"][0] == "typical"


def test_a_body_without_a_length_is_not_read_for_ever(api):
    def body():
        for _ in range(100):
            yield b" " * 1_000_000

    answer = api.post("/api/advise", content=body(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert "at most" in answer.json()["error"]


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b"9" * 5000, b""])
def test_what_is_no_json_is_refused(api, content):
    answer = api.post("/api/advise", content=content, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "the body is not valid JSON"),
        (b"", "the body: Field required"),
        (b'{"problem": "asia", "policy": "best"}', "policy: must be one of none, "),
    ],
)
def test_a_malformed_request_is_told_what_is_wrong(api, content, said):
    answer = api.post("/api/advise", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(said)


def test_wrong_routes_are_answered_as_everything_else(api):
    assert api.get("/api/nothing").json()["error"]
    assert api.post("/api/jobs/x").json()["error"]


def test_the_browser_is_guarded(api):
    headers = api.get("/").headers
    assert "script-src 'self';" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert api.get("/", headers={"host": "evil.example"}).status_code == 400
    assert api.get("/../../etc/passwd").status_code == 404
    assert api.get("/%2e%2e/app.py").status_code == 404


def test_any_request_that_the_description_allows_is_answered(server):
    schemathesis = pytest.importorskip("schemathesis")
    schema = schemathesis.openapi.from_url(f"{server}openapi.json")
    n = 0
    for result in schema.get_all_operations():
        strategy = result.ok().as_strategy()

        from hypothesis import HealthCheck, Phase, given, settings

        @settings(
            max_examples=15, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate],
        )  # fmt: skip
        @given(case=strategy)
        def check(case):
            nonlocal n
            n += 1
            assert case.call(base_url=server).status_code < 500

        check()
    assert n > 50


ADVICE = {"problem": "asia", "evidence": {"smoke": "yes"}}


class Slow:
    """A worker that is never done in time, but for greedy."""

    asked: ClassVar[list[tuple[str, float]]] = []

    def __init__(self, memory_bytes):
        pass

    def do(self, request, seconds):
        self.asked.append((request.options["policy"], seconds))
        if request.options["policy"] != "greedy":
            raise TooLargeError(f"not done after {seconds:g} seconds")
        problem = request.problem
        return advice_document(advise(problem, "greedy", request.evidence))

    def close(self):
        pass


def test_a_policy_that_is_not_done_in_time_is_replaced_by_greedy_in_the_open(monkeypatch):
    monkeypatch.setattr("voilattice.web.workers.Worker", Slow)
    application = create_app({"asia": load_problem("asia")}, Limits(seconds=8.0))
    with TestClient(application, base_url="http://127.0.0.1") as client:
        found = client.post("/api/advise", json=ADVICE | {"policy": "optimal"}).json()
        greedy = client.post("/api/advise", json=ADVICE | {"policy": "greedy"}).json()
    assert found["reasons"][0] == (
        "optimal cannot answer here (not done after 6 seconds). This is what greedy does."
    )
    assert found["reasons"][1:] == greedy["reasons"]
    assert (found["fallback"], greedy["fallback"]) == ("greedy", None)
    assert found["posterior"] == greedy["posterior"]
    (first, _), (second, left), _ = Slow.asked
    assert (first, second) == ("optimal", "greedy")
    assert 7 < left <= 8  # the time that is left
