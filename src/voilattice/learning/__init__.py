"""Learning: from a table of cases to a network, and to a problem.

A table is read and its cells are typed once (`table_files`, `cells`, `cell_typing`, `data_tables`).
Columns become states (`discretization`, `columns`, `preparation`). A `Recipe` says how they become
a network (`recipes`, `networks`): with arcs that a search finds and counted tables (`structure`,
`parameters`), as an augmented naive Bayes network (`augmented`) with smooth or trained tables
(`smooth`, `training`), or from a decision tree (`decision_trees`, `pruning`). `selection` chooses a
recipe by what its policy costs on new cases. `learn_problem` adds the costs and returns a problem
that can be solved, or written to a folder with a README (`problems`, `readmes`). `evaluate`
measures what policies and their rivals cost on new cases (`evaluation`, `rivals`, `encoders`,
`held_out_results`).
"""

from voilattice.learning.data_tables import DataTable, as_table, read_table
from voilattice.learning.evaluation import evaluate
from voilattice.learning.networks import Learned, learn_network
from voilattice.learning.problems import LearnedProblem, learn_problem
from voilattice.learning.recipes import Recipe

__all__ = [
    "DataTable",
    "Learned",
    "LearnedProblem",
    "Recipe",
    "as_table",
    "evaluate",
    "learn_network",
    "learn_problem",
    "read_table",
]
