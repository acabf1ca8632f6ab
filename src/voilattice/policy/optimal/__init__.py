"""The policy of least expected cost: exact where its states fit, searched with bounds elsewhere.

`blocks` finds the states, `space` their tables, `bellman` is the recursion, `solution` its result.
`bundles` are sets that can be cheaper together. `ao_star` searches where the states do not fit.
"""
