"""What others do: methods of the literature that buy features and decide, each under its own name.

Every baseline is a scikit-learn classifier with the verbs of `AcquiringClassifier` (`fit`,
`predict`, `bill`, `total_cost`; see `interface`), so they can be compared on equal terms. They are
also rivals of `voilattice.learning.evaluate`.
"""

from voilattice.baselines.interface import Baseline

__all__ = ["Baseline"]
