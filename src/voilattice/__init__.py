"""Which features to acquire, together or one by one, and when to stop and decide.

Given a Bayesian network, prices of features and costs of wrong decisions, voilattice values sets
of features exactly: the Value of Information Lattice of Bilgic and Getoor (JAIR 41, 2011).
"""

from voilattice.best import best_set
from voilattice.costs import FeatureCosts
from voilattice.errors import VoilatticeError
from voilattice.explanations import explain
from voilattice.lattice import Lattice
from voilattice.network import Network
from voilattice.network_files import read_network, write_network
from voilattice.problem import Problem
from voilattice.problem_files import load_problem, write_problem
from voilattice.valuation import benefit, cost, emc, evi, value

__all__ = [
    "FeatureCosts",
    "Lattice",
    "Network",
    "Problem",
    "VoilatticeError",
    "benefit",
    "best_set",
    "cost",
    "emc",
    "evi",
    "explain",
    "load_problem",
    "read_network",
    "value",
    "write_network",
    "write_problem",
]

__version__ = "0.1.0"
