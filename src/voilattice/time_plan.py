"""How a request spends its time: the one table of shares.

A request has a deadline (`budgets.Deadline`). A stage takes its share of the time that is left when
the stage begins, so what one stage does not use is there for the next. From the door of a request
down to the tables:

    a request        the server keeps half back; advice: the policy asked for, then greedy
    advice, apply    the step or the policy, then the candidates or what lies beyond the tree
    the optimum      quick policies, the exact solver, bounds, the search, writing the policy down
    a rule           the best set at each situation, by how many cases reach it
    a set            a bound on its value, then its table

The shares were chosen on problems of 10 to 60 features, so that no stage is starved on any of them
(`benchmarks/large.py`, `benchmarks/under_load.py`). They change how far a solver comes, never what
is true of its result.
"""

from __future__ import annotations

# -- A request to the server (`web.advisor`, `web.tasks`).

TASK = 0.5  # of the time left, that a task plans with; the rest is a reserve
POLICY_ASKED_FOR = 0.75  # of the time for advice; then greedy answers
TURN = 0.5  # of the time for that policy, until its turn has come
FIRST_PART = 0.5  # for the first part of a task that has several

# -- Advice, reports and tables of cases (`consultation`, `cases`, `cli`).

ADVISED_STEP = 0.9  # for the step of the policy; the rest is for the candidates
FIRST_STEPS = 0.75  # for the exact solver; then the first step and its outcomes are searched for
FIRST_STEP_FOUND = 0.5  # of the rest, to find what the optimum begins with
OUTCOME_OF_STEP = 0.2  # at most, to solve what one outcome of a first step leaves
REPORTED_POLICY = 0.7  # the rest is for the first steps
APPLIED_POLICY = 0.5  # to build the policy; the rest is for what lies beyond its tree
REPLANNED_STEP = 0.25  # for one question to the solver about a row

# -- A classifier (`sklearn`).

CHOICE_OF_RECIPE = 0.6
CLASSIFIER_POLICY = 1 / 3  # of all the time, at most, to build the policy
COMPLETION = 0.2  # to complete it

# -- Policies side by side, and other numbers (`policy.comparison`, `what_if`).

FIRST_POINT = 0.5  # of a sweep: it finds what all points use
SHARES_OF_SEARCH = 8  # how much more time a solver gets that does not say it is quick
WITHOUT_FEATURE = 0.5  # of the time for the optimum, to solve the problem that lacks a feature
PRICES = 0.5  # for the threshold of a price
STAKES = 0.8  # of the rest; what they leave is for the curve along prices
FIRST_VALUE = 0.4  # of the optimal cost along a number
VALUE = 0.2  # the same for a value once one was not proved in time

# -- The optimum (`optimal`). The search for rounds and limits is weak: there the exact solver gets
# more of the time.

EXACT = 0.25  # for the exact solver; after that the search begins
EXACT_BATCHES = 0.6
QUICK_POLICY = 0.2  # for each of the policies that are kept whatever happens
BOUND = 0.3  # for each lower bound
BOUND_BY_EXACT = 0.5  # of the time for a bound without limits, to solve that problem exactly
REVEALED_PLAN = 0.3  # of the time for the table of revealed features, to choose them
START = 0.07  # for each policy that the search starts from
START_RULE = 0.5  # of that, to build the policy
START_AO_STAR = 0.4
WRITING = 0.1  # at the end, to write the policy down

# -- A rule (`policy.situation`, `policy.builder`).

BEST_SETS = 0.25  # for the best sets of situations that all cases reach
BEST_SET_ALONE = 0.8  # for the best set of a situation that is asked about alone
BEST_SET_AT_LEAST = 0.005  # for the best set of a situation, however rare
BEST_SET_TABLE = 0.5  # of the time for a best set, to compute a table for it
PAUSE = 0.02  # at most, that a pause of the machine may take
OUTCOMES = 0.2  # to write down the outcomes of one set

# -- A set (`valuation`).

SET_BOUND = 0.2  # for one table, to bound
SET_TABLE = 0.5  # for one table, to search below it
PARTS_BOUND = 0.2  # for the bound on all parts of a set together
PART = 0.1  # for the table of a part
