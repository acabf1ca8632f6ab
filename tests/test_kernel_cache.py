"""Whether a kernel is in numba's cache is found out without numba."""

import ast
import hashlib
import os
import sys

import pytest

from voilattice import engines, kernel_cache
from voilattice.kernel_calls import CALLS, NEEDS

SOURCE = kernel_cache._SOURCES / "blocks.py"
INDEX = f"blocks.expand-1.py{sys.version_info.major}{sys.version_info.minor}.nbi"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder for numba's code, and a memory in which no loop is ready."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_ready", set())
    monkeypatch.setattr(kernel_cache, "_looks", {})
    monkeypatch.setattr(kernel_cache, "_is_loaded", lambda kernel: False)
    folder = kernel_cache.find_cache_folder()
    folder.mkdir()
    return folder


def kernels_of(module):
    """The functions of a module that Python may call: those with the decorator `kernel`."""
    tree = ast.parse((kernel_cache._SOURCES / f"{module}.py").read_text())
    return {
        f"{module}.{node.name}"
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(one) == "kernel()" for one in node.decorator_list)
    }


def test_every_kernel_belongs_to_a_loop():
    named = {kernel for kernels in kernel_cache.KERNELS.values() for kernel in kernels}
    modules = {kernel.partition(".")[0] for kernel in named}
    every = set().union(*map(kernels_of, modules))
    # Python calls these two only in the tests; the kernels of the search call them.
    assert every - named == {"repeats.belief_after", "repeats.lower_after"}
    assert named <= every


def test_every_loop_can_be_compiled():
    assert set(CALLS) == set(kernel_cache.KERNELS)
    assert set(engines.COMPILED_FROM) <= set(CALLS)
    assert set(NEEDS).union(*NEEDS.values()) <= set(CALLS)


def write_index(folder, content, age):
    path = folder / INDEX
    path.write_bytes(content)
    when = SOURCE.stat().st_mtime - age
    os.utime(path, (when, when))


@pytest.mark.parametrize(
    ("content", "age", "is_ready"),
    [
        (b"of another source", 10, False),
        (b"..." + hashlib.sha256(SOURCE.read_bytes()).digest(), 10, True),  # installed again since
        (b"of an older numba", -10, True),
    ],
)
def test_an_index_must_fit_the_source(content, age, is_ready, cache):
    write_index(cache, content, age)
    assert kernel_cache.are_ready("blocks") == is_ready


def test_a_kernel_without_an_index_is_looked_for_once_a_second(cache, monkeypatch):
    now = 100.0
    monkeypatch.setattr(kernel_cache.time, "monotonic", lambda: now)
    assert not kernel_cache.are_ready("blocks")
    write_index(cache, b"", -10)
    assert not kernel_cache.are_ready("blocks")
    now += kernel_cache.SECONDS_PER_LOOK
    assert kernel_cache.are_ready("blocks")
    (cache / INDEX).unlink()
    assert kernel_cache.are_ready("blocks")  # this process may have loaded it


def test_all_kernels_of_a_loop_are_needed(cache):
    write_index(cache, b"", -10)
    assert not kernel_cache.are_ready("bellman")


def test_what_was_compiled_in_this_process_is_ready(cache, monkeypatch):
    monkeypatch.undo()
    module = "voilattice.compiled.blocks"

    class Compiled:
        signatures = ("a signature",)

    monkeypatch.setitem(sys.modules, module, type("module", (), {"expand": Compiled}))
    assert kernel_cache._is_loaded("blocks.expand")
    Compiled.signatures = ()
    assert not kernel_cache._is_loaded("blocks.expand")
    monkeypatch.delitem(sys.modules, module)
    assert not kernel_cache._is_loaded("blocks.expand")


@pytest.fixture
def read_only_package(tmp_path, monkeypatch):
    """A package that this user cannot write to, and no folders of the user yet."""
    writable = kernel_cache._is_writable
    inside = kernel_cache._SOURCES
    monkeypatch.setattr(
        kernel_cache,
        "_is_writable",
        lambda path, *mode: inside not in path.parents and writable(path, *mode),
    )
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kernel_cache.own_cache_folder.cache_clear()
    yield tmp_path
    kernel_cache.own_cache_folder.cache_clear()


def test_the_code_lies_beside_the_package_where_that_can_be_written(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kernel_cache.own_cache_folder.cache_clear()
    assert kernel_cache.own_cache_folder() is None
    assert kernel_cache.find_cache_folder() == kernel_cache._SOURCES / "__pycache__"


def test_a_package_of_another_user_has_its_code_in_a_folder_of_this_user(read_only_package):
    assert kernel_cache.own_cache_folder() == str(read_only_package / "cache" / "voilattice")
    assert kernel_cache.find_cache_folder().parent == read_only_package / "cache" / "voilattice"


def no_home(tmp_path):
    (tmp_path / "cache").write_text("a file, so no folder can be made here")
    return tmp_path / "tmp" / f"voilattice-{os.getuid()}"


def test_a_user_without_a_home_has_a_folder_among_the_temporary_ones(read_only_package):
    expected = no_home(read_only_package)
    assert kernel_cache.own_cache_folder() == str(expected)
    assert expected.stat().st_mode & 0o077 == 0


def test_a_folder_that_others_can_write_to_is_not_used(read_only_package):
    shared = no_home(read_only_package)
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    assert kernel_cache.own_cache_folder() != str(shared)


def test_a_folder_for_this_process_alone_is_removed_at_its_end(read_only_package, monkeypatch):
    last_wishes = []
    monkeypatch.setattr(
        kernel_cache.atexit,
        "register",
        lambda *call, **options: last_wishes.append((call, options)),
    )
    no_home(read_only_package).write_text("a file here too")
    folder = kernel_cache.own_cache_folder()
    [((remove, *arguments), options)] = last_wishes
    assert os.path.isdir(folder)
    remove(*arguments, **options)
    assert not os.path.exists(folder)


def test_the_folder_beside_the_package_can_be_read_by_others(tmp_path):
    folder = tmp_path / "__pycache__"
    before = os.umask(0o022)
    try:
        assert kernel_cache._is_writable(folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o755


def test_kernels_with_a_folder_of_their_own_leave_numbas_setting_alone(tmp_path, monkeypatch):
    from numba import config, njit

    from voilattice.compiled import kernels

    def double(x):
        return x + x

    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(kernels, "own_cache_folder", lambda: str(tmp_path / "own"))
    path = kernels.kernel()(double).stats.cache_path
    assert path.startswith(str(tmp_path / "own"))
    assert config.CACHE_DIR == ""
    assert not njit(cache=True)(double).stats.cache_path.startswith(str(tmp_path / "own"))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "given"))
    assert kernels.part()(double).stats.cache_path.startswith(str(tmp_path / "given"))
