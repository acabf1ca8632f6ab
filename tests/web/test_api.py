"""The HTTP API: the documents of the command line, and every mistake answered."""

import json
import re
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from helpers.serving import start_server, stop_server
from helpers.solving import POLICIES


@pytest.fixture
def api(server):
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


def waited_for(api, job):
    while (found := api.get(f"/api/jobs/{job['job']}").json())["state"] in {"queued", "running"}:
        time.sleep(0.05)
    return found


def test_problems(api):
    names = {entry["name"] for entry in api.get("/api/problems").json()}
    assert {"figure1", "heart", "thyroid"} <= names
    heart = api.get("/api/problems/heart").json()
    assert heart["target"] == "class"
    assert heart["states"]["cp"][0] == "typical"


@pytest.mark.parametrize("policy", POLICIES)
def test_advice_is_what_the_command_line_says(api, run, policy):
    answer = api.post("/api/advise", json={
        "problem": "asia", "policy": policy, "evidence": {"smoke": "yes"},
    })  # fmt: skip
    printed = run("advise", "asia", "--policy", policy, "--evidence", "smoke=yes", "--json")[1]
    assert answer.json() == json.loads(printed)


def test_value_best_and_lattice_are_what_the_command_line_says(api, run):
    asked = {"problem": "figure3", "stakes": {"kind": "asymmetric", "expected": 70}}
    options = ("--kind", "asymmetric", "--expected", "70", "--json")
    value = api.post("/api/value", json={**asked, "features": ["X3", "X1"]}).json()
    assert value == json.loads(run("value", "figure3", "--features", "X1,X3", *options)[1])
    best = api.post("/api/best", json=asked).json()
    assert best == json.loads(run("best", "figure3", *options)[1])
    lattice = api.post("/api/lattice", json=asked).json()
    printed = json.loads(run("lattice", "figure3", "--values", *options)[1])
    svg = lattice.pop("svg")
    assert lattice == printed
    assert "EVI" in svg
    assert len(re.findall(r'<g class="node[^"]* best"', svg)) == 1


def test_a_policy_is_built_in_the_background(api, run):
    begun = api.post("/api/policy", json={"problem": "heart", "policy": "optimal"})
    assert begun.status_code == 202
    found = waited_for(api, begun.json())
    result = found["result"]
    assert "<details" in result.pop("tree")
    assert result == json.loads(run("policy", "heart", "--policy", "optimal", "--json")[1])


def test_a_comparison_is_built_in_the_background(api, run):
    begun = api.post("/api/compare", json={"problem": "asia", "points": [0, 50, 100]}).json()
    result = waited_for(api, begun)["result"]
    assert result["rows"] == json.loads(run("compare", "asia", "--emc", "0:100:50", "--json")[1])
    assert result["svg"].startswith("<svg")


def test_jobs_can_be_cancelled_and_the_next_one_runs(api):
    points = [float(x) for x in range(0, 4000, 40)]
    slow = api.post("/api/compare", json={"problem": "hepatitis", "points": points}).json()
    waiting = api.post("/api/policy", json={"problem": "asia", "policy": "greedy"}).json()
    assert api.delete(f"/api/jobs/{slow['job']}").status_code == 200
    assert waited_for(api, slow)["state"] == "cancelled"
    assert waited_for(api, waiting)["state"] == "done"
    assert api.get("/api/jobs/nothing").status_code == 404
    assert api.delete("/api/jobs/nothing").status_code == 404


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
    api.delete(f"/api/jobs/{heavy['job']}")
    assert {status for status, _ in answers} == {200}
    print(f"median {statistics.median(t for _, t in answers):.3f} s")


def test_features_that_are_not_available(api):
    asked = {"problem": "heart", "policy": "greedy-la", "unavailable": ["cp", "thal"]}
    offered = {f for c in api.post("/api/advise", json=asked).json()["candidates"]
               for f in c["features"]}  # fmt: skip
    assert offered
    assert not offered & {"cp", "thal"}


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("advise", {"problem": "hart", "policy": "greedy"}, 404, "no problem 'hart' (nearest: "),
        ("advise", {"problem": "heart", "policy": "best"}, 422, "policy: "),
        ("advise", {"policy": "greedy"}, 422, "problem: Field required"),
        ("value", {"problem": "asia", "features": ["smok"]}, 400, "no feature 'smok' (nearest: "),
        ("value", {"problem": "asia", "features": ["smoke"], "evidence": {"smoke": "yes"}}, 400,
         "known already"),
        ("advise", {"problem": "asia", "policy": "none", "evidence": {"smoke": "maybe"}}, 400,
         "'maybe'"),
        ("advise", {"problem": "asia", "policy": "none", "unavailable": ["lung"]}, 400, "'lung'"),
        ("best", {"problem": "asia", "stakes": {"kind": "symmetric", "expected": -1}}, 422,
         "stakes.expected: "),
        ("compare", {"problem": "asia", "points": []}, 422, "points: "),
        ("best", {"problem": "asia", "memory": 7}, 422, "memory: "),
        ("best", [1], 422, ""),
        ("best", {"problem": "asia", "stakes": {"kind": "symmetric", "expected": True}}, 422,
         "stakes.expected: "),
    ],
)  # fmt: skip
def test_mistakes_are_answered_with_a_reason(api, path, body, status, said):
    answer = api.post(f"/api/{path}", json=body)
    assert answer.status_code == status
    assert said in answer.json()["error"]


