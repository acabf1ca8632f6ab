"""A real server with much to do: nobody waits for what is not theirs, and all processes end."""

import json
import os
import re
import signal
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest
from helpers.serving import read_complaints, start_server, stop_server, waited_for

pytestmark = pytest.mark.slow

SWEEP = {"problem": "thyroid", "points": [float(x) for x in range(0, 4000, 40)]}


def test_jobs_can_be_cancelled_and_the_next_one_runs(api):
    slow = api.post("/api/v1/compare", json=SWEEP | {"problem": "hepatitis"}).json()
    waiting = api.post("/api/v1/policy", json={"problem": "asia", "policy": "greedy"}).json()
    assert api.delete(f"/api/v1/jobs/{slow['job']}").status_code == 200
    assert waited_for(api, slow)["state"] == "cancelled"
    assert waited_for(api, waiting)["state"] == "done"
    assert api.get("/api/v1/jobs/nothing").status_code == 404
    assert api.delete("/api/v1/jobs/nothing").status_code == 404


def test_light_requests_are_answered_while_heavy_ones_run(api):
    heavy = [api.post("/api/v1/compare", json=SWEEP).json() for _ in range(3)]

    def ask(k):
        begin = time.perf_counter()
        asked = {"problem": "heart", "evidence": {"age": 30 + k}}
        status = api.post("/api/v1/posterior", json=asked).status_code
        return status, time.perf_counter() - begin

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    states = [api.get(f"/api/v1/jobs/{job['job']}").json()["state"] for job in heavy]
    for job in heavy:
        api.delete(f"/api/v1/jobs/{job['job']}")
    assert {status for status, _ in answers} == {200}
    assert "running" in states  # so no answer waited for the heavy ones
    print(f"median {statistics.median(t for _, t in answers):.3f} s")


def test_a_failing_job_says_why(api):
    asked = {"problem": "asia", "policy": "greedy", "unavailable": ["lung"]}  # the target
    found = waited_for(api, api.post("/api/v1/policy", json=asked).json())
    assert (found["state"], found["result"]) == ("failed", None)
    assert (found["error"]["status"], "'lung'" in found["error"]["detail"]) == (400, True)


def test_many_at_once_are_all_answered(api):
    def ask(k):
        stakes = {"kind": "symmetric", "expected": 100.0 + k}
        asked = {"problem": "diabetes", "policy": "greedy-la", "stakes": stakes}
        standing = api.post("/api/v1/posterior", json={"problem": "diabetes", "stakes": stakes})
        return standing.status_code, api.post("/api/v1/advise", json=asked).status_code

    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(ask, range(60)))
    assert set(answers) == {(200, 200)}


@pytest.fixture
def own_server():
    """A server that a test may ill-treat."""
    process, address = start_server("--workers", "2")
    with httpx.Client(base_url=address, timeout=60) as client:
        yield process, client
    if process.poll() is None:
        stop_server(process)


def workers_of(process):
    """Return the processes of a server that do its work."""
    found = psutil.Process(process.pid).children()
    return [p for p in found if "spawn_main" in " ".join(p.cmdline())]


def test_a_worker_that_is_killed_costs_no_answer():
    process, address = start_server("--workers", "2", "--log-json")
    with httpx.Client(base_url=address, timeout=60) as client:
        kill_again_and_again(process, client)
        metrics = client.get("/metrics").text
    status, written = stop_server(process)
    lines = [json.loads(line) for line in written.splitlines()]
    deaths = [line["event"] for line in lines if line["level"] == "warning"]
    assert status == 0
    assert len(deaths) >= 4
    assert all(
        re.fullmatch(r"worker process \d+ ended by itself .*-9\)", event) for event in deaths
    )
    assert float(re.search(r"^voilattice_worker_deaths_total (\S+)$", metrics, re.M)[1]) >= 4
    assert {"/api/v1/advise", "/metrics"} <= {line["route"] for line in lines if "route" in line}


def kill_again_and_again(process, client):
    """Kill the workers of a server while it is asked."""
    asked = {"problem": "asia", "policy": "greedy"}
    assert client.post("/api/v1/advise", json=asked).status_code == 200
    for k in range(3):
        for worker in workers_of(process):
            os.kill(worker.pid, signal.SIGKILL)
        changed = asked | {"stakes": {"scale": 2.0 + k}}
        assert client.post("/api/v1/advise", json=changed).status_code == 200
    job = client.post("/api/v1/compare", json={"problem": "asia", "points": [100.0]}).json()
    while client.get(f"/api/v1/jobs/{job['job']}").json()["state"] == "queued":
        time.sleep(0.01)
    for worker in workers_of(process):
        os.kill(worker.pid, signal.SIGKILL)
    assert waited_for(client, job)["state"] == "done"  # it was begun again


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_leaves_no_process_behind(own_server, how):
    process, client = own_server
    # Python itself complains of a process that loses its parent while it is being started.
    while how == signal.SIGKILL and client.get("/ready").status_code == 503:
        time.sleep(0.01)
    job = client.post("/api/v1/compare", json=SWEEP).json()
    while client.get(f"/api/v1/jobs/{job['job']}").json()["state"] == "queued":
        time.sleep(0.01)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.send_signal(how)
    complaints = read_complaints(process)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
    assert "Traceback" not in complaints
    if how != signal.SIGKILL:
        assert (process.returncode, complaints) == (0, "")


def test_a_server_that_is_stopped_under_load_answers_or_says_so(own_server):
    process, client = own_server

    def ask(k):
        asked = {"problem": "thyroid", "policy": "optimal", "prices": {"TSH": 10.0 + k}}
        try:
            return client.post("/api/v1/advise", json=asked).status_code
        except httpx.TransportError:
            return "closed"  # the connection was not accepted any more

    with ThreadPoolExecutor(30) as threads:
        answers = [threads.submit(ask, k) for k in range(30)]
        # All but one of them wait for the only worker that may do what is long.
        while metric(client, "voilattice_tasks_waiting") < 20:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        complaints = read_complaints(process)
    assert (process.returncode, complaints) == (0, "")
    found = [answer.result() for answer in answers]
    assert set(found) <= {200, 503, "closed"}
    assert found.count("closed") <= 10


def metric(client, name):
    """Return a number of the server."""
    return float(re.search(rf"^{name} (\S+)$", client.get("/metrics").text, re.M)[1])
