"""A real server, in a process of its own, and its jobs."""

import asyncio
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


def start_server(*arguments):
    """Start `voilattice serve` and return the process and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "voilattice", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return process, line.split()[4]


def stop_server(process):
    """Stop it as Ctrl-C does, and return its exit status and what it complained of."""
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=15)
    return process.returncode, complaints


def free_port():
    """Return a port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def shared_server(folder):
    """Yield the address of one server for all processes that share a folder.

    The first process starts it, and stops it once the others are done with it.
    """
    process = None
    with _users(folder) as book:
        if not book:
            process, book["address"] = start_server()
            book["pids"] = []
        address = book["address"]
        book["pids"].append(os.getpid())
    yield address
    with _users(folder) as book:
        book["pids"].remove(os.getpid())
    if process is not None:
        while not _is_given_up(folder):
            time.sleep(0.05)
        stop_server(process)


def _is_given_up(folder):
    """Return whether nobody uses the server any more; who comes now starts another."""
    with _users(folder) as book:
        is_used = any(map(_is_alive, book["pids"]))
        if not is_used:
            book.clear()
    return not is_used


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def _users(folder):
    """Yield what is known of the server, to read and to change, to one process at a time."""
    with (folder / "server.json").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        book = json.loads(file.read() or "{}")
        yield book
        file.truncate(0)
        json.dump(book, file)


def waited_for(api, job):
    """Return a job of a server when it has ended."""
    while (found := api.get(f"/api/v1/jobs/{job['job']}").json())["state"] in {"queued", "running"}:
        time.sleep(0.05)
    return found


def run_async(work):
    """Return what a coroutine returns, in a thread: Playwright has a loop in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
