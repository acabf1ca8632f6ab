"""Which features to acquire, together or one by one, and when to stop and decide.

Given a Bayesian network, prices of features and costs of wrong decisions, voilattice values sets
of features exactly: the Value of Information Lattice of Bilgic and Getoor (JAIR 41, 2011).
"""

from voilattice.costs import ConditionalCost, CostModel, FeatureCosts, Group
from voilattice.errors import InputError, TooLargeError, UnknownNameError, VoilatticeError
from voilattice.network import Network
from voilattice.network_files import read_network, write_network
from voilattice.problem import Problem
from voilattice.problem_files import builtin_problems, load_problem, write_problem
from voilattice.valuation import Value, benefit, cost, emc, evi, posterior, value

__all__ = [
    "ConditionalCost",
    "CostModel",
    "FeatureCosts",
    "Group",
    "InputError",
    "Network",
    "Problem",
    "TooLargeError",
    "UnknownNameError",
    "Value",
    "VoilatticeError",
    "benefit",
    "builtin_problems",
    "cost",
    "emc",
    "evi",
    "load_problem",
    "posterior",
    "read_network",
    "value",
    "write_network",
    "write_problem",
]

__version__ = "0.1.0"
