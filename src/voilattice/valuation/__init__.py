"""What sets of features are worth: EMC, EVI and benefit (Equations 1 and 3 to 7).

EMC is the expected misclassification cost, EVI the expected value of information. `valuation` is
the definition. `tables` computes the tables of many sets from each other (Section 3.2.3), and
`lattice_values` uses them to value a whole lattice. `algorithm_1` computes as few values as
possible, and `best_set` finds the set of highest benefit (Equation 7), by `set_search` with
`bounds`. `pairs` has P(Y, X_i | e) of all features at once, `streaming` values a set whose table is
too large, and `lattice_levels` finds the best sets of each level.
"""

from voilattice.valuation.lattice_values import LatticeValues, value_lattice
from voilattice.valuation.valuation import Value, benefit, cost, emc, evi, posterior, value

__all__ = [
    "LatticeValues",
    "Value",
    "benefit",
    "cost",
    "emc",
    "evi",
    "posterior",
    "value",
    "value_lattice",
]
