"""Price features with an object of your own, when prices, groups and conditions do not fit.

Any object with a method cost(features, evidence) can stand in for the prices of a problem.
"""

from dataclasses import dataclass

import voilattice as vl


@dataclass(frozen=True)
class Laboratory:
    """Each test has a price. Two tests or more in one order are 20 % cheaper."""

    prices: dict[str, float]

    def cost(self, features, evidence):
        """Return what these features cost together once the evidence is known."""
        total = sum(self.prices[feature] for feature in features)
        return total * 0.8 if len(features) > 1 else total


asia = vl.load_problem("asia")
one_by_one = vl.Problem.create(
    asia.network, asia.target, asia.costs.prices, asia.misclassification, features=asia.features
)
in_one_order = vl.Problem.create(
    asia.network, asia.target, Laboratory(dict(asia.costs.prices)), asia.misclassification,
    features=asia.features,
)  # fmt: skip

for title, problem in (("prices add up", one_by_one), ("20 % off an order", in_one_order)):
    best = vl.best_set(problem)
    batch = vl.build_policy(problem, "batch")
    print(title)
    print(f"  best set   {', '.join(sorted(best.features))}")
    print(f"  EVI        {best.evi:6.2f}")
    print(f"  cost       {best.cost:6.2f}")
    print(f"  benefit    {best.benefit:6.2f}")
    print(f"  ordering whole sets, the expected total cost is {batch.expected_total_cost:.2f}\n")
