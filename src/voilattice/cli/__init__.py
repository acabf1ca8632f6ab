"""The command line: one module for each family of commands, thin over the library.

Results go to stdout (a table, or one JSON document), progress and complaints to stderr.
"""
