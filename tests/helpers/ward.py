"""A small problem with constraints, limits, rounds that cost something and its own decisions."""

from __future__ import annotations

from pathlib import Path

from voilattice import Problem
from voilattice.files.problems import parse_problem, parse_toml

# Consent says nothing about the illness. It opens the biopsy.
WARD = """title = "Lung ward"
currency = "CAD"
[network]
target = "ill"
[[network.nodes]]
name = "ill"
states = ["yes", "no"]
table = [[0.3, 0.7]]
[[network.nodes]]
name = "age"
states = ["young", "old"]
parents = ["ill"]
table = [[0.4, 0.6], [0.6, 0.4]]
[[network.nodes]]
name = "xray"
states = ["clear", "shadow"]
parents = ["ill"]
table = [[0.3, 0.7], [0.8, 0.2]]
[[network.nodes]]
name = "blood"
states = ["low", "high"]
parents = ["ill"]
table = [[0.4, 0.6], [0.7, 0.3]]
[[network.nodes]]
name = "consent"
states = ["given", "declined"]
table = [[0.9, 0.1]]
[[network.nodes]]
name = "biopsy"
states = ["clean", "malign"]
parents = ["ill"]
table = [[0.02, 0.98], [0.99, 0.01]]
[costs]
age = 0
xray = 20
blood = 8
consent = 1
biopsy = 60
[[constraints]]
feature = "biopsy"
after = ["xray"]
only_if = { consent = "given" }
not_if = { age = "old" }
[limits]
spend = 120
features = 4
rounds = 3
[rounds]
cost = 5
[misclassification]
treat = { yes = 0, no = 400 }
discharge = { yes = 1000, no = 0 }
refer = { yes = 250, no = 250 }
[labels]
xray = "X-ray"
"""

# With visits as dear as this, the best first visit has three tests.
VISITS = WARD.replace("cost = 5", "cost = 40").replace("spend = 120", "spend = 300")


def ward() -> Problem:
    """Return the problem."""
    return parse_problem(parse_toml(WARD), Path())
