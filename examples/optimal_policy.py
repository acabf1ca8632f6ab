"""Find the policy of least expected total cost, and read what it does.

No other policy for this problem is cheaper on average, and the shortcuts below show by how much.
"""

import voilattice as vl

asia = vl.load_problem("asia")
policy = vl.build_policy(asia, "optimal")

print("What the optimal policy does, path by path:\n")
for path in policy.paths():
    found = ", ".join(f"{feature} = {state}" for feature, state in path.evidence)
    print(f"{path.probability:6.1%}  {found}")
    print(
        f"        decide {path.leaf.decision!r}; features {path.feature_cost:.2f}, "
        f"risk {path.leaf.emc:.2f}"
    )

proved = "proved" if policy.exact else "not proved"
print(f"\nNo policy costs less than {policy.lower_bound:.2f} on average ({proved}).")

optimum = policy.expected_total_cost
print(f"\n{'policy':<16}{'expected total cost':>20}{'over the optimum':>18}")
print(f"{'optimal':<16}{optimum:>20.2f}")
for name in ("greedy-la", "batch", "greedy", "none"):
    total = vl.build_policy(asia, name).expected_total_cost
    print(f"{name:<16}{total:>20.2f}{total / optimum - 1:>18.1%}")
