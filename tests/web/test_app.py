"""The routes of the advisor, and what the server refuses to read."""

import pytest

pytestmark = pytest.mark.slow

JSON = {"content-type": "application/json"}


def test_problems(api):
    names = {entry["name"] for entry in api.get("/api/v1/problems").json()}
    assert {"figure1", "heart", "thyroid"} <= names
    heart = api.get("/api/v1/problems/heart").json()
    assert heart["target"] == "class"
    assert heart["states"]["cp"][0] == "typical"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "the body is not valid JSON"),
        (b"\xff", "the body is not valid JSON"),
        pytest.param(b"[" * 100_000, "the body is not valid JSON", id="deep"),
        pytest.param(b"9" * 5000, "the body is not valid JSON", id="long"),
        (b"", "the body: this field is missing"),
        (
            b'{"problem": "heart", "policy": "none", "evidence": {"age": 46, "age": 70}}',
            "the key 'age' stands twice in one object; send each key once",
        ),
        (b'{"problem": "asia", "problem": "heart"}', "the key 'problem' stands twice in one"),
        (b'{"problem": "asia", "policy": "best"}', "policy: must be one of none, "),
    ],
)
def test_a_malformed_request_is_told_what_is_wrong(api, content, said):
    answer = api.post(
        "/api/v1/advise", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(said)


def test_a_monitor_may_ask_for_the_head_alone(api):
    for path in ("/health", "/ready", "/metrics", "/api/v1/problems", "/"):
        whole, head = api.get(path), api.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
    assert api.head("/api/v1/advise").status_code == 405


def test_wrong_routes_are_answered_as_everything_else(api):
    assert api.get("/api/v1/nothing").json()["detail"].startswith("no GET of '/api/v1/nothing';")
    wrong = api.delete("/api/v1/problems")
    assert wrong.status_code == 405
    assert wrong.json()["detail"].startswith("no DELETE of '/api/v1/problems'; /docs lists ")
    assert wrong.headers["allow"] == "GET, POST"
    assert api.post("/api/v1/nothing").status_code == 404
    read = api.get("/api/v1/advise")
    assert (read.status_code, read.headers["allow"]) == (405, "POST")
    assert api.post("/api/v1/jobs/x").json()["detail"].startswith("no POST of '/api/v1/jobs/x';")


def test_a_body_without_its_type_is_told_which(api):
    answer = api.post("/api/v1/best", content=b'{"problem": "asia"}', headers={"content-type": ""})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("sent with the content-type application/json")


def test_any_request_that_the_description_allows_is_answered_as_it_says(server):
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    schema = schemathesis.openapi.from_url(f"{server}openapi.json")
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    n = 0
    for result in schema.exclude(path="/ready").get_all_operations():  # 503 is no error of it

        @settings(
            max_examples=5, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate],
        )  # fmt: skip
        @given(case=result.ok().as_strategy())
        def check(case):
            nonlocal n
            n += 1
            case.call_and_validate(base_url=server, checks=checks)

        check()
    assert n > 50
