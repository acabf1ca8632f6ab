"""From a data frame to a held-out bill: a classifier that buys features only while they pay."""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from voilattice.sklearn import AcquiringClassifier

# Past repairs of pumps. The table is made up here; yours comes from pandas.read_csv.
rng = np.random.default_rng(0)
fault = rng.random(600) < 0.3
X = pd.DataFrame(
    {
        "age": rng.integers(1, 16, 600) + 3 * fault,
        "noise": np.where(rng.random(600) < 0.8, np.where(fault, "loud", "quiet"), "unclear"),
        "pressure": np.round(7.4 - 1.2 * fault + rng.normal(0, 0.8, 600), 1),
        "opened": rng.random(600) < np.where(fault, 0.95, 0.02),
    }
)
y = np.where(fault, "replace", "keep")

X, new, y, truth = train_test_split(X, y, random_state=0)
clf = AcquiringClassifier(
    prices={"age": 0, "noise": 2, "pressure": 25, "opened": 90},
    misclassification={
        "replace": {"replace": 0, "keep": 120},
        "keep": {"replace": 800, "keep": 0},
    },
)
clf.fit(X, y)
print(clf.bill(new).value_counts("bought").to_string())
print(f"recipe {clf.recipe_}; each pump costs {-clf.score(new, truth):.2f}")
