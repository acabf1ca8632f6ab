"""Where tasks run: this process, processes of this machine, or a Dask cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from numbers import Integral

from voilattice.errors import InputError
from voilattice.parallel.cluster import count_threads
from voilattice.wording import quote

__all__ = ["Workers"]


@dataclass(frozen=True, slots=True)
class Workers:
    """Where tasks run; `Workers.of` checks what it is given.

    Parameters
    ----------
    n_jobs
        How many processes of this machine: 1 is this process, -1 is one for each core, None is
        what joblib is set to, which is 1 by default.
    dask
        The address of a Dask scheduler (``tcp://host:8786``), or ``local:N`` for a cluster of N
        processes on this machine that ends with the work. None: no cluster.
    """

    n_jobs: int | None = None
    dask: str | None = None

    @classmethod
    def of(cls, n_jobs: int | None = None, dask: str | None = None) -> Workers:
        """Return the workers; with `dask`, `n_jobs` has no meaning."""
        if n_jobs == 0 or not isinstance(n_jobs, Integral | None):
            said = "must be a number of processes, or -1 for one per core"
            raise InputError(f"{said}, got {quote(n_jobs)}", "n_jobs")
        if dask is not None and not re.fullmatch(r"(tcp|tls)://[^/]+:\d+|local:[1-9]\d*", dask):
            raise InputError(
                f"must be the address of a scheduler, as in tcp://10.0.0.1:8786, or local:2 for "
                f"two processes of this machine, got {quote(dask)}",
                "dask",
            )
        return cls(n_jobs, dask)

    def count(self) -> int:
        """Return how many tasks can run at once; a cluster is asked."""
        if self.dask is None:
            from joblib import effective_n_jobs

            return int(effective_n_jobs(self.n_jobs))
        return count_threads(self.dask)
