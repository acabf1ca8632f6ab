"""Files of networks, problems and policies.

`bif` reads and writes the Bayesian network Interchange Format (BIF) without loss. `networks` reads
and writes the other formats with pyAgrum, which reads in a separate process. `problems` handles
problem files, `drafts` writes them with comments, and `policies` handles saved policies. Every
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
