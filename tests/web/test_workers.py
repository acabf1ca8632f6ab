"""Processes that do the work, one task after another, and jobs."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from helpers.serving import waited_for


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


def test_a_failing_job_says_why(api):
    asked = {"problem": "asia", "policy": "greedy", "unavailable": ["lung"]}  # the target
    found = waited_for(api, api.post("/api/policy", json=asked).json())
    assert (found["state"], found["result"]) == ("failed", None)
    assert "'lung'" in found["error"]


def test_many_at_once_are_answered_or_told_to_come_again(api):
    def ask(k):
        asked = {"problem": "diabetes", "policy": "greedy-la", "stakes": {
            "kind": "symmetric", "expected": 100.0 + k}}  # fmt: skip
        return api.post("/api/advise", json=asked).status_code

    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(ask, range(60)))
    assert set(answers) <= {200, 503}
    assert answers.count(200) >= 10
