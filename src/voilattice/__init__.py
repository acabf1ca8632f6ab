"""Which features to acquire, together or one by one, and when to stop and decide.

Given a Bayesian network, prices of features and costs of wrong decisions, voilattice values sets
of features exactly: the Value of Information Lattice of Bilgic and Getoor (JAIR 41, 2011).
"""

from voilattice.errors import VoilatticeError
from voilattice.files.networks import read_network, write_network
from voilattice.files.problems import load_problem, write_problem
from voilattice.lattice.explanations import explain
from voilattice.lattice.lattice import Lattice
from voilattice.model.costs import FeatureCosts
from voilattice.model.network import Network
from voilattice.model.problem import Problem
from voilattice.valuation.best_set import best_set
from voilattice.valuation.valuation import benefit, cost, emc, evi, value

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
