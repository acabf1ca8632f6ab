import os
import random
import sys
from pathlib import Path

import numpy as np
import pyagrum
import pytest
from helpers.strategies import DATA, full_joint, needs_data

from voilattice import Network, VoilatticeError, load_problem, read_network, write_network
from voilattice.errors import InputError, TooLargeError
from voilattice.files import networks as files

ASIA = load_problem("asia").network


@pytest.mark.parametrize("extension", files.WRITABLE)
def test_every_format_is_written_and_read(tmp_path, extension):
    path = tmp_path / f"asia{extension}"
    write_network(ASIA, path)
    copy = read_network(path)
    if extension in files.NAMELESS:
        assert copy.n_states == ASIA.n_states
        np.testing.assert_allclose(full_joint(copy), full_joint(ASIA), atol=1e-5)
        return
    assert set(copy.names) == set(ASIA.names)
    axes = [copy.index(name) for name in ASIA.names]
    np.testing.assert_allclose(full_joint(copy).transpose(axes), full_joint(ASIA), atol=1e-5)
    for name in ASIA.names:
        assert copy.states[copy.index(name)] == ASIA.states[ASIA.index(name)]


def test_bif_is_written_to_the_last_bit(tmp_path):
    write_network(ASIA, tmp_path / "asia.bif")
    assert read_network(tmp_path / "asia.bif") == ASIA


def test_o3prm_is_read(tmp_path):
    path = tmp_path / "Small.o3prm"
    path.write_text(
        "class Small { boolean a { [0.2, 0.8] }; boolean b dependson a { [0.1, 0.9, 0.9, 0.1] }; }"
    )
    assert len(read_network(path)) == 2


def test_a_format_that_would_lose_a_label_is_refused_and_nothing_is_written(tmp_path):
    network = Network.from_tables({"A": ["a|b", "c"]}, {}, {"A": [0.5, 0.5]})
    path = tmp_path / "a.jgum"
    with pytest.raises(InputError, match=r"a\.jgum: \.jgum .*; write \.bif"):
        write_network(network, path)
    assert not path.exists()


@needs_data
def test_all_public_networks_are_read():
    found = {path.stem: len(read_network(path)) for path in DATA.glob("networks/*.bif")}
    assert found == {"asia": 8, "child": 20, "alarm": 37, "hepar2": 70}


@needs_data
def test_child_keeps_its_labels():
    network = read_network(DATA / "networks" / "child.bif")
    assert network.states[network.index("LowerBodyO2")] == ("<5", "5-12", "12+")
    assert "Asy/Patch" in network.states[network.index("ChestXray")]


@needs_data
@pytest.mark.parametrize("name", ["asia", "alarm", "hepar2"])
def test_our_reader_agrees_with_pyagrums(name):
    path = DATA / "networks" / f"{name}.bif"
    ours, theirs = read_network(path), Network.from_pyagrum(pyagrum.loadBN(str(path)))
    assert set(ours.names) == set(theirs.names)
    for i, node in enumerate(ours.names):
        j = theirs.index(node)
        assert ours.states[i] == theirs.states[j]
        mine = [ours.names[p] for p in ours.parents[i]]
        other = [theirs.names[p] for p in theirs.parents[j]]
        axes = [other.index(parent) for parent in mine] + [len(mine)]
        # pyAgrum reads BIF in single precision.
        np.testing.assert_allclose(ours.tables[i], theirs.tables[j].transpose(axes), atol=1e-6)


def test_a_large_file_is_refused_before_it_is_opened(tmp_path, monkeypatch):
    path = tmp_path / "large.bif"
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 300_000_000)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("the file was read"))
    with pytest.raises(TooLargeError, match="the file has 300000000 bytes; .* at most 100000000"):
        read_network(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.bif", None, r"a\.bif: cannot be read: No such file or directory"),
        ("a.bif", b"\xff\xfe", r"a\.bif: not UTF-8 text \(byte 0\); save it as UTF-8"),
        ("a.pkl", b"", r"a\.pkl: a pickle runs the code it holds when it is opened"),
        ("a.doc", b"", r"a\.doc: unknown network format '\.doc'; the known formats are \.bif"),
        ("a", b"", r"a: unknown network format '\(no extension\)'"),
        ("a\0.bif", None, "a file name must not contain a NUL character"),
        ("a.net", b"nothing", r"a\.net: line 1: expected net, node or potential, found 'nothing'"),
        ("a.xdsl", b"<x>", r"a\.xdsl: line 1: not valid XML: no element found"),
        ("a.bifxml", b"<x/>", r"a\.bifxml: line 1: expected <BIF>, found <x>"),
        ("a.jgum", b"nothing", r"a\.jgum: not a valid \.jgum network: .*"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_network(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_network(tmp_path):
    (tmp_path / "a.bif").mkdir()
    with pytest.raises(InputError, match="this is not a file"):
        read_network(tmp_path / "a.bif")


@pytest.mark.slow
@pytest.mark.parametrize("extension", [".jgum", ".bgum"])
def test_damaged_files_give_a_network_or_an_error_and_never_hang(tmp_path, monkeypatch, extension):
    path = tmp_path / f"asia{extension}"
    write_network(ASIA, path)
    monkeypatch.setattr(files, "SECONDS", 2.0)  # the hanging ones hang for ever
    whole = path.read_bytes()
    rng = random.Random(extension)
    for _ in range(8):
        damaged = bytearray(whole)
        if rng.random() < 0.3:
            del damaged[rng.randrange(len(damaged)) :]
        for _ in range(rng.choice([1, 2, 5])):
            place = rng.randrange(len(damaged) + 1)
            junk = rng.choice([b"(", b"9999999", b"-1", b"nan", b"\x00", b"\xff", b"<5", b"", b"}"])
            damaged[place : place + rng.randrange(9)] = junk
        path.write_bytes(damaged)
        try:
            result = str(read_network(path))
        except VoilatticeError as error:
            result = str(error)
        assert result
        assert "\n" not in result


def test_a_reader_that_hangs_is_ended(tmp_path, monkeypatch):
    path = tmp_path / "asia.jgum"
    path.write_text("{}")
    monkeypatch.setattr(files, "SECONDS", 0.5)
    monkeypatch.setattr(files, "_READER", (sys.executable, "-c", "while True: pass"))
    with pytest.raises(InputError, match=r"asia\.jgum: pyAgrum did not finish reading it in 1 s"):
        read_network(path)


def test_nothing_in_the_current_folder_is_run(tmp_path, monkeypatch):
    write_network(ASIA, tmp_path / "asia.jgum")
    (tmp_path / "pyagrum.py").write_text("raise SystemExit('the wrong pyagrum')")
    monkeypatch.chdir(tmp_path)
    assert len(read_network("asia.jgum")) == 8


def test_a_byte_order_mark_is_skipped(tmp_path):
    write_network(ASIA, tmp_path / "asia.bif")
    (tmp_path / "bom.bif").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "asia.bif").read_bytes())
    assert read_network(tmp_path / "bom.bif") == ASIA
