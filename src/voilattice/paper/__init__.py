"""Section 4 of the paper, reproduced: data sets, tables, figures and claims.

The modules follow the data flow: `datasets` (the five tables), `published` (what the paper prints),
`problems` (the networks learned from the tables), `experiment` (the sweep), `summary` (curves and
Table 3), `claims` (the paper's sentences, measured), `figures` and `report` (one page with all).
`voilattice reproduce` runs them. Of the other rooms only `arena` imports this one, for the data.
"""

from voilattice.extras import need_extra

need_extra("arena", "voilattice.paper")
