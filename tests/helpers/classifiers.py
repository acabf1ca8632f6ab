"""Tables and classifiers for the tests of `voilattice.sklearn`."""

import numpy as np
import pandas as pd

from voilattice.sklearn import AcquiringClassifier

PRICES = {"age": 1, "chol": 7, "fbs": 5, "pain": 3}
STAKES = [[0, 60], [100, 0]]


def draw_patients(n=240, seed=0):
    """Return raw numbers, truth values and categories, and labels that follow from them."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    pain = np.where(rng.random(n) < 0.85, np.where(ill, "strong", "weak"), "none")
    table = pd.DataFrame(
        {
            "age": rng.integers(30, 80, n),
            "chol": np.round(200 + 40 * ill + 25 * rng.normal(size=n), 1),
            "fbs": rng.random(n) < np.where(ill, 0.7, 0.2),
            "pain": pain,
        }
    )
    return table, pd.Series(np.where(ill, "ill", "well"), name="state")


def make_classifier(**settings):
    """Return a classifier that is quick to fit."""
    return AcquiringClassifier(
        **{"prices": PRICES, "misclassification": STAKES, "recipe": "naive", **settings}
    )
