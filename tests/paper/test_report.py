"""The page, the figures and the CSV files of a run."""

import csv
import re

import pytest
from helpers.solving import POLICIES

from voilattice import VoilatticeError
from voilattice.paper.experiment import QUICK, run
from voilattice.paper.report import check_folder, write_report


@pytest.mark.slow
def test_the_report_names_every_table_and_figure(tmp_path):
    points = run(tmp_path / "points", names=["liver", "diabetes"], grid=QUICK, n_jobs=1)
    (tmp_path / "figure-8.svg").write_text("of an earlier run")
    files, claims = write_report(tmp_path, points)
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {f.name for f in files}
    page = (tmp_path / "report.html").read_text()
    for heading in (*(f"Table {k}" for k in (1, 2, 3)), *(f"Figure {k}" for k in range(1, 6))):
        assert f"<h2>{heading}:" in page
    # Addresses are names of XML only: nothing is fetched.
    assert not re.search(r'(?:src|href)="(?!#)', page.replace('xlink:href="#', ""))
    assert "@import" not in page
    assert "url(http" not in page
    rows = table(tmp_path / "points.csv")
    assert len(rows) == 2 * 8 * 9 * len(POLICIES)
    assert len(claims) == 19
    assert "6.77" in page  # Table 3's first number, for greedy on liver
    printed = {
        (r["data_set"], r["policy"], r["from"]): r["savings_paper"]
        for r in table(tmp_path / "table-3.csv")
        if (r["costs"], r["kind"]) == ("real", "symmetric")
    }
    assert printed["liver", "greedy", "0.0"] == "6.77"
    assert printed["liver", "greedy-la", "1500.0"] == "2.85"
    assert printed["diabetes", "greedy", "500.0"] == "-18.28"
    assert printed["diabetes", "batch", "500.0"] == ""


def table(file):
    with file.open() as lines:
        return list(csv.DictReader(lines))


def test_results_of_someone_else_are_not_overwritten(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(VoilatticeError, match="report.html is there already"):
        check_folder(tmp_path, "points")
    (tmp_path / "points").mkdir()
    check_folder(tmp_path, "points")
