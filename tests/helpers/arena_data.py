"""Two little data sets with a cost file each, for an arena that takes no time."""

import numpy as np

QUICK = ["at once", "EG2", "csNB", "logistic regression 1/2"]
COSTS = """
[costs]
test = 2
age = 1
sex = 0.5

[[groups]]
name = "visit"
overhead = 1
features = ["test", "age"]

[misclassification]
yes = { yes = 0, no = 20 }
no = { yes = 90, no = 0 }
"""


def write_data(path):
    """Write the data sets `one` and `two` into a folder, and return the folder."""
    rng = np.random.default_rng(3)
    for name in ("one", "two"):
        ill = rng.random(90) < 0.4
        test = np.where(rng.random(90) < 0.8, ill, ~ill)
        age = rng.normal(50 + 10 * ill, 8).round(1)
        sex = rng.random(90) < 0.5
        rows = zip(test, age, sex, ill, strict=True)
        text = "".join(
            f"{'+' if t else '-'},{a},{'f' if s else 'm'},{'yes' if i else 'no'}\n"
            for t, a, s, i in rows
        )
        (path / f"{name}.csv").write_text(f"test,age,sex,class\n{text}")
        (path / f"{name}.toml").write_text(COSTS)
    return path
