"""Section 4 of the paper: its data sets, its tables and figures, and its claims, reproduced.

The package follows the data flow: `datasets` (the five tables), `problems` (the networks learned
from them), `published` (what the paper prints), `experiment` (the sweep), `claims` (the paper's
sentences, measured), `report` (tables, figures and verdicts on one page).
"""
