"""What a problem is: a Bayesian network, what features cost, what decisions cost (Section 2).

`network` holds frozen arrays. From them, `elimination` computes exact tables P(S, e), and
`join_tree` all P(Y, X_i | e) at once (`triangulation`, `cliques` and `clique_arrays` prepare it,
`passes` does it). `costs` prices sets of features, with a file for each kind of price, `stakes`
decisions, and `monotonicity` checks whether larger sets cost more. `acquisition` says which sets
can be acquired when. `raw_values` says which state a number or a text stands for. `labels` checks
what people read in place of names, `references` that what is named exists, and `sections` the
tables of a file. `descriptions` puts a problem into words. `problem` combines all of this and
checks it once, and `what_if` changes its numbers. Every later package takes a `Problem`.
"""

from voilattice.model.costs import ConditionalCost, CostModel, Discount, FeatureCosts, Group
from voilattice.model.network import Network
from voilattice.model.problem import Problem

__all__ = [
    "ConditionalCost",
    "CostModel",
    "Discount",
    "FeatureCosts",
    "Group",
    "Network",
    "Problem",
]
