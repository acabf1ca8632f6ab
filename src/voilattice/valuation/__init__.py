"""What sets of features are worth: EMC, EVI and benefit (Equations 1 and 3 to 7).

`valuation` is the definition, `tables` lets tables flow down a trie of sets (Section 3.2.3), and
`lattice_values` values a whole lattice with them. `algorithm_1` computes as few values as it can,
and `best_set` finds the set of highest benefit (Equation 7).
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
