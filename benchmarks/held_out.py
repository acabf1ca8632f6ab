"""What the learned policies cost on new cases, beside what people would use instead.

    python benchmarks/held_out.py turney --splits 10 --jobs 2
    python benchmarks/held_out.py lomax --splits 20 --only heart --only car

turney: the five data sets of Turney (1995), random splits of two to one, both kinds of stakes, an
a-priori EMC of 50, 200 and 1000: 30 cells, against all rivals of `voilattice evaluate`.
lomax: eight data sets with fixed splits and three levels of costs: 24 cells, against the optimal
cost-sensitive trees of pystreed (depth 4, tuned).

It takes hours. Each result is a line of JSON in a file, so a run that was stopped goes on from
there. The data is not part of the repository: VOILATTICE_DATA names its folder, by default
../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from joblib import Parallel, delayed

from voilattice.files.problems import read_costs
from voilattice.learning import DataTable, read_table
from voilattice.learning.evaluation import ask_question
from voilattice.learning.rivals import (
    AtOnce,
    Classifier,
    Decided,
    PrunedTree,
    Question,
    gradient_boosting,
    logistic_regression,
)
from voilattice.model.costs import CostModel, Discount, FeatureCosts, price_set
from voilattice.model.problem import Misclassification
from voilattice.sklearn import AcquiringClassifier

TURNEY = {  # the data set: its file
    "liver": "liver",
    "pima": "pima",
    "heart": "heart",
    "hepatitis": "hepatitis",
    "thyroid": "thyroid-train",
}
STAKES = [(kind, emc) for kind in ("symmetric", "asymmetric") for emc in (50, 200, 1000)]
LOMAX = ("iris", "diabetes", "heart", "hepatitis", "breast", "glass", "car", "flare")
LEVELS = ("low", "middle", "high")
TARGET = "class"
DEPTH = 4  # of pystreed's trees
STREED_SECONDS = 300
SECONDS = 60.0  # for our method to learn, choose and plan

OURS = "voilattice"
STREED = "pystreed"


@dataclass(frozen=True, slots=True)
class Work:
    """One method, in one cell, on one split."""

    suite: str
    name: str
    cell: str
    split: int
    method: str


def fit_and_pay(train: DataTable, test: DataTable, question: Question, seed: int) -> Decided:
    """Return what our method decides and pays: the one place that says what our method is."""
    costs, classes = question.costs, question.classes
    assert isinstance(costs, FeatureCosts)
    labels = np.array(classes, dtype=object)
    known = labels[question.classes_of(train)]
    present = sorted(set(known))
    place = {label: k for k, label in enumerate(classes)}
    stakes = {i: {j: question.cost[place[i], place[j]] for j in present} for i in present}
    model = AcquiringClassifier(
        dict(costs.prices), groups=costs.groups, discounts=costs.discounts,
        misclassification=stakes, random_state=seed, time_limit=SECONDS,
    )  # fmt: skip
    model.fit(pandas.DataFrame(train.raw(question.features)), known)
    new = pandas.DataFrame(test.raw(question.features))
    decision = np.array([place[label] for label in model.predict(new)], dtype=np.intp)
    posterior = np.zeros((len(decision), len(classes)))
    posterior[:, [place[label] for label in model.classes_]] = model.predict_proba(new)
    return Decided(decision, posterior, model.bill(new)["feature_cost"].to_numpy())


def fit_streed(train: DataTable, test: DataTable, question: Question, seed: int) -> Decided:
    """Return what pystreed's tree decides and pays; a category is written as bits, b0010."""
    from pystreed import (  # noqa: PLC0415 (only here is it needed)
        CostSpecifier,
        FeatureCostSpecifier,
        STreeDCostSensitiveClassifier,
    )

    costs = question.costs
    assert isinstance(costs, FeatureCosts)
    discount = {f: (d.name, off) for d in costs.discounts for f, off in d.off.items()}
    texts, new = train.raw(question.features), test.raw(question.features)
    owners = [f for f in question.features for _ in texts[f][0][1:]]
    specifiers = []
    for name in question.features:
        group, off = discount.get(name, (f"only {name}", 0.0))
        price, first = costs.prices[name], owners.index(name)
        last = first + owners.count(name) - 1
        specifiers.append(FeatureCostSpecifier(price, price - off, group, first, last))

    def bits(cells: Mapping[str, Any]) -> Any:
        rows = zip(*(cells[f] for f in question.features), strict=True)
        return np.array([[int(bit) for cell in row for bit in cell[1:]] for row in rows])

    model = STreeDCostSensitiveClassifier(
        max_depth=DEPTH, hyper_tune=True, time_limit=STREED_SECONDS
    )
    # Its matrix is [actual][predicted].
    specifier = CostSpecifier(question.cost.T.tolist(), specifiers)
    model.fit(bits(texts), question.classes_of(train), specifier)
    decisions, spent = [], []
    for row, cells in enumerate(bits(new)):
        node, known, paid = model.get_tree(), {}, 0.0
        while not node.is_leaf_node():
            name = owners[node.feature]
            if name not in known:
                paid += price_set(costs, frozenset({name}), known)
                known[name] = new[name][row]
            node = node.right_child if cells[node.feature] else node.left_child
        decisions.append(int(node.label))
        spent.append(paid)
    decision = np.array(decisions, dtype=np.intp)
    certain = np.eye(len(question.classes))[decision]  # it has no probabilities
    return Decided(decision, certain, np.array(spent))


