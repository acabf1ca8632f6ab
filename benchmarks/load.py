"""Fifty clients of a busy server: what each of them gets, and when.

    make bench
    python benchmarks/load.py

A server runs here, with its default number of workers. Four processes beside it compute for ever,
and 50 clients ask at once, on the same cores. Each client asks about cases of its own what a page
asks at every step: the posterior, then advice, in turn by `greedy` and by `optimal`, each question
as soon as the one before it is answered.
(a) Cold: the server has just started, and no kernel has ever been compiled.
(b) Warm: the same once more about cases that are new, after the server has had the time to become
    ready with nothing beside it.
The number of errors must be 0, or the exit status is 1: whatever is not answered with 200 counts as
one. An answer that greedy gave in place of the optimum is counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import arguments
import httpx
from clients import Case, Line, draw, server

PROBLEMS = ("heart", "diabetes", "thyroid", "liver", "asia")
POLICIES = ("greedy", "optimal")
QUESTIONS = ("posterior", *POLICIES)
SECONDS = 150.0  # that a client waits for an answer, and for the server to be ready


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is asked."""

    problems: Sequence[str]
    n_clients: int
    n_steps: int  # of each client
    n_busy: int  # processes that compute for ever


@dataclass(slots=True)
class Answers:
    """How long answers took by question, and what went wrong."""

    waits: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in QUESTIONS})
    n_fallbacks: int = 0
    errors: list[str] = field(default_factory=list)

    def print(self, what: str) -> None:
        """Print quantiles of the waits, fallbacks and errors."""
        print(f"{what}: {sum(map(len, self.waits.values())):,} answers")
        for question, waits in self.waits.items():
            print(
                f"  {question:9} p50 {_quantile(waits, 0.5):.3f} s, "
                f"p99 {_quantile(waits, 0.99):.3f} s, all in {max(waits, default=0.0):.3f} s"
            )
        print(f"  answered by greedy in place of optimal {self.n_fallbacks}")
        print(f"  errors {len(self.errors)}")
        for error in dict.fromkeys(self.errors):
            print(f"    {self.errors.count(error)} times {error}")


def main(small: bool) -> None:
    """Run both parts."""
    sizes = Sizes(PROBLEMS, 50, 6, 4)
    if small:
        sizes = Sizes(("asia", "liver"), 4, 2, 0)
    n_cases = 2 * sizes.n_clients * sizes.n_steps
    cases = {name: draw(name, n_cases) for name in sizes.problems}
    parts = []
    # The process that compiles may still write there when the server has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # In small the kernels of this machine are taken: compiling is what takes so long.
        environment = {} if small else {"NUMBA_CACHE_DIR": folder}
        with server(**environment) as (_, address):
            for k, name in enumerate(("(a) cold", "(b) warm")):
                if k:
                    _wait_until_ready(address)
                with _busy(sizes.n_busy):
                    parts.append(asyncio.run(_ask_all(address, cases, sizes, k)))
                parts[k].print(name)
    n_errors = sum(len(answers.errors) for answers in parts)
    if n_errors and not small:
        sys.exit(f"errors: {n_errors}, there must be none")


def _quantile(waits: Sequence[float], share: float) -> float:
    return sorted(waits)[min(int(share * len(waits)), len(waits) - 1)] if waits else 0.0


@contextlib.contextmanager
def _busy(n: int) -> Iterator[None]:
    """Keep some processes computing beside."""
    loop = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(loop) for _ in range(n)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _wait_until_ready(address: str) -> None:
    begin = time.perf_counter()
    while (waited := time.perf_counter() - begin) < SECONDS:
        if httpx.get(f"{address}ready", timeout=SECONDS).status_code == 200:
            print(f"ready {waited:.1f} s after that, with nothing beside")
            return
        time.sleep(0.1)
    print(f"not ready {waited:.1f} s after that, with nothing beside")


async def _ask_all(
    address: str, cases: Mapping[str, Sequence[Case]], sizes: Sizes, part: int
) -> Answers:
    """Let all clients ask, each about cases that no other client asks about."""
    answers = Answers()
    n = sizes.n_steps
    clients = [
        _client(
            address,
            {name: drawn[k * n : (k + 1) * n] for name, drawn in cases.items()},
            random.Random(k),
            answers,
        )
        for k in range(part * sizes.n_clients, (part + 1) * sizes.n_clients)
    ]
    await asyncio.gather(*clients)
    return answers


async def _client(
    address: str, cases: Mapping[str, Sequence[Case]], rng: random.Random, answers: Answers
) -> None:
    """Ask about one case after another, of which some features are known."""
    for k in range(len(next(iter(cases.values())))):
        name, policy = rng.choice(sorted(cases)), POLICIES[k % len(POLICIES)]
        case = cases[name][k]
        known = rng.sample(sorted(case), rng.randrange(3))
        asked = {
            "problem": name, "evidence": {f: case[f] for f in known},
            # A price that nobody else has, so that no answer is kept from another question.
            "prices": {sorted(case)[0]: 1 + rng.random()},
        }  # fmt: skip
        await _ask(address, "posterior", asked, "posterior", answers)
        await _ask(address, "advise", asked | {"policy": policy}, policy, answers)


async def _ask(
    address: str, route: str, asked: Mapping[str, Any], question: str, answers: Answers
) -> None:
    begin = time.perf_counter()
    try:
        async with asyncio.timeout(SECONDS), Line.open(address) as line:
            status, answer = await line.ask("POST", route, asked)
    except (OSError, EOFError, TimeoutError) as error:
        answers.errors.append(f"{question}: {type(error).__name__}")
        return
    answers.waits[question].append(time.perf_counter() - begin)
    if status != 200:
        answers.errors.append(f"{question}: {status} {answer['detail']}")
    else:
        answers.n_fallbacks += question == "optimal" and answer["quick"]


if __name__ == "__main__":
    arguments.run(main, __doc__)
