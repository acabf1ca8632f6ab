"""Compare policies from low to high stakes, as the figures of the paper do.

The stakes are what deciding at once is expected to cost; savings are what a policy takes off that.
"""

import voilattice as vl

heart = vl.load_problem("heart")
stakes = (50, 100, 200, 500, 1000, 2000)
policies = ("markov-blanket", "greedy", "greedy-la", "batch", "optimal")
rows = vl.compare(heart, stakes, kinds=("symmetric",), policies=policies, n_jobs=1)
savings = {(row.expected, row.policy): row.savings for row in rows}

print("What each policy saves over deciding at once, on heart disease\n")
print(f"{'stakes':>8}" + "".join(f"{policy:>16}" for policy in policies))
for x in stakes:
    print(f"{x:>8,}" + "".join(f"{savings[x, policy]:>16,.2f}" for policy in policies))
