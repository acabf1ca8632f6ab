"""Many cases at once: a policy followed for each row of a table.

`tables` reads cases, or draws them from a network. `application` follows a policy and bills each
case; `replanning` goes on where a feature is missing or the policy left something open, and
`completion` makes a policy that goes on by work counted, not by the clock. `focus` solves the part
of a problem that fits. `simulation` follows a policy on drawn cases.
"""
