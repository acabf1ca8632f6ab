"""Pictures: the lattice, policies as trees, savings along a sweep.

`lattice`, `lattice_levels`, `policy`, `flow` and `network` draw SVG from pieces (`svg`, `tree`,
`labels`); `pages` makes self-contained pages of them, and `report` one to print, with the `bill` to
expect. `plots`, `what_if`, `evaluations` and `arena` use matplotlib, which is imported only for a
plot; `reports` are folders of such plots and their numbers. The command line and the server show
the same pictures.
"""
