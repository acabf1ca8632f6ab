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
        (b"", "the body: Field required"),
        (b'{"problem": "asia", "policy": "best"}', "policy: must be one of none, "),
    ],
)
def test_a_malformed_request_is_told_what_is_wrong(api, content, said):
    answer = api.post(
        "/api/v1/advise", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(said)


def test_wrong_routes_are_answered_as_everything_else(api):
    assert api.get("/api/v1/nothing").json()["detail"]
    assert api.post("/api/v1/jobs/x").json()["detail"]


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
