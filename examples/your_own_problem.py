"""Build a problem in Python, value sets of features, save it and load it again."""

import tempfile

import voilattice as vl

network = vl.Network.from_tables(
    states={"ill": ["yes", "no"], "fever": ["yes", "no"], "smear": ["+", "-"]},
    parents={"fever": ["ill"], "smear": ["ill"]},
    tables={
        "ill": [0.1, 0.9],
        "fever": [[0.7, 0.3], [0.2, 0.8]],
        "smear": [[0.8, 0.2], [0.05, 0.95]],
    },
)
problem = vl.Problem.create(
    network,
    target="ill",
    costs={"fever": 1, "smear": 20},
    misclassification={"yes": {"yes": 0, "no": 40}, "no": {"yes": 600, "no": 0}},
    title="A smear test",
)
print(problem)
for features in ({"fever"}, {"smear"}, {"fever", "smear"}):
    worth = vl.value(problem, features)
    names = " and ".join(sorted(features))
    print(f"{names}: worth {worth.evi:.2f}, costs {worth.cost:.2f}, benefit {worth.benefit:.2f}")
print(f"smear once there is fever: {vl.benefit(problem, {'smear'}, {'fever': 'yes'}):.2f}")

with tempfile.TemporaryDirectory() as folder:
    path = vl.write_problem(problem, folder)
    assert vl.load_problem(path) == problem
