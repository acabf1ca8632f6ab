"""The first use on a machine: how long answers take before anything is compiled.

    make bench
    python benchmarks/cold.py

Cold is an empty folder for compiled kernels (NUMBA_CACHE_DIR), a new one each time. Warm is the
folder that ``voilattice warm`` has filled.
(a) A command, from nothing to its output.
(b) A server that has just started: its first answer to ``POST /api/v1/advise``.
(c) The same for the page: it asks for the posterior, and starts a job for the optimal advice.
(d) How long ``voilattice warm`` takes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import arguments
import httpx

COMMANDS = (
    ("advise", "heart"),
    ("advise", "heart", "--policy", "optimal"),
    ("policy", "heart"),
)
LONGEST = 300  # seconds that an answer may take


def main(small: bool) -> None:
    """Run all parts."""
    commands = (("advise", "asia"),) if small else COMMANDS
    problem = "asia" if small else "heart"
    if not small:
        _run("warm", {})
    print(f"{'seconds':42} {'cold':>7} {'warm':>7} {'ratio':>7}")
    for command in commands:
        _compare(f"(a) {' '.join(command)}", lambda kept, c=command: _time_command(c, kept))
    for name, ask in (("(b) POST advise", _ask_api), ("(c) the page", _ask_page)):
        _compare(
            f"{name}, {problem}, optimal", lambda kept, ask=ask: _time_server(ask, problem, kept)
        )
    if not small:
        with _empty_cache() as cold:
            print(f"(d) voilattice warm: {_time_command(('warm',), cold):.1f} s")


def _compare(what: str, seconds: Callable[[dict[str, str]], float]) -> None:
    """Print how long something takes with an empty cache and with a full one."""
    with _empty_cache() as cold:
        first = seconds(cold)
    later = seconds({})
    print(f"{what:42} {first:7.2f} {later:7.2f} {first / later:7.2f}")


@contextlib.contextmanager
def _empty_cache() -> Iterator[dict[str, str]]:
    """Return the settings of an empty cache."""
    # A process that compiles beside a server may still write there when the server has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield {"NUMBA_CACHE_DIR": folder}


def _run(command: str, settings: dict[str, str], *rest: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "voilattice", command, *rest], env=os.environ | settings,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip


def _time_command(command: tuple[str, ...], settings: dict[str, str]) -> float:
    begin = time.perf_counter()
    _run(command[0], settings, *command[1:])
    return time.perf_counter() - begin


def _time_server(
    ask: Callable[[httpx.Client, str], None], problem: str, settings: dict[str, str]
) -> float:
    """Return how long a server that has just begun to listen takes to answer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "voilattice", "serve", "--port", "0"],
        env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[4]
        begin = time.perf_counter()
        with httpx.Client(base_url=f"{address}api/v1/", timeout=LONGEST) as client:
            ask(client, problem)
        return time.perf_counter() - begin
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def _ask_api(client: httpx.Client, problem: str) -> None:
    asked = {"problem": problem, "policy": "optimal"}
    client.post("advise", json=asked).raise_for_status()


def _ask_page(client: httpx.Client, problem: str) -> None:
    client.post("posterior", json={"problem": problem}).raise_for_status()
    asked = {"problem": problem, "policy": "optimal"}
    job = client.post("jobs/advise", json=asked).raise_for_status().json()
    while job["state"] in {"queued", "running"}:
        time.sleep(0.05)
        job = client.get(f"jobs/{job['job']}").raise_for_status().json()
    assert job["state"] == "done", job


if __name__ == "__main__":
    arguments.run(main, __doc__)
