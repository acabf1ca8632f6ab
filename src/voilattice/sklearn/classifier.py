r"""A classifier that asks for features only while they pay.

`AcquiringClassifier` is an ordinary scikit-learn classifier with prices and stakes. Its `fit`
learns a network from raw values, with the recipe that is cheapest on rows that it has not seen
(`learning.selection`), and works out a policy: which feature to acquire next, given what is known,
and when to stop. Its `predict` follows the policy and looks at a cell only when the policy buys it.

The time limit covers all of `fit`: choosing a recipe, and planning (`sklearn.planning`). A fitted
classifier gives the same answer for the same row for ever, alone or beside other rows: its policy
is complete (`cases.completion`), so what is still to plan at prediction is decided by work that is
counted, and never by a clock. A missing cell cannot be had: the row goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from voilattice import time_plan
from voilattice.budgets import Deadline
from voilattice.cases.application import Applied, follow_cases
from voilattice.cases.completion import planner_around
from voilattice.cases.replanning import QuickRule
from voilattice.cases.tables import Cases
from voilattice.errors import InputError, located, warn_user
from voilattice.learning.cells import Categories, Unreadable
from voilattice.learning.data_tables import DataTable, as_table
from voilattice.learning.networks import describe_left_out
from voilattice.learning.problems import check_recipe, learn_problem
from voilattice.learning.recipes import AUTO, Recipe, name_recipe
from voilattice.learning.selection import NONE
from voilattice.model.costs import FeatureCosts
from voilattice.model.network import Network
from voilattice.model.problem import Problem
from voilattice.model.raw_values import UNSEEN
from voilattice.policy.interface import Limits, Solver
from voilattice.policy.policy import Acquisition, Leaf
from voilattice.policy.solvers import solver_of
from voilattice.sklearn.bills import make_bill
from voilattice.sklearn.column_costs import make_costs
from voilattice.sklearn.decisions import make_decisions
from voilattice.sklearn.inputs import (
    LazyCodes,
    Rows,
    check_jobs,
    check_lengths,
    check_time,
    check_weights,
    find_seed,
    name_places,
    name_target,
    one_line,
    read_rows,
    split_labels,
)
from voilattice.sklearn.planning import plan_policy
from voilattice.wording import quote

__all__ = ["Acquired", "AcquiringClassifier"]


class Acquired(NamedTuple):
    """One case: the decision, P(y) when it was made, what was bought in order, and its cost."""

    decision: Any
    posterior: dict[Any, float]
    bought: tuple[str, ...]
    feature_cost: float


class AcquiringClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that acquires features one by one, and only while they pay.

    Parameters
    ----------
    prices
        What each column costs: a mapping of columns to numbers (or a Series by column), a list, an
        array or a Series (index 0, 1, ...) in the order of the columns, or one number for all. The
        columns of an array are called x0, x1, and so on; their places are names too. Labels of a
        data frame that are numbers are labels, not places.
    groups
        Columns that share an overhead, paid once with the first of them: (name, overhead,
        [columns]), or `voilattice.Group`.
    discounts
        Columns of which the first one acquired pays its price, and each later one so much less:
        (name, {column: amount off}), or `voilattice.Discount`.
    misclassification
        What decisions cost: a matrix [predicted][actual] in the order of `classes_`, or
        ``{decision: {class: cost}}``, where a decision is a class or anything else, such as
        ``"refer"``. By default 1 for every wrong decision.
    policy
        The name of a policy: ``optimal``, ``greedy``, ``greedy-la``, ``batch``, ``markov-blanket``,
        ``none``, or a registered one.
    recipe
        How the network is learned: ``auto`` chooses by the total cost on rows that were not seen;
        or the name of a recipe, or a `voilattice.learning.Recipe`.
    time_limit
        Seconds for all of `fit`. None: no limit.
    n_jobs
        Processes that choose the recipe, as joblib has them.
    random_state
        Deals the rows into folds.

    Attributes
    ----------
    classes_
        The labels, in order.
    decisions_
        What `predict` can return: the decisions, in the order of ``problem_.decisions``. Unless
        `misclassification` has others, they are the classes.
    n_features_in_, feature_names_in_
        The columns of the table; names only if the table had some.
    problem_
        The problem that was learned. Constant columns are no features of it.
    policy_
        The policy that is followed. If no recipe was better than deciding at once, it is ``none``.
    recipe_
        The name of the recipe that was used; ``none`` if nothing was learned.
    choice_
        The recipes that were tried, and their costs; None: none was tried.
    learned_
        How the problem was learned, as in `learn_problem`; None: nothing was, or it was loaded.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> X = np.stack([y + rng.normal(0, 0.3, 200), y + rng.normal(0, 1.0, 200)], axis=1)
    >>> clf = AcquiringClassifier({"x0": 9, "x1": 1}, misclassification=[[0, 50], [50, 0]],
    ...                           recipe="naive").fit(X, y)
    >>> clf.predict(X[:3]), y[:3]
    (array([1, 1, 1]), array([1, 1, 1]))
    >>> clf.next_feature([[np.nan, np.nan]])[0]
    ('x0',)
    """

    def __init__(
        self,
        prices: Any = 0,
        *,
        groups: Any = (),
        discounts: Any = (),
        misclassification: Any = None,
        policy: str = "optimal",
        recipe: Recipe | str = AUTO,
        time_limit: float | None = 60,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.prices = prices
        self.groups = groups
        self.discounts = discounts
        self.misclassification = misclassification
        self.policy = policy
        self.recipe = recipe
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # -- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AcquiringClassifier:
        """Learn a problem and work out its policy.

        Parameters
        ----------
        X
            A data frame of raw numbers, categories and truth values, or a 2-D array. NaN, None and
            marks such as ``?`` are missing.
        y
            A label for each row, of any type.
        sample_weight
            How many cases each row counts for.

        Raises
        ------
        VoilatticeError, ValueError, TypeError
            In one line that names the parameter or the column. Constant columns, columns that alone
            determine the label, and labels of one class only are warnings.
        """
        deadline = Deadline(check_time(self.time_limit))
        seed = self._check_settings()
        if y is None:
            raise InputError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                f"is None",
                "y",
            )
        rows = self._read(X, reset=True)
        weights = check_weights(sample_weight, rows.n_rows)
        labels, codes = split_labels(y)
        check_lengths(rows, codes)
        costs = make_costs(self.prices, self.groups, self.discounts, rows)
        names = rows.features
        with name_places():
            table = as_table({name: rows.column(k) for k, name in enumerate(names)})
        if weights is not None and not weights.all():
            used = np.flatnonzero(weights)
            table, weights = table.take(used), weights[used]
            labels, codes = split_labels(labels.classes[codes[used]])
        target = name_target(y, names)
        decisions = make_decisions(self.misclassification, labels)
        columns = {target: Categories(codes, labels.states, True, True), **table.columns}
        table = DataTable(columns, table.checksum)
        self.classes_ = labels.classes
        self._labels, self._columns = labels, dict(zip(names, rows.names, strict=True))
        self._learn(table, target, costs, decisions.rows, weights, seed, deadline)
        self.decisions_ = decisions.labels_of(self.problem_.decisions)
        name = NONE if self._decides_at_once else self.policy
        self.policy_ = plan_policy(self.problem_, name, deadline)
        return self

    def _check_settings(self) -> int:
        """Raise `VoilatticeError` if a setting is wrong; return the seed."""
        with located("policy"):
            solver_of(self.policy)
        if self.recipe != AUTO:
            check_recipe(self.recipe)
        check_jobs(self.n_jobs)
        return find_seed(self.random_state)

    def _learn(
        self,
        table: DataTable,
        target: str,
        costs: FeatureCosts,
        stakes: Mapping[str, Mapping[str, float]],
        weights: NDArray[np.float64] | None,
        seed: int,
        deadline: Deadline,
    ) -> None:
        """Set the problem, and how it was learned."""
        constant = [
            name
            for name, column in table.columns.items()
            if name != target and not isinstance(column, Unreadable) and column.n_different() < 2
        ]
        self.choice_, self.learned_, self.recipe_ = None, None, NONE
        if len(self.classes_) == 1 or len(constant) == len(table.columns) - 1:
            if len(self.classes_) == 1:
                [label] = self.classes_.tolist()
                is_own = len(stakes) > 1
                then = "all rows are decided alike" if is_own else "it is always predicted"
                warn_user(f"one class only, {quote(label)}: {then}")
            else:
                warn_user(describe_left_out(constant))
            codes = table.columns[target].codes  # type: ignore[union-attr]
            shares = np.bincount(codes, weights, len(self.classes_))
            states = self._labels.states
            network = Network.from_tables({target: states}, {}, {target: shares / shares.sum()})
            self.problem_ = Problem.create(network, target, {}, stakes)
            return
        with name_places():
            found = learn_problem(
                table, target, costs=costs, misclassification=stakes, recipe=self.recipe,
                policy=self.policy, weights=weights, seed=seed, n_jobs=self.n_jobs,
                time_limit=deadline.share(time_plan.CHOICE_OF_RECIPE),
            )  # fmt: skip
        # The table itself is not kept: it may be large, and it need not go where the model goes.
        self.learned_ = replace(found, table=DataTable({}, found.table.checksum))
        self.problem_, self.choice_ = found.problem, found.choice
        self.recipe_ = NONE if self._decides_at_once else name_recipe(found.learned.recipe)

    @property
    def _decides_at_once(self) -> bool:
        """Whether no recipe was better than deciding at once."""
        return self.choice_ is not None and self.choice_.recipe is None

    # -- using

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decision for each row: follow the policy, cell by cell.

        A cell is looked at only when the policy buys it. A missing one cannot be had. With
        decisions of your own the array holds these. A decision that is no class is never the
        right label, so compare decisions by `total_cost`, not by their accuracy.
        """
        applied, _ = self._follow(X)
        return self.decisions_[self._codes(applied)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(y) at the end of each row's path, in the order of `classes_`."""
        applied, _ = self._follow(X)
        return applied.posterior

    def bill(self, X: Any) -> Any:
        """Return a data frame of what each row bought, in order, and what that cost.

        It is a polars frame for a polars frame, with lists in place of tuples, and a pandas frame
        (with the same index) for all else.
        """
        applied, _ = self._follow(X)
        paths = {path: self._own_names(path) for path in set(applied.bought.tolist())}
        return make_bill(X, [paths[path] for path in applied.bought.tolist()], applied.feature_cost)

    def total_cost(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return what each row costs: its features, and the decision."""
        applied, rows = self._follow(X)
        truth = self._labels.encode(y)
        check_lengths(rows, truth)
        cost: NDArray[np.float64] = self.problem_.misclassification[self._codes(applied), truth]
        return applied.feature_cost + cost

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean total cost: more is better."""
        costs = self.total_cost(X, y)
        if sample_weight is None:
            return -float(costs.mean())
        return -float(np.average(costs, weights=check_weights(sample_weight, len(costs))))

    def next_feature(self, X: Any) -> NDArray[np.object_]:
        """Return the columns to acquire next in each row, as tuples; () is: decide.

        Parameters
        ----------
        X
            Cells that are not missing are known. A missing cell can still be acquired.
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        codes = self._lazy_codes(rows)
        states = np.stack([codes[name] for name in codes], axis=1) if len(codes) else None
        codes.warn_unseen(dict.fromkeys(codes.read, np.ones(rows.n_rows, dtype=bool)))
        found = np.empty(rows.n_rows, dtype=object)
        if states is None:
            found[:] = [()] * rows.n_rows
            return found
        different, places = np.unique(np.maximum(states, -1), axis=0, return_inverse=True)
        planner, quick = planner_around(self.policy_), QuickRule(self.problem_)
        steps = np.empty(len(different), dtype=object)
        steps[:] = [self._next(row, planner, quick) for row in different]
        return steps[places.ravel()]

    def _next(self, codes: NDArray[np.intp], planner: Solver, quick: QuickRule) -> tuple[str, ...]:
        """Return the columns to acquire next in a case."""
        problem, policy = self.problem_, self.policy_
        known = {
            name: problem.states(name)[code]
            for name, code in zip(problem.features, codes.tolist(), strict=True)
            if code >= 0
        }
        if not problem.joint(known).any():
            return ()  # such a case cannot be, so there is nothing to learn about it
        number, leaf = policy.locate(known), policy.follow(known)
        if number is not None and isinstance(node := policy.nodes[number], Acquisition):
            return self._own_names(node.features)
        if isinstance(leaf, Leaf) and leaf.is_open:
            step = quick.next_step(known, problem.limits)
        elif number is not None:
            return ()
        else:
            step = planner.next_step(problem, known, Limits(time_limit=None)).features
        return self._own_names(name for name in problem.features if name in step)

    def acquire(self, oracle: Callable[[str], Any]) -> Acquired:
        """Decide one case, asking for one feature after the other.

        Parameters
        ----------
        oracle
            Is called with the name of a column when the policy buys it, and returns its value. None
            and NaN: it cannot be had.
        """
        check_is_fitted(self)
        if not callable(oracle):
            raise InputError(
                f"must be a function of a column's name, got {quote(oracle)}", "oracle"
            )
        codes = LazyCodes(self.problem_, lambda name: [oracle(self._columns[name])])
        applied = self._apply(codes, 1)
        [decision], [posterior] = self._codes(applied).tolist(), applied.posterior.tolist()
        return Acquired(
            self.decisions_[decision],
            dict(zip(self.classes_.tolist(), posterior, strict=True)),
            self._own_names(applied.bought[0]),
            float(applied.feature_cost[0]),
        )

    # -- files

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the classifier as a problem folder that every command can use.

        Besides the problem, its network and a README, the folder holds the policy
        (``policy.json``), and the labels and settings (``estimator.json``).

        Parameters
        ----------
        force
            Overwrite the files of these names that the folder holds already, and no others.
        """
        from voilattice.sklearn.folders import save_classifier

        check_is_fitted(self)
        return save_classifier(self, Path(folder), force=force)

    @classmethod
    def load(cls, folder: str | Path) -> AcquiringClassifier:
        """Return a classifier that was saved to a folder."""
        from voilattice.sklearn.folders import load_classifier

        return load_classifier(cls, Path(folder))

    # -- rows to results

    def _read(self, X: Any, *, reset: bool) -> Rows:
        """Return the rows of a table; check its columns against those of `fit`."""
        names = None if reset else getattr(self, "feature_names_in_", None)
        rows = read_rows(X, names)
        # The columns of `fit` may come in another order: they are found by their names.
        if names is None or not rows.has_names or list(rows.names) != list(names):
            with one_line("X"):
                validate_data(self, X, reset=reset, skip_check_array=True)
        return rows

    def _own_names(self, features: Iterable[str]) -> tuple[str, ...]:
        """Return the names of columns as they were given."""
        return tuple(self._columns[name] for name in features)

    def _lazy_codes(self, rows: Rows) -> LazyCodes:
        places = {name: place for place, name in enumerate(self._columns)}
        return LazyCodes(self.problem_, lambda name: rows.column(places[name]))

    def _follow(self, X: Any) -> tuple[Applied, Rows]:
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return self._apply(self._lazy_codes(rows), rows.n_rows), rows

    def _apply(self, codes: LazyCodes, n_rows: int) -> Applied:
        """Follow the policy; warn about cells that were asked for and stand for no state."""
        applied = follow_cases(
            self.policy_, Cases(n_rows, codes, None, {}), strict=False, time_limit=None
        )
        odd = {name for name in codes.read if (codes[name] == UNSEEN).any()}
        lacking = applied.lacking.tolist() if odd else []
        codes.warn_unseen({name: np.array([name in lost for lost in lacking]) for name in odd})
        return applied

    def _codes(self, applied: Applied) -> NDArray[np.intp]:
        """Return the place of each row's decision among the problem's decisions."""
        places = {name: place for place, name in enumerate(self.problem_.decisions)}
        decisions = applied.decision.tolist()
        return np.fromiter(map(places.__getitem__, decisions), np.intp, len(decisions))
