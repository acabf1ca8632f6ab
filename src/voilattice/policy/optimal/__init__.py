"""The policy of least expected cost: exact if its states fit, otherwise searched with bounds.

`blocks` finds the states, `space` their tables, `bellman` is the recursion, `solution` its result.
Where nothing merges, `plain` is the recursion over a table of all partial assignments, and
`plain_solution` its result. `exact` chooses between the two.
`bundles` are sets that can be cheaper together. `ao_star` searches if the states do not fit.
`solver` is the interface to all of this.
"""
