"""The scikit-learn room: a classifier that asks for features only while they pay.

`AcquiringClassifier` learns a problem from a table, and decides by its policy (`classifier`). What
users give to it is checked and named: data frames and labels in `inputs`, prices in `column_costs`;
`decisions` are what it can decide, and `bills` what rows bought. The policy is worked out in time
(`planning`). A fitted classifier is saved as an ordinary problem folder (`folders`).
"""

from voilattice.extras import need_extra

need_extra("sklearn", "voilattice.sklearn")

from voilattice.sklearn.classifier import Acquired, AcquiringClassifier

__all__ = ["Acquired", "AcquiringClassifier"]
