"""One door for parallel work: in this process, in processes of this machine, on a Dask cluster."""

import contextlib
import csv
import os
import random
import signal
import socket
import subprocess
import sys
import time
import warnings

import cloudpickle
import psutil
import pytest
from helpers.clinic import draw_clinic
from helpers.clusters import started, wait_for_workers
from helpers.processes import process

import voilattice
from voilattice.budgets import memory_budget, memory_limit
from voilattice.errors import ClusterError, InputError, MissingPackageError
from voilattice.parallel import Died, Workers, cluster, run_in_order, run_tasks
from voilattice.parallel.interface import THREAD_VARIABLES

# Workers of a cluster cannot import this module, so its functions are sent as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

HERE, TWO, LOCAL = Workers.of(n_jobs=1), Workers.of(n_jobs=2), Workers.of(dask="local:2")
PLACES = [
    "here",
    pytest.param("processes", marks=pytest.mark.slow),
    pytest.param("cluster", marks=pytest.mark.slow),
]


@pytest.fixture
def where(request):
    """A place to work, by its name."""
    if request.param == "cluster":
        return Workers.of(dask=request.getfixturevalue("address"))
    return {"here": HERE, "processes": TWO, "local": LOCAL}[request.param]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a scheduler with two workers, which come back if they die."""
    with started(tmp_path_factory.mktemp("cluster"), 2) as (address, *_):
        wait_for_workers(address, 2)
        yield address


def add(shared, task):
    return shared + task


def add_slowly(shared, task):
    time.sleep(random.Random(task).random() / 50)
    return shared + task


def fail_at_3(shared, task):
    if task == 3:
        raise KeyError("three")
    return task


def die_at_3(shared, task):
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return task


def die_once(flag, task):
    """End the process of the fourth task, the first time."""
    if task == 3 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return task * task


def ask_budget(shared, task):
    return memory_budget()


def ask_threads(shared, task):
    return [os.environ.get(name) for name in THREAD_VARIABLES]


@pytest.mark.parametrize("where", PLACES, indirect=True)
def test_every_task_has_its_result_under_its_number(where):
    assert dict(run_tasks(add_slowly, range(40), where=where, shared=100)) == {
        k: 100 + k for k in range(40)
    }


@pytest.mark.parametrize("where", PLACES, indirect=True)
def test_results_can_be_had_in_the_order_of_the_tasks(where):
    tasks = iter(range(20, 0, -1))
    assert list(run_in_order(add_slowly, tasks, where=where, shared=0)) == list(range(20, 0, -1))


@pytest.mark.parametrize("where", PLACES, indirect=True)
def test_no_tasks_no_results(where):
    assert list(run_tasks(add, [], where=where)) == []


@pytest.mark.parametrize("where", PLACES, indirect=True)
def test_an_exception_of_the_work_is_raised_here(where):
    with pytest.raises(KeyError, match="three"):
        list(run_tasks(fail_at_3, range(8), where=where))


@pytest.mark.parametrize("where", PLACES, indirect=True)
def test_the_memory_budget_travels(where):
    with memory_limit(12_345):
        assert list(run_in_order(ask_budget, range(3), where=where)) == [12_345] * 3


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "local"], indirect=True)
def test_processes_of_one_machine_share_its_threads(where, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    found = list(run_in_order(ask_threads, range(3), where=where))
    assert found == [["1"] * len(THREAD_VARIABLES)] * 3
    assert not set(THREAD_VARIABLES) & set(os.environ)  # of this process


@pytest.mark.parametrize("where", PLACES, indirect=True)
def test_few_tasks_are_under_way_at_a_time(where):
    begun = []
    tasks = (begun.append(k) or k for k in range(30))
    most = 1 if where is HERE else 2 * cluster.TASKS_PER_THREAD
    for done, _ in enumerate(run_tasks(add, tasks, where=where, shared=0)):
        assert len(begun) - done <= most
    assert len(begun) == 30


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "cluster"], indirect=True)
def test_a_task_whose_worker_dies_is_tried_again(where, tmp_path):
    found = dict(run_tasks(die_once, range(20), where=where, shared=tmp_path / "died"))
    assert (tmp_path / "died").exists()
    assert found == {k: k * k for k in range(20)}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "local"], indirect=True)
def test_a_task_that_always_ends_its_worker_costs_its_own_result_only(where):
    found = dict(run_tasks(die_at_3, range(12), where=where))
    assert isinstance(found[3], Died)
    assert found[3].reason.startswith("the worker process died")
    assert {k: found[k] for k in found if k != 3} == {k: k for k in range(12) if k != 3}


@pytest.mark.slow
def test_a_process_that_died_while_it_was_idle_is_replaced():
    def ask_process(shared, task):
        return os.getpid()

    for pid in set(run_in_order(ask_process, range(8), where=TWO)):
        os.kill(pid, signal.SIGKILL)
    assert list(run_in_order(add, range(8), where=TWO, shared=1)) == list(range(1, 9))


@pytest.mark.slow
def test_filters_of_warnings_are_the_callers():
    before = list(warnings.filters)
    with warnings.catch_warnings():
        for _ in run_tasks(add, range(4), where=TWO, shared=1):
            warnings.simplefilter("ignore", FutureWarning)
        assert warnings.filters[0][2] is FutureWarning
        assert warnings.filters[1:] == before


@pytest.mark.slow
def test_results_in_order_cannot_lack_one():
    with pytest.raises(ClusterError, match=r"task 4: the worker process died \(SIGKILL"):
        list(run_in_order(die_at_3, range(6), where=TWO))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["processes", "local"], indirect=True)
def test_an_iterator_that_is_closed_ends_what_is_under_way(where):
    def sleep(shared, task):
        time.sleep(0 if task == 0 else 600)
        return task

    began = time.monotonic()
    with contextlib.closing(run_tasks(sleep, range(9), where=where)) as found:
        assert next(found) == (0, 0)
    assert time.monotonic() - began < 300  # nobody waited for what was under way


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_jobs": 0}, "n_jobs: must be a number of processes, or -1 for one per core, got 0"),
        ({"n_jobs": 1.5}, "n_jobs: must be a number of processes"),
        ({"dask": "host:8786"}, "dask: must be the address of a scheduler, as in tcp://10.0.0.1"),
        ({"dask": "local:0"}, "dask: must be the address of a scheduler"),
        ({"dask": "tcp://host"}, "dask: must be the address of a scheduler"),
    ],
)
def test_what_is_no_place_to_work_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        Workers.of(**given)


@pytest.mark.slow
@pytest.mark.parametrize("server", ["nobody", "another program", "nobody, with certificates"])
def test_a_scheduler_that_does_not_answer(server, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1] if server == "another program" else 9
        address = f"{'tls' if 'certificates' in server else 'tcp'}://127.0.0.1:{port}"
        said = rf"dask: no Dask scheduler answers at {address} .*; start one \(dask scheduler\)"
        with pytest.raises(ClusterError, match=said):
            list(run_tasks(add, range(3), where=Workers.of(dask=address), shared=1))


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        MissingPackageError, match=r'dask: needs .* pip install "voilattice\[dask\]"'
    ):
        list(run_tasks(add, range(3), where=LOCAL, shared=1))


@pytest.mark.slow
def test_workers_of_another_version_are_refused(monkeypatch):
    monkeypatch.setattr(voilattice, "__version__", "99.0")
    with pytest.raises(ClusterError, match=r"the worker tcp://\S+ has voilattice .* 99.0 is nee"):
        list(run_tasks(add, range(3), where=LOCAL, shared=1))


@pytest.mark.slow
def test_a_cluster_goes_on_without_a_worker_but_not_without_its_scheduler(tmp_path):
    with started(tmp_path, 2, "--no-nanny") as (address, scheduler, workers):
        wait_for_workers(address, 2)
        where = Workers.of(dask=address)
        found = {}
        for number, result in run_tasks(add_slowly, range(60), where=where, shared=7):
            found[number] = result
            if len(found) == 10:
                workers[0].kill()
        assert found == {k: 7 + k for k in range(60)}
        with contextlib.closing(run_in_order(add_slowly, range(9999), where=where, shared=0)) as it:
            assert next(it) == 0
            scheduler.kill()
            with pytest.raises(ClusterError, match=f"the scheduler at {address} was lost"):
                list(it)


@pytest.mark.slow
def test_workers_that_join_later_are_used(tmp_path):
    def ask_process(shared, task):
        time.sleep(0.05)
        return os.getpid()

    with started(tmp_path, 1, "--no-nanny") as (address, *_):
        where = Workers.of(dask=address)
        found = set()
        for _, pid in run_tasks(ask_process, range(9999), where=where):
            if not found:
                more = subprocess.Popen(
                    [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
            found.add(pid)
            if len(found) > 1:
                break
        more.kill()
        more.wait()


@pytest.mark.slow
def test_a_cluster_without_workers_is_not_waited_for_forever(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_WITHOUT_WORKERS", 0.5)
    with (
        started(tmp_path, 0) as (address, *_),
        pytest.raises(ClusterError, match="has had no workers for 0 s; start some"),
    ):
        list(run_tasks(add, range(3), where=Workers.of(dask=address), shared=1))


SLEEP_LONG = """
import os, sys, time
from pathlib import Path
from voilattice.parallel import Workers, run_tasks

