"""The notebooks run from the first cell to the last."""

import os
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of the kernel and its sockets
]


@pytest.mark.parametrize("data", ["drawn", pytest.param("given", marks=pytest.mark.nightly)])
def test_the_heart_goes_from_a_table_to_a_served_policy(data, tmp_path, monkeypatch):
    folder = os.environ.get("VOILATTICE_DATA", DATA) if data == "given" else tmp_path
    if data == "given" and not (Path(folder) / "heart.csv").exists():
        pytest.skip("heart.csv is not here")
    monkeypatch.setenv("VOILATTICE_DATA", str(folder))
    notebook = nbformat.read(ROOT / "examples" / "heart.ipynb", 4)
    settings = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=settings).execute()
    texts = [
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    said = "".join(texts)
    assert ("drawn from" in said) == (data == "drawn")
    assert "deciding at once:" in said
    assert "acquire [" in said
