"""Files of networks, problems and policies.

`networks` chooses the format of a network by its file's extension. A format is a module: `bif`,
`bifxml`, `net` (Hugin), `xdsl` and `dsl` (GeNIe; `gates` has their kinds of nodes), `uai`; pyAgrum
reads its own formats in a separate process (`pyagrum_reader`). They share `tokens`, `xml_tree` and
`node_tables`, which builds the network. `problems` handles problem files: `problem_tables` are
their tables, `toml_text` their pieces, `toml_errors` what is wrong with a text; `drafts` writes
them with comments, `variants` with other numbers, and `policies` handles saved policies. Every
error names the file, the place in it and what would be right.
"""

from voilattice.files.networks import read_network, write_network
from voilattice.files.policies import load_policy, save_policy
from voilattice.files.problems import load_problem, write_problem

__all__ = [
    "load_policy",
    "load_problem",
    "read_network",
    "save_policy",
    "write_network",
    "write_problem",
]
