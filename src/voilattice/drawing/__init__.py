"""Pictures: the lattice, policies as trees, savings along a sweep.

`lattice` and `policy` draw SVG and pages that need nothing from outside; `plots` uses matplotlib,
imported when a plot is made. The command line and the server show the same pictures.
"""
