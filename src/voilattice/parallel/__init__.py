"""One door for parallel work: tasks go to processes of this machine or to a Dask cluster.

`run_tasks` calls a function for each task and yields the results as tasks end. Tasks do not know
where they run. What all tasks share is sent to a worker once. Only a few tasks for each worker are
under way at a time, so 100,000 tasks need no more memory than 100.

A worker process can die: it is killed, it has no memory left, or compiled code crashes. A task that
was under way then is a suspect, because others may have been on the same worker. The suspects run
again when all other tasks are done, one at a time, so it is certain which task ends its worker. The
result of such a task is `Died`. All other tasks have their own results.

`tasks` is the door. `workers` are where tasks run, in `processes` or on a `cluster`; `interface` is
what all of these share.
"""

from voilattice.parallel.interface import Died
from voilattice.parallel.tasks import run_in_order, run_tasks
from voilattice.parallel.workers import Workers

__all__ = ["Died", "Workers", "run_in_order", "run_tasks"]
