"""Measure what policies cost on cases that they have not seen, beside what people use instead.

The table is drawn here; a CSV or Parquet file, or a pandas or polars data frame, works as well.
"""

import random

from voilattice import Discount, FeatureCosts
from voilattice.learning import evaluate

random.seed(3)
table = {"ill": [], "age": [], "blood sugar": [], "insulin": [], "family": []}
for _ in range(400):
    ill = random.random() < 0.35
    table["ill"].append("yes" if ill else "no")
    table["age"].append(round(random.gauss(55 if ill else 42, 12)))
    sugar = random.gauss(150 if ill else 108, 26)
    table["blood sugar"].append(round(sugar) if random.random() < 0.95 else None)  # some are lost
    table["insulin"].append(round(0.6 * sugar + random.gauss(40 if ill else 20, 25)))
    table["family"].append(random.choice(["yes", "yes", "no"] if ill else ["yes", "no", "no"]))

costs = FeatureCosts(
    {"age": 1, "family": 1, "blood sugar": 18, "insulin": 23},
    discounts=(Discount("sample", {"blood sugar": 3, "insulin": 3}),),
)
found = evaluate(
    table,
    "ill",
    costs=costs,
    misclassification={"yes": {"yes": 0, "no": 60}, "no": {"yes": 160, "no": 0}},
    policies=["greedy", "optimal"],
    recipes=["smooth"],
    n_folds=4,
)
print(f"{'mean costs of a new case':<35}{'total':>8}{'features':>10}{'errors':>8}{'above':>16}")
for result in found.results:
    above = found.difference(result)
    print(
        f"{result.label:<35}{result.mean_total_cost:>8.2f}{result.mean_feature_cost:>10.2f}"
        f"{result.mean_misclassification_cost:>8.2f}{above.mean:>9.2f} ± {above.standard_error:.2f}"
    )
