"""Which sets of features are worth considering: the Value of Information Lattice (Section 3).

`independence` decides with one flood whether a set is irreducible (Definition 1). `growth` finds
all irreducible sets (it replaces Algorithm 3), and `lattice` says which of them contain each other
(Definition 2). `constraints` (Definitions 3 and 4, Algorithm 2) and `explanations` say why a set is
in the lattice or not.
"""

from voilattice.lattice.explanations import explain
from voilattice.lattice.independence import acquirable_core, core, is_irreducible
from voilattice.lattice.lattice import Lattice

__all__ = ["Lattice", "acquirable_core", "core", "explain", "is_irreducible"]
