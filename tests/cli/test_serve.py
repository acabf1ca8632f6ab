"""The command that serves the advisor."""

import socket

import httpx
import psutil
import pytest
from helpers.serving import start_server, stop_server


@pytest.fixture(autouse=True)
def no_server_here(monkeypatch):
    """In this process nothing is served: what should be refused fails, and does not hang."""
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: pytest.fail("it is served"))


@pytest.mark.slow
def test_a_problem_of_ones_own_is_served_and_the_server_ends_cleanly(own_problem):
    process, address = start_server(str(own_problem))
    try:
        assert httpx.get(f"{address}api/v1/problems/own", timeout=60).status_code == 200
        names = [
            entry["name"] for entry in httpx.get(f"{address}api/v1/problems", timeout=60).json()
        ]
        assert names[:2] == ["own", "heart"]  # the page begins with the first
    finally:
        status, complaints = stop_server(process)
    assert (status, complaints) == (0, "")


@pytest.mark.parametrize("path", ["advisor", "/", "advisor/"])
def test_a_root_path_that_is_none_is_refused(run, path):
    status, _, err = run("serve", "--root-path", path)
    assert (status, "must be a path such as /advisor" in err) == (2, True)


def test_a_folder_for_uploads_that_cannot_be_used_is_refused(run, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = run("serve", "--data", tmp_path / "file" / "folder")
    assert (status, "cannot keep uploads there" in err) == (2, True)


def test_two_problems_of_one_name_are_refused(run, own_problem, tmp_path):
    (tmp_path / "more").mkdir()
    other = own_problem.rename(tmp_path / "more" / "heart")
    status, _, err = run("serve", "builtin:heart", other)
    assert status == 2
    assert err == f"{other}: another problem is called 'heart' too; rename one of them\n"


def test_a_port_that_is_taken(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, err = run("serve", "--port", port)
    assert status == 2
    assert f"127.0.0.1:{port}: cannot listen there: " in err


def test_an_address_that_is_not_ours_is_refused(run):
    status, out, err = run("serve", "--host", "192.0.2.1", "--port", "0")  # of documentation only
    assert (status, out) == (2, "")
    assert err.startswith("192.0.2.1:0: cannot listen there: ")


def test_an_unknown_problem_is_refused_before_anything_is_served(run):
    status, out, err = run("serve", "hart")
    assert (status, out) == (2, "")
    assert err == "'hart' is neither a file nor a built-in problem (nearest: 'heart')\n"


@pytest.mark.slow
def test_a_server_compiles_kernels_beside_its_workers(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # empty
    process, address = start_server()
    try:
        assert httpx.get(f"{address}health", timeout=60).status_code == 200
        children = psutil.Process(process.pid).children(recursive=True)
        assert any("warm_beside" in child.cmdline()[-1] for child in children)
    finally:
        assert stop_server(process) == (0, "")
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
