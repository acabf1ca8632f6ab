"""The arena: every method on the same new cases, with the same prices and the same stakes.

A `Suite` has data sets, levels of costs and splits (`suites`). Methods are our policies and the
baselines (`methods`). `run_arena` tries each method on each cell, on this machine or on a cluster
(`tournament`), and keeps what it found in a journal (`results`). `write_report` writes a page with
ranks (`ranks`), tables (`tables`) and a verdict (`verdict`), and the numbers as CSV (`report`).
"""

from voilattice.extras import need_extra

need_extra("arena", "voilattice.arena")

from voilattice.arena.report import write_report
from voilattice.arena.suites import Suite, load_suite
from voilattice.arena.tournament import Standings, read_standings, run_arena

__all__ = ["Standings", "Suite", "load_suite", "read_standings", "run_arena", "write_report"]
