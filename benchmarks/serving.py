"""Two hundred consultations at once: how long a person waits for the server.

    make bench
    python benchmarks/serving.py

A server runs here, with its default number of workers, and the clients run beside it on the same
cores. Five problems are solved first.
(a) 200 people consult at once, for a minute. Each asks what a page asks at every step: the
    posterior and the optimal advice. Then a second passes, in which they enter the result, drawn
    from the network; the next case follows when the advice is to decide.
(b) Nobody pauses: as many requests as the server answers.
(c) A worker is killed again and again while 20 people consult.
(d) The first answers of a server that has just started.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import arguments
import httpx
import psutil
from clients import Case, Line, draw, server

PROBLEMS = ("heart", "diabetes", "thyroid", "liver", "asia")
POLICY = "optimal"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is asked."""

    problems: Sequence[str]
    n_people: int
    seconds: float
    pause: float  # seconds, between two steps of a person
    n_cases: int  # drawn of each problem


@dataclass(slots=True)
class Waits:
    """How long answers took, and what went wrong."""

    posterior: list[float] = field(default_factory=list)
    advise: list[float] = field(default_factory=list)
    n_errors: int = 0

    def print(self, what: str, seconds: float) -> None:
        """Print medians and the worst."""
        every = self.posterior + self.advise
        print(f"{what}: {len(every):,} answers, {len(every) / seconds:,.0f} a second")
        for name, waits in (("posterior", self.posterior), ("advice", self.advise)):
            late = sorted(waits)[int(0.95 * len(waits))]
            print(
                f"  {name:10} median {statistics.median(waits):.3f} s, 95 of 100 in {late:.3f} s, "
                f"all in {max(waits):.3f} s"
            )
        print(f"  errors {self.n_errors}")


def main(small: bool) -> None:
    """Run all parts."""
    sizes = Sizes(PROBLEMS, 200, 60.0, 1.0, 300)
    if small:
        sizes = Sizes(("asia", "liver"), 5, 1.0, 0.01, 10)
    cases = {name: draw(name, sizes.n_cases) for name in sizes.problems}
    with server() as (process, address):
        asyncio.run(_solve(address, sizes.problems))
        for what, n_people, pause in (
            (f"(a) {sizes.n_people} people", sizes.n_people, sizes.pause),
            ("(b) without a pause", min(sizes.n_people, 20), 0.0),
        ):
            waits = asyncio.run(_consult(address, cases, n_people, pause, sizes.seconds))
            waits.print(what, sizes.seconds)
        waits = asyncio.run(_consult_and_kill(process, address, cases, sizes))
        waits.print("(c) with workers that are killed", sizes.seconds)
    _first_answers()


async def _solve(address: str, problems: Sequence[str]) -> None:
    """Have the problems solved."""
    async with Line.open(address) as line:
        for name in problems:
            _, job = await line.ask("POST", "jobs/advise", {"problem": name, "policy": POLICY})
            while job["state"] in {"queued", "running"}:
                await asyncio.sleep(0.1)
                _, job = await line.ask("GET", f"jobs/{job['job']}")
            assert job["state"] == "done", job


async def _consult(
    address: str, cases: Mapping[str, Sequence[Case]], n_people: int, pause: float, seconds: float
) -> Waits:
    """Let people consult for some seconds."""
    waits, end = Waits(), time.perf_counter() + seconds
    people = [_person(address, cases, random.Random(k), pause, end, waits) for k in range(n_people)]
    await asyncio.gather(*people)
    return waits


async def _person(
    address: str,
    cases: Mapping[str, Sequence[Case]],
    rng: random.Random,
    pause: float,
    end: float,
    waits: Waits,
) -> None:
    await asyncio.sleep(rng.uniform(0, pause))  # people do not come at one stroke
    async with Line.open(address) as line:
        while time.perf_counter() < end:
            problem = rng.choice(sorted(cases))
            case = rng.choice(cases[problem])
            evidence: dict[str, str] = {}
            action = "acquire"
            while action == "acquire" and time.perf_counter() < end:
                asked = {"problem": problem, "evidence": evidence}
                await _ask(line, "posterior", asked, waits.posterior, waits)
                advice = await _ask(line, "advise", asked | {"policy": POLICY}, waits.advise, waits)
                await asyncio.sleep(pause * rng.uniform(0.5, 1.5))
                action = advice.get("action", "")
                evidence |= {feature: case[feature] for feature in advice.get("features", ())}


async def _ask(
    line: Line, what: str, asked: object, into: list[float], waits: Waits
) -> dict[str, Any]:
    begin = time.perf_counter()
    status, answer = await line.ask("POST", what, asked)
    into.append(time.perf_counter() - begin)
    waits.n_errors += status != 200
    document: dict[str, Any] = answer
    return document


async def _consult_and_kill(
    process: subprocess.Popen[str], address: str, cases: Mapping[str, Sequence[Case]], sizes: Sizes
) -> Waits:
    """Let some people consult, and kill a worker ten times meanwhile."""
    rng = random.Random(0)

    async def kill() -> None:
        for _ in range(10):
            await asyncio.sleep(sizes.seconds / 11)
            workers = [child for child in psutil.Process(process.pid).children() if _works(child)]
            for worker in rng.sample(workers, min(1, len(workers))):
                worker.kill()

    n_people = min(sizes.n_people, 20)
    waits, _ = await asyncio.gather(
        _consult(address, cases, n_people, sizes.pause, sizes.seconds), kill()
    )
    return waits


def _works(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):  # it has just ended
        return "spawn_main" in " ".join(process.cmdline())
    return False


def _first_answers() -> None:
    """Print how long the first answers of a server take."""
    begin = time.perf_counter()
    with server() as (_, address), httpx.Client(base_url=address, timeout=120) as client:
        print(f"(d) a server listens after {time.perf_counter() - begin:.2f} s")
        for what, asked in (
            ("posterior", {"problem": "heart"}),
            ("advise", {"problem": "heart", "policy": "greedy"}),
            ("advise", {"problem": "heart", "policy": POLICY}),
        ):
            begin = time.perf_counter()
            client.post(f"api/v1/{what}", json=asked).raise_for_status()
            took = time.perf_counter() - begin
            print(f"  {what} {asked.get('policy', ''):8} {took:.2f} s")


if __name__ == "__main__":
    arguments.run(main, __doc__)
