"""The policy of least expected cost: exact if its states fit, otherwise searched with bounds.

`blocks` finds the states, `space` their tables, `bellman` is the recursion, `solution` its result.
Where nothing merges, `plain` is the recursion over a table of all partial assignments, and
`plain_solution` its result. `exact` chooses between the two.
`bundles` are sets that can be cheaper together.

If the states do not fit, `anytime` searches: with `search`, and with `ao_star` what that does not
support. The bounds of the search are `screens`, `reveal` and `repeats`. `solver` is the interface
to all of this.
"""
