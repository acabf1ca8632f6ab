"""Which sets of features are worth considering: the Value of Information Lattice (Section 3).

`independence` decides by one flood which sets are irreducible (Definition 1), `growth` finds all of
them (in place of Algorithm 3), and `lattice` says how they lie in each other (Definition 2).
`constraints` (Definitions 3 and 4, Algorithm 2) and `explanations` say why a set is in or out.
"""

from voilattice.lattice.explanations import explain
from voilattice.lattice.independence import acquirable_core, core, is_irreducible
from voilattice.lattice.lattice import Lattice

__all__ = ["Lattice", "acquirable_core", "core", "explain", "is_irreducible"]