def sleep_long(folder, task):
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)

list(run_tasks(sleep_long, [1, 2], where=Workers.of(n_jobs=2), shared=sys.argv[1]))
"""


@pytest.mark.slow
def test_workers_end_when_their_command_is_killed(tmp_path):
    command = [sys.executable, "-c", SLEEP_LONG, str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as main:
        while len(list(tmp_path.iterdir())) < 2:
            assert main.poll() is None
            time.sleep(0.05)
        main.kill()
    pids = [int(path.name) for path in tmp_path.iterdir()]
    while any(psutil.pid_exists(pid) for pid in pids):  # the suite's own limit ends a failure
        time.sleep(0.05)


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_of_a_command(tmp_path):
    where = ("--dask", "local:2")  # tests/cli/test_interrupts.py has --jobs
    command = process(
        "reproduce", "--out", tmp_path, "--only", "heart", *where, start_new_session=True
    )
    while not any(file.read_bytes().count(b"\n") > 1 for file in tmp_path.glob("points/*.jsonl")):
        assert command.poll() is None
        time.sleep(0.05)
    os.killpg(command.pid, signal.SIGINT)
    out, err = command.communicate(timeout=30)
    assert (command.returncode, out) == (130, "")
    said = [line for line in err.splitlines() if line and not line.startswith("[")]  # progress
    assert said == ["interrupted"]


@pytest.mark.slow
def test_commands_find_the_same_on_a_cluster(run, tmp_path, address):
    where = {"one": ("--jobs", "1"), "dask": ("--dask", address)}
    table = draw_clinic(60)
    columns = {name: column.raw().tolist() for name, column in table.columns.items()}
    with (tmp_path / "clinic.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    prices = "".join(f"{name} = 2\n" for name in columns if name != "ill")
    (tmp_path / "costs.toml").write_text(
        f'[costs]\n{prices}[misclassification]\nkind = "symmetric"\nexpected = 30\n'
    )
    found = {}
    for name, options in where.items():
        folder = tmp_path / name
        assert run("reproduce", "--out", folder, "--quick", "--only", "liver", *options)[0] == 0
        assert (
            run(
                *("evaluate", tmp_path / "clinic.csv", "--target", "ill", "--folds", "2"),
                *("--costs", tmp_path / "costs.toml", "--recipes", "naive"),
                *("--policies", "none,greedy", "--csv", folder / "cases.csv", *options),
            )[0]
            == 0
        )
        swept = ("compare", "asia", "--price", "xray=1,2,3", "--csv", folder / "sweep.csv")
        assert run(*swept, *options)[0] == 0
        files = [file for file in folder.rglob("*") if file.is_file()]
        found[name] = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    assert found["one"] == found["dask"]
    assert {"report.html", "points/liver-symmetric.jsonl", "cases.csv"} <= found["one"].keys()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--emc", "0:10:5", "--dask", "somewhere"), "--dask: must be the address of a scheduler"),
        (
            ("--emc", "0:10:5", "--dask", "local:2", "--jobs", "2"),
            "--jobs: cannot be used together with --dask; leave one out",
        ),
        (("--dask", "local:2"), "--dask: is for a sweep, as in --emc 0:2000:50"),
    ],
)
def test_a_wrong_use_of_the_option(run, options, said):
    status, out, err = run("compare", "figure1", *options)
    assert (status, out) == (2, "")
    assert err.startswith(said)
    assert err.count("\n") == 1


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_starting_a_process_is_no_complaint(monkeypatch, capfd):
    usual = os.fdopen

    def interrupted(*arguments):
        file = usual(*arguments)
        if sys._getframe(1).f_globals["__name__"].endswith("popen_loky_posix"):
            signal.raise_signal(signal.SIGINT)  # before the process is told what it is for
        return file

    monkeypatch.setattr(os, "fdopen", interrupted)
    monkeypatch.setattr("voilattice.parallel.processes._idle", {})
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(KeyboardInterrupt):
        list(run_tasks(add, range(4), where=TWO, shared=0))
    monkeypatch.undo()
    started = set(psutil.Process().children(recursive=True)) - before
    workers = [one for one in started if any("popen_loky" in part for part in one.cmdline())]
    psutil.wait_procs(workers, timeout=10)
    assert capfd.readouterr() == ("", "")
    assert dict(run_tasks(add, range(2), where=TWO, shared=5)) == {0: 5, 1: 6}
