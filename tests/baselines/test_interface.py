import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

from voilattice.baselines import Baseline
from voilattice.errors import InputError
from voilattice.learning.rivals import PrunedTree


class Tree(Baseline):
    name = "tree"

    def learn(self, table, question, seed):
        return PrunedTree().learn(table, question, seed)


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pandas.DataFrame(
        {
            "good": y + rng.normal(0, 0.3, n),
            "color": np.where(rng.random(n) < 0.5, "red", "blue"),
        }
    )
    return frame, np.where(y, "ill", "well")


def test_total_cost_is_the_bill_and_the_decision():
    frame, y = draw()
    model = Tree({"good": 2, "color": 1}, misclassification=[[0, 30], [10, 0]]).fit(frame, y)
    decided, bill = model.predict(frame), model.bill(frame)
    cost = np.where(decided == y, 0.0, np.where(decided == "ill", 30.0, 10.0))
    assert model.total_cost(frame, y) == pytest.approx(bill["feature_cost"] + cost)
    assert model.score(frame, y) == pytest.approx(-model.total_cost(frame, y).mean())
    prices = {"good": 2.0, "color": 1.0}
    for bought, paid in zip(bill["bought"], bill["feature_cost"], strict=True):
        assert paid == sum(prices[name] for name in bought)


def test_the_first_of_a_group_pays_the_overhead():
    frame, y = draw()
    model = Tree(
        {"good": 2, "color": 1}, groups=[("lab", 5, ["good", "color"])],
        misclassification=[[0, 300], [300, 0]],
    ).fit(frame, y)  # fmt: skip
    for bought, paid in model.bill(frame).itertuples(index=False):
        assert paid == sum({"good": 2, "color": 1}[n] for n in bought) + (5 if bought else 0)


def test_arrays_and_columns_in_another_order():
    frame, y = draw()
    model = Tree({"good": 2, "color": 1}).fit(frame, y)
    turned = model.predict(frame[["color", "good"]])
    assert (model.predict(frame) == turned).all()
    numbers = frame[["good"]].to_numpy()
    assert Tree(1).fit(numbers, y).bill(numbers)["bought"].iloc[0] in ((), ("x0",))


def test_decisions_that_are_no_classes():
    frame, y = draw()
    stakes = {d: {"ill": 5, "well": 5} if d == "refer" else {"ill": 100, "well": 100}
              for d in ("ill", "well", "refer")}  # fmt: skip
    model = Tree(50, misclassification=stakes).fit(frame, y)
    assert set(model.predict(frame)) == {"refer"}


def test_one_class_is_refused():
    frame, _ = draw(20)
    with pytest.raises(InputError, match="nothing to decide"):
        Tree().fit(frame, ["ill"] * 20)


def test_wrong_rows_and_labels_are_refused():
    frame, y = draw()
    numbers = frame[["good"]].to_numpy()
    model = Tree(1)
    with pytest.raises(NotFittedError):
        model.predict(numbers)
    model.fit(numbers, y)
    with pytest.raises(ValueError, match="X has 4, y has 1"):
        model.total_cost(numbers[:4], y[:1])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(np.c_[numbers, numbers])
