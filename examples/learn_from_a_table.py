"""Learn a problem from a table of past cases, then compare policies on it.

The table is made up here; a CSV or Parquet file, or a pandas or polars data frame, works as well.
"""

import random

import voilattice as vl

random.seed(7)
table = {"fault": [], "age": [], "noise": [], "pressure": []}
for _ in range(400):
    fault = random.random() < 0.3
    old = random.random() < (0.7 if fault else 0.4)
    table["fault"].append("yes" if fault else "no")
    table["age"].append(random.randint(8, 15) if old else random.randint(1, 7))
    table["noise"].append(random.choice(["loud", "quiet"] if fault else ["quiet", "quiet", "loud"]))
    measured = random.random() < 0.95  # now and then the gauge is broken
    table["pressure"].append(
        round(random.gauss(6.1 if fault else 7.4, 0.8), 1) if measured else None
    )

found = vl.learn_problem(
    table,
    "fault",
    costs={"age": 0, "noise": 2, "pressure": 25},
    misclassification={"yes": {"yes": 0, "no": 120}, "no": {"yes": 800, "no": 0}},
    title="Is the pump about to fail?",
    recipe="search",  # quick; by default several recipes are tried
)
problem = found.problem
print(problem)
for name in problem.features:
    gaps = found.learned.missing.get(name, 0)
    print(f"  {name}: {', '.join(problem.states(name))}" + (f" ({gaps} missing)" if gaps else ""))

print(f"\n{'policy':<12}{'expected total cost':>20}{'features bought':>17}")
for name in ("none", "greedy", "greedy-la", "optimal"):
    policy = vl.build_policy(problem, name)
    print(f"{name:<12}{policy.expected_total_cost:>20.2f}{policy.expected_features:>17.2f}")