Method = Callable[[DataTable, DataTable, Question, int], Decided]


def rival_methods() -> dict[str, Method]:
    """Return the rivals by short names; a budget is a share of the price of all features."""

    def classifier(kind: str, make: Callable[[int], Any], share: float | None) -> Method:
        def method(train: DataTable, test: DataTable, question: Question, seed: int) -> Decided:
            total = price_set(question.costs, frozenset(question.features), {})
            rival = Classifier(kind, make, None if share is None else share * total)
            return rival.fit(train, question, seed).decide(test)

        return method

    def plain(rival: AtOnce | PrunedTree) -> Method:
        return lambda train, test, question, seed: rival.fit(train, question, seed).decide(test)

    found = {"at once": plain(AtOnce()), "tree": plain(PrunedTree())}
    for kind, make in (("lr", logistic_regression), ("gb", gradient_boosting)):
        for share, suffix in ((None, ""), (0.25, "/4"), (0.5, "/2")):
            found[f"{kind}{suffix}"] = classifier(kind, make, share)
    return found


def find_method(name: str) -> Method:
    """Return a method by its name; any other name is a label of ours."""
    if name == STREED:
        return fit_streed
    return rival_methods().get(name, fit_and_pay)


def load_turney(folder: Path, name: str) -> tuple[DataTable, FeatureCosts]:
    """Return a data set of Turney, and its prices."""
    table = read_table(folder / f"{TURNEY[name]}.csv")
    entries = json.loads((folder / "costs.json").read_text(encoding="utf-8"))[name]
    prices = {k: v for k, v in entries.items() if k not in ("groups", "source")}
    groups: dict[str, dict[str, float]] = defaultdict(dict)
    for feature, entry in prices.items():
        if entry["group"]:
            groups[entry["group"]][feature] = entry["cost"] - entry["discounted"]
    costs = FeatureCosts(
        {feature: entry["cost"] for feature, entry in prices.items()},
        discounts=tuple(Discount(group, off) for group, off in groups.items()),
    )
    return table.select([*prices, TARGET]), costs


def load_cell(
    folder: Path, work: Work
) -> tuple[DataTable, DataTable, CostModel, Misclassification]:
    """Return what to learn from, what to decide, the prices and the stakes."""
    if work.suite == "lomax":
        place = folder / "lomax" / work.name
        costs, stakes = read_costs(place / f"{work.cell}.toml")
        assert stakes is not None
        train, test = (read_table(place / f"{part}-{work.split}.csv") for part in ("train", "test"))
        return train, test, costs, stakes
    table, prices = load_turney(folder, work.name)
    order = np.random.default_rng(1000 + work.split).permutation(table.n_rows)
    n_train = round(table.n_rows * 2 / 3)
    kind, emc = work.cell.split()
    train = table.take(np.sort(order[:n_train]))
    return train, table.take(np.sort(order[n_train:])), prices, (kind, float(emc))


