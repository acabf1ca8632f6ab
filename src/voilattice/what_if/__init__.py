"""What would change if a number were another: prices and stakes at which the optimum turns.

`threshold` finds them for a policy, `advice_threshold` for the first step of a case. Both follow
the optimal cost (`optimal_values`) along one number, which is a minimum of lines (`concave_lines`).
`feature_use` says whether an optimum uses a feature at all.
"""
