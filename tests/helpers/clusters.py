"""A real Dask cluster: a scheduler and workers, each a process of its own."""

import contextlib
import json
import subprocess
import sys
import time

from voilattice.parallel import Workers


@contextlib.contextmanager
def started(folder, n_workers, *options):
    """Start a scheduler and workers as a user does; yield the address and the processes."""
    file = folder / "scheduler.json"

    def start(module, *more):
        module = f"distributed.cli.dask_{module}"
        return subprocess.Popen(
            [sys.executable, "-m", module, "--scheduler-file", file, "--no-dashboard", *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
    workers = [start("worker", "--nthreads", "1", *options) for _ in range(n_workers)]
    try:
        while not file.exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"], scheduler, workers
    finally:
        for one in (*workers, scheduler):  # workers with a nanny end it first
            one.terminate()
            one.wait()


def wait_for_workers(address, n):
    while Workers.of(dask=address).count() < n:
        time.sleep(0.1)
