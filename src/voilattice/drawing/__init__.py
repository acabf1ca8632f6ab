"""Pictures: the lattice, policies as trees, savings along a sweep.

`lattice` and `policy` draw SVG and self-contained pages. `plots` uses matplotlib, which is imported
only for a plot. The command line and the server show the same pictures.
"""
