"""The first use on a machine: how long answers take before anything is compiled.

    make bench
    python benchmarks/cold.py

Cold is an empty folder for compiled kernels (NUMBA_CACHE_DIR), a new one each time. Warm is the
folder that ``voilattice warm`` has filled.
(a) A command, from nothing to its output.
(b) A server that has just started: its first answer to ``POST /api/v1/advise``.
(c) The same for the page, in a real browser if there is one: until the optimal advice is shown.
(d) Thirty clients of a cold server at once: the posterior, and optimal advice.
(e) How long ``voilattice warm`` takes.

With an empty cache, ``advise heart`` may take 3 seconds, the page's first optimal advice 8, and no
client may be refused. Otherwise the exit status is 1.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import arguments
import httpx
from clients import server
from playwright.sync_api import Browser, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browsers import find_browser

COMMANDS = (
    ("advise", "heart"),
    ("advise", "heart", "--policy", "optimal"),
    ("policy", "heart"),
)
TARGETS = {"(a) advise heart": 3.0, "(c) the page, heart, optimal": 8.0}  # seconds, cold
LONGEST = 300  # seconds that an answer may take

Settings = Mapping[str, str]  # of the environment


def main(small: bool) -> None:
    """Run all parts."""
    commands = (("advise", "asia"),) if small else COMMANDS
    problem, n_clients = ("asia", 3) if small else ("heart", 30)
    if not small:
        _run("warm", {})
    misses = []
    print(f"{'seconds':42} {'cold':>7} {'warm':>7} {'ratio':>7}")
    with contextlib.ExitStack() as stack:
        browser = None if small else stack.enter_context(_browser())

        def time_page(settings: Settings) -> float:
            if browser is None:
                return _time_page(problem, settings)
            return _time_browser(browser, problem, settings)

        parts: list[tuple[str, Callable[[Settings], float]]] = [
            (f"(a) {' '.join(command)}", lambda kept, c=command: _time_command(c, kept))
            for command in commands
        ]
        parts.append(
            (f"(b) POST advise, {problem}, optimal", lambda kept: _time_api(problem, kept))
        )
        parts.append((f"(c) the page, {problem}, optimal", time_page))
        for name, seconds in parts:
            cold = _compare(name, seconds)
            if cold > (most := TARGETS.get(name, LONGEST)):
                misses.append(f"{name}: {cold:.1f} s, at most {most:g} s are wanted")
        if browser is None:
            print("    the page's questions, without a browser")
    with contextlib.nullcontext({}) if small else _empty_cache() as settings:
        waits, errors = _ask_at_once(problem, n_clients, settings)
    print(
        f"(d) {n_clients} clients at once, {problem}: median {statistics.median(waits):.1f} s, all "
        f"in {max(waits):.1f} s, {len(errors)} errors"
    )
    if errors:
        misses.append(f"(d) {n_clients} clients: {', '.join(sorted(set(errors)))}")
    if not small:
        with _empty_cache() as cold_settings:
            print(f"(e) voilattice warm: {_time_command(('warm',), cold_settings):.1f} s")
        if misses:
            sys.exit("\n".join(misses))


def _compare(what: str, seconds: Callable[[Settings], float]) -> float:
    """Print how long something takes with an empty cache and with a full one; return the first."""
    with _empty_cache() as cold:
        first = seconds(cold)
    later = seconds({})
    print(f"{what:42} {first:7.2f} {later:7.2f} {first / later:7.2f}")
    return first


@contextlib.contextmanager
def _empty_cache() -> Iterator[Settings]:
    """Return the settings of an empty cache."""
    # A process that compiles beside a server may still write there when the server has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield {"NUMBA_CACHE_DIR": folder}


def _run(command: str, settings: Settings, *rest: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "voilattice", command, *rest], env={**os.environ, **settings},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip


def _time_command(command: tuple[str, ...], settings: Settings) -> float:
    begin = time.perf_counter()
    _run(command[0], settings, *command[1:])
    return time.perf_counter() - begin


@contextlib.contextmanager
def _client(settings: Settings) -> Iterator[httpx.Client]:
    """Run a server, and give a client of it."""
    with (
        server(**settings) as (_, address),
        httpx.Client(base_url=f"{address}api/v1/", timeout=LONGEST) as client,
    ):
        yield client


def _time_api(problem: str, settings: Settings) -> float:
    with _client(settings) as client:
        begin = time.perf_counter()
        asked = {"problem": problem, "policy": "optimal"}
        client.post("advise", json=asked).raise_for_status()
        return time.perf_counter() - begin


def _time_page(problem: str, settings: Settings) -> float:
    """Return how long the questions of the page take."""
    with _client(settings) as client:
        begin = time.perf_counter()
        client.post("posterior", json={"problem": problem}).raise_for_status()
        asked = {"problem": problem, "policy": "optimal"}
        job = client.post("jobs/advise", json=asked).raise_for_status().json()
        while job["state"] in {"queued", "running"}:
            time.sleep(0.05)
            job = client.get(f"jobs/{job['job']}").raise_for_status().json()
        assert job["state"] == "done", job
        return time.perf_counter() - begin


@contextlib.contextmanager
def _browser() -> Iterator[Browser | None]:
    """Give a real browser; None: there is none here."""
    program = find_browser()
    if program is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        expect.set_options(timeout=1000 * LONGEST)
        yield browser
        browser.close()


def _time_browser(browser: Browser, problem: str, settings: Settings) -> float:
    """Return how long the page takes, from its address to the optimal advice."""
    with server(**settings) as (_, address):
        page = browser.new_page()
        begin = time.perf_counter()
        page.goto(f"{address}#problem={problem}&policy=optimal")
        # Advice is there, and no better one is being worked out.
        expect(page.locator("#advice")).to_have_attribute("aria-busy", "false")
        expect(page.locator("#working progress")).to_have_count(0)
        seconds = time.perf_counter() - begin
        assert page.locator("#quick").count() == 0, page.locator("#quick").inner_text()
        page.close()
        return seconds


def _ask_at_once(problem: str, n_clients: int, settings: Settings) -> tuple[list[float], list[str]]:
    """Return how long each of many clients waits for its answers, and what went wrong."""
    errors = []
    with _client(settings) as client:

        def ask(k: int) -> float:
            begin = time.perf_counter()
            # Stakes of its own, so that each client has to be answered by itself.
            asked = {"problem": problem, "stakes": {"scale": 1 + k / 100}}
            for route, more in (("posterior", {}), ("advise", {"policy": "optimal"})):
                answer = client.post(route, json=asked | more)
                if answer.status_code != 200:
                    errors.append(f"{route} {answer.status_code}")
            return time.perf_counter() - begin

        with ThreadPoolExecutor(n_clients) as threads:
            return list(threads.map(ask, range(n_clients))), errors


if __name__ == "__main__":
    arguments.run(main, __doc__)
