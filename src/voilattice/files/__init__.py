"""What is kept in files: networks, problems, policies.

`bif` reads and writes BIF without loss, `networks` every format that pyAgrum knows (in a process of
its own), `problems` the problem file, and `policies` saved policies. Every error names the file,
the place in it and what would be right.
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