def do_work(folder: Path, work: Work) -> dict[str, Any]:
    """Return the result of one piece of work, as a line of the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train, test, costs, stakes = load_cell(folder, work)
        # Stakes of a scaled kind are scaled by the rows to learn from.
        question, _ = ask_question(train, TARGET, costs, stakes)
        start = time.perf_counter()
        found = find_method(work.method)(train, test, question, work.split)
        seconds = time.perf_counter() - start
    truth = question.classes_of(test)
    wrong = question.cost[found.decision, truth]
    return {
        "suite": work.suite, "name": work.name, "cell": work.cell, "split": work.split,
        "method": work.method, "cost": float((found.feature_cost + wrong).mean()),
        "feature_cost": float(found.feature_cost.mean()),
        "accuracy": float((found.decision == truth).mean()), "seconds": seconds,
    }  # fmt: skip


def list_works(suite: str, names: Sequence[str], n_splits: int, label: str) -> list[Work]:
    """Return all pieces of work, split by split, so that a table of all cells is there soon."""
    if suite == "lomax":
        cells, methods = LEVELS, (label, STREED)
    else:
        cells = tuple(f"{kind} {emc}" for kind, emc in STAKES)
        methods = (label, *rival_methods())
    first = 1 if suite == "lomax" else 0  # of the numbers of the splits
    return [
        Work(suite, name, cell, first + split, method)
        for split in range(n_splits)
        for name in names
        for cell in cells
        for method in methods
    ]


def read_results(path: Path) -> dict[Work, dict[str, Any]]:
    """Return what is done; a last line that was cut off is not."""
    found: dict[Work, dict[str, Any]] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            keys = ("suite", "name", "cell", "split", "method")
            found[Work(*(entry[key] for key in keys))] = entry
    return found


def run_works(folder: Path, works: Sequence[Work], path: Path, n_jobs: int) -> None:
    """Do what is not done yet, and append each result to the file."""
    done = read_results(path)
    todo = [work for work in works if work not in done]
    print(f"{len(works) - len(todo)} of {len(works)} pieces of work are done", flush=True)
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    with path.open("a", encoding="utf-8") as file:
        if text and not text.endswith("\n"):
            file.write("\n")
        for k, entry in enumerate(run(delayed(do_work)(folder, work) for work in todo), start=1):
            file.write(json.dumps(entry) + "\n")
            file.flush()
            if k % 10 == 0:
                print(f"{k} of {len(todo)}", flush=True)


Cells = dict[tuple[str, str], dict[str, float]]  # the mean cost of each method


def mean_costs(works: Sequence[Work], results: Mapping[Work, Mapping[str, Any]]) -> Cells:
    """Return the mean over the splits on which all methods of a cell are done."""
    costs: dict[tuple[str, str], dict[int, dict[str, float]]] = {}
    n_methods = len({work.method for work in works})
    for work in works:
        if work in results:
            cell = costs.setdefault((work.name, work.cell), defaultdict(dict))
            cell[work.split][work.method] = results[work]["cost"]
    found: Cells = {}
    for key, splits in costs.items():
        whole = [methods for methods in splits.values() if len(methods) == n_methods]
        if whole:
            found[key] = {m: float(np.mean([one[m] for one in whole])) for m in whole[0]}
    return found


def print_cells(cells: Cells) -> None:
    """Print the mean cost of each method in each cell; a star marks the lowest."""
    methods = list(next(iter(cells.values())))
    width = max(26, *(len(method) for method in methods))
    print("\n" + "mean total cost".ljust(width) + "".join(f"{m:>11}" for m in methods))
    for (name, cell), costs in cells.items():
        least = min(costs.values())
        shown = (f"{costs[m]:10.2f}{'*' if costs[m] <= least else ' '}" for m in methods)
        print(f"{name} {cell}".ljust(width) + "".join(shown))
    means = {m: np.mean([costs[m] for costs in cells.values()]) for m in methods}
    print("mean".ljust(width) + "".join(f"{means[m]:10.2f} " for m in methods))


def turney_verdict(cells: Cells, label: str) -> Iterator[str]:
    """Yield how our method stands against all rivals."""
    ratios = {
        key: costs[label] / min(cost for m, cost in costs.items() if m != label)
        for key, costs in cells.items()
    }
    n, n_lowest = len(cells), sum(ratio <= 1 for ratio in ratios.values())
    n_near = sum(ratio <= 1.02 for ratio in ratios.values())
    yield f"cells in which {label} is lowest: {n_lowest} of {n} (24 of 30 wanted)"
    yield f"cells within 2 % of the lowest: {n_near} of {n} (all wanted)"
    means = {m: np.mean([c[m] for c in cells.values()]) for m in next(iter(cells.values()))}
    others = {m: mean for m, mean in means.items() if m != label}
    best = min(others, key=lambda m: others[m])
    yield (
        f"mean over cells: {means[label]:.2f}; the best single other method, {best}: "
        f"{others[best]:.2f}; ratio {means[label] / others[best]:.4f} (0.95 wanted)"
    )
    for (name, cell), ratio in ratios.items():
        if ratio > 1.02:
            yield f"  {name} {cell}: {ratio:.3f} times the lowest"


def lomax_verdict(cells: Cells, label: str) -> Iterator[str]:
    """Yield how our method stands against pystreed."""
    ratios = {key: costs[label] / costs[STREED] for key, costs in cells.items()}
    yield (
        f"mean ratio to {STREED} over {len(cells)} cells: {np.mean(list(ratios.values())):.4f} "
        f"(0.95 wanted); highest {max(ratios.values()):.4f} (1.03 wanted)"
    )
    for (name, cell), ratio in ratios.items():
        if ratio > 1.03:
            yield f"  {name} {cell}: {ratio:.3f}"


def why_not(folder: Path, suite: str, names: Sequence[str]) -> str:
    """Return why a suite cannot be run; empty: it can."""
    files = (
        [folder / "lomax" / name / "low.toml" for name in names]
        if suite == "lomax"
        else [folder / "costs.json", *(folder / f"{TURNEY[name]}.csv" for name in names)]
    )
    lacking = [str(file) for file in files if not file.is_file()]
    if lacking:
        return f"{lacking[0]} is not there; VOILATTICE_DATA names the folder with the data"
    if suite == "lomax" and find_spec("pystreed") is None:
        return "pystreed is not installed (pip install pystreed)"
    return ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", choices=("turney", "lomax"))
    parser.add_argument("--splits", type=int, help="how many (default: 10, of lomax 20)")
    parser.add_argument("--only", action="append", help="a data set; repeatable")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("held_out.jsonl"), help="the results")
    parser.add_argument("--label", default=OURS, help="another name for our method, to try it anew")
    parser.add_argument("--report", action="store_true", help="print what is done, and do nothing")
    options = parser.parse_args(arguments)
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("VOILATTICE_DATA", default))
    every = tuple(TURNEY) if options.suite == "turney" else LOMAX
    names = [name for name in every if not options.only or name in options.only]
    if not names:
        parser.error(f"--only: must be one of {', '.join(every)}")
    if reason := why_not(folder, options.suite, names):
        print(f"skipped: {reason}")
        return
    n_splits = options.splits or (10 if options.suite == "turney" else 20)
    works = list_works(options.suite, names, n_splits, options.label)
    if not options.report:
        run_works(folder, works, options.out, options.jobs)
    cells = mean_costs(works, read_results(options.out))
    if not cells:
        print("no cell is done yet")
        return
    print_cells(cells)
    verdict = turney_verdict if options.suite == "turney" else lomax_verdict
    print("\n" + "\n".join(verdict(cells, options.label)))


if __name__ == "__main__":
    main()
