"""Learning: from a table of cases to a network, and to a problem.

A table is read and its cells are typed once (`table_files`, `cells`, `data_tables`). Columns become
states (`discretization`, `columns`, `preparation`), a search finds the arcs (`structure`), and
counts or expectation maximization fill the tables (`parameters`). A `Recipe` holds every choice on
the way (`recipes`), and `networks` takes the steps in order. `selection` chooses a recipe by what
its policy costs on new cases. `learn_problem` adds the costs and returns a problem that can be
solved, or written to a folder with a README (`problems`, `readmes`).
"""

from voilattice.learning.data_tables import DataTable, as_table, read_table
from voilattice.learning.networks import Learned, learn_network
from voilattice.learning.problems import LearnedProblem, learn_problem
from voilattice.learning.recipes import Recipe

__all__ = [
    "DataTable",
    "Learned",
    "LearnedProblem",
    "Recipe",
    "as_table",
    "learn_network",
    "learn_problem",
    "read_table",
]
