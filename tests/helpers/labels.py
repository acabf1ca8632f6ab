"""A small problem with labels, state labels and a currency: what people read is not a name."""

from __future__ import annotations

from pathlib import Path

from voilattice import Problem
from voilattice.files.problem_tables import parse_problem
from voilattice.files.problems import parse_toml

LABELLED = """title = "Chest clinic"
currency = "CAD"
[network]
target = "ill"
features = ["cp", "ecg", "age"]
[[network.nodes]]
name = "ill"
states = ["yes", "no"]
table = [[0.4, 0.6]]
[[network.nodes]]
name = "cp"
states = ["typ", "asym"]
parents = ["ill"]
table = [[0.8, 0.2], [0.3, 0.7]]
[[network.nodes]]
name = "ecg"
states = ["+", "-"]
parents = ["ill"]
table = [[0.9, 0.1], [0.2, 0.8]]
[[network.nodes]]
name = "age"
states = ["young", "old"]
parents = ["ill"]
table = [[0.3, 0.7], [0.6, 0.4]]
[costs]
cp = 12.5
ecg = 30
age = 0.5
[[groups]]
name = "visit"
overhead = 4
features = ["cp", "age"]
[misclassification]
yes = { yes = 0, no = 200 }
no = { yes = 900, no = 0 }
[labels]
cp = "Chest pain"
ecg = "Resting ECG"
ill = "Heart disease"
[state_labels.cp]
asym = "no pain at all"
typ = "typical angina"
[state_labels.ill]
yes = "diseased"
no = "healthy"
"""


def labelled() -> Problem:
    """Return the problem."""
    return parse_problem(parse_toml(LABELLED), Path())
