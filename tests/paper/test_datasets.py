"""The five data sets: their costs, and their public files by checksum, from a real HTTP server."""

import csv
import functools
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from helpers.strategies import DATA, needs_data

from voilattice import VoilatticeError
from voilattice.model.costs import FeatureCosts
from voilattice.paper.datasets import DATASETS, load_dataset

FILES = {"diabetes": "pima"}  # what the folder calls it


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server of a folder; what is fetched goes to an empty cache."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("VOILATTICE_DATA", raising=False)
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


def public_form(name):
    """The bytes of the public file, written back from the folder's CSV."""
    data = DATASETS[name]
    with (DATA / data.files[0][0]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = list(data.columns)
    separator, end = (" ", "  \n") if name == "thyroid" else (",", "\n")
    lines = [separator.join(row[c] or "?" for c in columns) + end for row in rows]
    return "".join(lines).encode()


@needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_the_public_file_is_the_table_of_the_folder(name, server, monkeypatch):
    folder, address = server
    file = DATASETS[name].files[0][0]
    (folder / file).write_bytes(public_form(name))
    sources = {file: f"{address}/{file}"}
    public = load_dataset(name, sources=sources)
    (folder / file).unlink()
    assert load_dataset(name, sources=sources) == public  # from the cache
    monkeypatch.setenv("VOILATTICE_DATA", str(DATA))
    assert load_dataset(name) == public


def test_a_file_of_another_checksum_is_refused(server):
    folder, address = server
    (folder / "heart.csv").write_bytes(b"63.0,1.0\n")
    with pytest.raises(
        VoilatticeError, match="is not the known one .SHA-256 a74b7efa387b"
    ) as error:
        load_dataset("heart", sources={"heart.csv": f"{address}/heart.csv"})
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_a_server_that_is_down(server):
    _, address = server
    with pytest.raises(VoilatticeError, match="cannot be fetched .*VOILATTICE_DATA"):
        load_dataset("heart", sources={"heart.csv": f"{address}/nothing"})
    with pytest.raises(VoilatticeError, match="cannot be fetched"):
        load_dataset("heart", sources={"heart.csv": "http://127.0.0.1:9/heart.csv"})


def test_folders_that_are_not_as_they_should_be(tmp_path, monkeypatch):
    monkeypatch.setenv("VOILATTICE_DATA", str(tmp_path))
    with pytest.raises(VoilatticeError, match="heart.csv: there is no such file"):
        load_dataset("heart")
    (tmp_path / "heart.csv").write_text("age,class\n63,0\n")
    with pytest.raises(VoilatticeError, match="heart.csv: no column 'sex'"):
        load_dataset("heart")
    header = ",".join((*DATASETS["heart"].features, "class"))
    (tmp_path / "heart.csv").write_text(f"{header}\n{'1,' * 13}9\n")
    with pytest.raises(VoilatticeError, match="heart: thal: row 1: the code .1."):
        load_dataset("heart")
    with pytest.raises(VoilatticeError, match="no data set 'hart' .nearest: 'heart'"):
        load_dataset("hart")


@needs_data
@pytest.mark.parametrize("name", DATASETS)
def test_prices_and_groups_are_turneys(name):
    turney = json.loads((DATA / "costs.json").read_text())[FILES.get(name, name)]
    costs = DATASETS[name].costs
    assert isinstance(costs, FeatureCosts)
    full = {feature: e for feature, e in turney.items() if feature not in {"groups", "source"}}
    assert set(costs.prices) == set(full)
    overhead = {f: group.overhead for group in costs.groups for f in group.features}
    for feature, entry in full.items():
        assert costs.prices[feature] == pytest.approx(entry["discounted"])
        assert costs.prices[feature] + overhead.get(feature, 0) == pytest.approx(entry["cost"])
    assert sorted(group.overhead for group in costs.groups) == sorted(turney["groups"].values())


@needs_data
def test_class_counts(monkeypatch):
    monkeypatch.setenv("VOILATTICE_DATA", str(DATA))
    counts = {}
    for name, data in DATASETS.items():
        column = load_dataset(name).columns["class"]
        counts[name] = [
            int((column.codes == column.levels.index(c)).sum()) for c in data.classes.values()
        ]
    assert counts == {
        "liver": [169, 176],
        "diabetes": [500, 268],
        "heart": [164, 139],
        "hepatitis": [123, 32],
        "thyroid": [93, 191, 3488],
    }
