"""Lower bounds on the optimal cost, from problems that are easier than the true one.

`screens` bounds a step by what it can gain, `reveal` gives a set of features away, and `repeats`
lets features be bought any number of times: `hubs` finds what makes features independent, `pools`
which of them share a table, `beliefs` the grid, and `repeat_values` the values on it.
"""