def many_features(n):
    """Return the files of a problem whose lattice has 2^n sets."""
    text = (
        "network n {} variable Y { type discrete [2] { T, F }; } probability (Y) { table .4, .6; }"
    )
    for k in range(n):
        text += f"variable X{k} {{ type discrete [2] {{ T, F }}; }}"
        text += f"probability ( X{k} | Y ) {{ (T) 0.1, 0.9; (F) 0.8, 0.2; }}"
    problem = '[network]\nfile = "n.bif"\ntarget = "Y"\n[misclassification]\nkind = "symmetric"\n'
    problem += "expected = 50\n[costs]\n" + "".join(f"X{k} = 1\n" for k in range(n))
    return [("files", ("p.toml", problem.encode())), ("files", ("n.bif", text.encode()))]


def test_what_is_too_large_is_413_and_names_no_option_of_the_command_line(api):
    name = api.post("/api/problems", files=many_features(40)).json()["name"]
    lattice = api.post("/api/lattice", json={"problem": name})
    features = [f"X{k}" for k in range(40)]
    value = api.post("/api/value", json={"problem": name, "features": features})
    job = waited_for(api, api.post("/api/policy", json={"problem": name, "policy": "batch"}).json())
    for answer in (lattice, value):
        assert answer.status_code == 413
    for said in (lattice.json()["error"], value.json()["error"], job["error"]):
        assert "--" not in said
        assert "max_" not in said
        assert "give more evidence, or use the command line, where this limit" in said


def test_a_failing_job_says_why(api):
    asked = {"problem": "asia", "policy": "greedy", "unavailable": ["lung"]}  # the target
    found = waited_for(api, api.post("/api/policy", json=asked).json())
    assert (found["state"], found["result"]) == ("failed", None)
    assert "'lung'" in found["error"]


def files_of(folder):
    return [("files", (file.name, file.read_bytes())) for file in sorted(folder.iterdir())]


def test_an_upload_can_be_asked_about(api, own_problem):
    answer = api.post("/api/problems", files=files_of(own_problem))
    assert answer.status_code == 201
    name = answer.json()["name"]
    assert "<script>alert(1)</script>" in answer.json()["features"]
    advice = api.post("/api/advise", json={"problem": name, "policy": "optimal"})
    assert advice.status_code == 200
    again = api.post("/api/problems", files=files_of(own_problem)).json()["name"]
    assert again == name  # the same files have the same name


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ([("x.toml", b"title = 3")], 400, "x.toml: network: is missing"),
        ([("x.toml", b"\xff\xfe")], 400, "x.toml: not UTF-8 text"),
        ([("x.txt", b"hello")], 400, "one problem file (.toml) and its network"),
        ([("a.toml", b""), ("b.toml", b"")], 400, "one problem file"),
        ([("x.toml", b"a" * 6_000_000)], 413, "at most 5,100,000 bytes"),
        ([("x.toml", b"a" * 5_050_000)], 413, "at most 5,000,000 bytes"),
        ([("x.toml", b'[network]\nfile = "/etc/passwd"\ntarget = "Y"')], 400,
         "the upload does not include /etc/passwd, which the problem file names"),
        ([("x.toml", b'[network]\nfile = "../x.bif"\ntarget = "Y"')], 400,
         "network.file: the upload does not include ../x.bif, which the problem file names"),
        (
            [("x.toml", b'[network]\nfile = "n.bif"\ntarget = "Y"\n[costs]\n[misclassification]'),
             ("n.bif", b"network {")],
            400, "n.bif",
        ),
        ([("x.toml", b'[network]\nfile = "n.exe"\ntarget = "Y"'), ("n.exe", b"")], 400, "format"),
    ],
)  # fmt: skip
def test_an_upload_that_is_no_problem_is_refused(api, files, status, said):
    answer = api.post("/api/problems", files=[("files", file) for file in files])
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]


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


def test_wrong_routes_are_answered_as_everything_else(api):
    assert api.get("/api/nothing").json()["error"]
    assert api.post("/api/jobs/x").json()["error"]


def test_many_at_once_are_answered_or_told_to_come_again(api):
    def ask(k):
        asked = {"problem": "diabetes", "policy": "greedy-la", "stakes": {
            "kind": "symmetric", "expected": 100.0 + k}}  # fmt: skip
        return api.post("/api/advise", json=asked).status_code

    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(ask, range(60)))
    assert set(answers) <= {200, 503}
    assert answers.count(200) >= 10


def test_too_many_files_and_none(api):
    many = [("files", (f"{k}.bif", b"")) for k in range(9)]
    assert api.post("/api/problems", files=many).status_code == 422
    assert api.post("/api/problems").status_code == 422


def test_the_browser_is_guarded(api):
    headers = api.get("/").headers
    assert "script-src 'self';" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert api.get("/", headers={"host": "evil.example"}).status_code == 400
    assert api.get("/../../etc/passwd").status_code == 404
    assert api.get("/%2e%2e/app.py").status_code == 404


def test_a_problem_of_ones_own_is_served_and_the_server_ends_cleanly(own_problem):
    process, address = start_server(str(own_problem))
    try:
        assert httpx.get(f"{address}api/problems/own").status_code == 200
    finally:
        status, complaints = stop_server(process)
    assert (status, complaints) == (0, "")


def test_two_problems_of_one_name_are_refused(run, own_problem, tmp_path):
    (tmp_path / "more").mkdir()
    other = own_problem.rename(tmp_path / "more" / "heart")
    status, _, err = run("serve", "builtin:heart", other)
    assert status == 2
    assert err == f"{other}: another problem is called 'heart' too; rename one of them\n"


def test_a_port_that_is_taken(run, server):
    port = server.rsplit(":", 1)[1].strip("/")
    status, _, err = run("serve", "--port", port)
    assert status == 2
    assert f"127.0.0.1:{port}: cannot listen there: " in err


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
