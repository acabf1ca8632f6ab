"""The compiled twin of each engine, one file per twin; imported only if the work is large.

Each kernel does the same as a readable function in the module of the same name, and the same tests
run both. `arrays` holds the named tuples that both twins take, and imports only NumPy. Each call of
a kernel does a limited amount of work, so that Python can handle Ctrl-C and show progress.

Twins of the lattice and of values are `growth`, `join_tree`, `tables` and `best_set`; of the
optimum `blocks`, `bellman`, `plain`, `batches`, `search`, `reveal` and `repeats`; of learning
`training` and `trees`. On a GPU there are `plain_cuda` and `repeats_cuda`. `kernels` says how a
kernel is declared, and `pointers` how it is called by its address.
"""
