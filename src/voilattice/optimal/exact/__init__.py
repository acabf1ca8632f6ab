"""The optimum over all states, proved: the lattice is the state space of the optimal policy.

Merged states: `blocks` finds them, `space` their tables, `bellman` is the recursion, `solution` its
result; `counted_solution` counts a limit on features down. Where nothing merges, `plain` is the
recursion over a table of all partial assignments, and `plain_solution` its result. Where sets are
acquired (rounds, limits on spending), these are `batches` and `batch_solution`; `bundles` are sets
that can be cheaper together. All answer one `interface`. `choose` takes the one that fits, and
`swept` keeps states along a sweep.
"""
