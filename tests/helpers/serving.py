"""A real server, in a process of its own, and its jobs."""

import asyncio
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def start_server(*arguments):
    """Start `voilattice serve` and return the process and its address."""
    complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 - a pipe that nobody reads fills up
    process = subprocess.Popen(
        [sys.executable, "-m", "voilattice", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE, stderr=complaints, text=True,
    )  # fmt: skip
    process.complaints = complaints
    line = process.stdout.readline()
    assert line, read_complaints(process)
    return process, line.split()[4]


def stop_server(process):
    """Stop it as Ctrl-C does, and return its exit status and what it complained of."""
    process.send_signal(signal.SIGINT)
    complaints = read_complaints(process, timeout=15)
    return process.returncode, complaints


def read_complaints(process, timeout=30):
    """Return what a server complained of, when it has ended."""
    process.communicate(timeout=timeout)
    with process.complaints as complaints:
        complaints.seek(0)
        return complaints.read()


def free_port():
    """Return a port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def waited_for(api, job):
    """Return a job of a server when it has ended."""
    while (found := api.get(f"/api/v1/jobs/{job['job']}").json())["state"] in {"queued", "running"}:
        time.sleep(0.05)
    return found


def run_async(work):
    """Return what a coroutine returns, in a thread: Playwright has a loop in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
