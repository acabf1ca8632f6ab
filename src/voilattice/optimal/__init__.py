"""The policy of least expected cost: exact if its states fit, otherwise searched with bounds.

`exact` solves the recursion over all states; `search` encloses the optimum where there are too
many. `solver` is the interface to both, and `kept` are the optima that were asked for last.
"""
