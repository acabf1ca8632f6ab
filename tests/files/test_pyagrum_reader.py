"""The process that reads a network file with pyAgrum."""

import subprocess
import sys

import pytest

from voilattice import load_problem, read_network, write_network
from voilattice.files import pyagrum_reader

ASIA = load_problem("asia").network
GIBIBYTE = 1 << 30


@pytest.fixture
def limits(monkeypatch):
    """The limits that the reader sets for its process; here they are only noted."""
    resource = pytest.importorskip("resource")
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda *limit: asked.append(limit))
    return asked


def test_a_network_is_written_as_bif_and_the_memory_is_limited(tmp_path, limits):
    import resource

    source, result = tmp_path / "asia.jgum", tmp_path / "asia.bif"
    write_network(ASIA, source)
    pyagrum_reader.main(str(source), str(result), str(GIBIBYTE))
    copy = read_network(result)
    assert set(copy.names) == set(ASIA.names)
    assert all(copy.states[copy.index(n)] == ASIA.states[ASIA.index(n)] for n in ASIA.names)
    assert limits == [(resource.RLIMIT_AS, (GIBIBYTE, GIBIBYTE))]


def test_what_is_no_network_ends_with_the_complaint_and_no_file(tmp_path, limits):
    source, result = tmp_path / "a.jgum", tmp_path / "a.bif"
    source.write_text("nothing")
    with pytest.raises(SystemExit) as stopped:
        pyagrum_reader.main(str(source), str(result), str(GIBIBYTE))
    assert isinstance(stopped.value.code, str)  # status 1, and the text on standard error
    assert stopped.value.code.strip()
    assert not result.exists()


def test_as_a_process_it_keeps_to_its_memory(tmp_path):
    source, result = tmp_path / "asia.jgum", tmp_path / "asia.bif"
    write_network(ASIA, source)
    reader = [sys.executable, "-m", "voilattice.files.pyagrum_reader", source, result]
    small = subprocess.run([*reader, str(64 << 20)], capture_output=True, check=False)
    assert small.returncode != 0
    assert not result.exists()
    assert subprocess.run([*reader, str(8 * GIBIBYTE)], check=False).returncode == 0
    assert len(read_network(result)) == 8
