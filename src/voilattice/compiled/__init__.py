"""The compiled twin of each engine, one file a twin; imported only when the work is large.

Each kernel does what a readable function of the module of the same name does, and one suite of
tests runs both. `arrays` holds the named tuples that both twins take, and loads nothing but NumPy.
Kernels are called in portions, so that Python gets to see Ctrl-C and to show progress.
"""
