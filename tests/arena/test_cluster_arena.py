"""An arena on a real cluster writes the files of one process, even if a worker is killed."""

import pytest
from helpers.arena_data import QUICK, write_data
from helpers.clusters import started, wait_for_workers

from voilattice.arena import load_suite, run_arena, write_report
from voilattice.parallel import Workers


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_changes_no_file(tmp_path):
    (tmp_path / "data").mkdir()
    suite = load_suite(str(write_data(tmp_path / "data")), n_splits=4)
    here = run_arena(suite, tmp_path / "here", methods=QUICK)
    write_report(here, tmp_path / "here")
    with started(tmp_path, 2, "--no-nanny") as (address, _, workers):
        wait_for_workers(address, 2)

        def kill_in_the_middle(n_done, n_all):
            if n_done >= 4 and workers[0].poll() is None:
                assert n_done < n_all / 2
                workers[0].kill()  # SIGKILL
                workers[0].wait()

        there = run_arena(
            suite, tmp_path / "there", methods=QUICK, workers=Workers.of(dask=address),
            progress=kill_in_the_middle,
        )  # fmt: skip
        assert [worker.poll() for worker in workers] == [-9, None]
    write_report(there, tmp_path / "there")
    assert len(here.results) == 4 * 2 * len(QUICK)
    assert not there.failures
    for name in ("results.csv", "summary.csv"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
