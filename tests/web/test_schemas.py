"""Every document has exactly the keys, of the types, that its model says."""

import json

import pytest
from helpers.ward import WARD

from voilattice import load_problem
from voilattice.web import schemas, tasks
from voilattice.web.tasks import ServedCase
from voilattice.web.uploads import read_upload

pytestmark = pytest.mark.slow

PROBLEMS = ("asia", "car")
TASKS = {
    "describe": (schemas.ProblemSummary, {}),
    "posterior": (schemas.Standing, {}),
    "advise": (schemas.Advice, {"policy": "greedy-la", "seconds": 20.0}),
    "batch": (
        schemas.Batch,
        {"policy": "greedy", "cases": [{}, {"evidence": {"nothing": 1}}], "seconds": 20.0},
    ),
    "apply": (schemas.Applied, {"policy": "greedy", "rows": [{}, {}], "seconds": 20.0}),
    "first_steps": (
        schemas.FirstSteps,
        {"policy": "optimal", "features": None, "seconds": 20.0},
    ),
    "threshold": (schemas.Threshold, {"seconds": 20.0}),
    "value": (schemas.SetValue, {"features": []}),
    "explain": (schemas.Explanation, {}),
    "best": (schemas.BestSet, {"seconds": 20.0}),
    "lattice": (schemas.Lattice, {"containing": [], "top": 3}),
    "policy": (schemas.Policy, {"policy": "optimal", "seconds": 20.0}),
    "report": (schemas.Report, {"policy": "greedy", "seconds": 20.0}),
    "compare": (schemas.Comparison, {"points": [0.0, 100.0], "seconds": 20.0}),
}


@pytest.fixture(scope="module", params=[*PROBLEMS, "ward"])
def case(request):
    """A problem, with something known and something not available."""
    name = request.param
    problem = read_upload({"w.toml": WARD.encode()}) if name == "ward" else load_problem(name)
    tasks.keep(name, problem)
    first, last = problem.features[0], problem.features[-1]
    known = {first: problem.states(first)[0]}
    return ServedCase(
        name, evidence=known, unavailable=(last,) if len(problem.features) > 2 else ()
    )


def check(model, document):
    """Hold a document, as it is sent, against its model: nothing is lost and nothing converted."""
    sent = json.loads(json.dumps(document))
    read = model.model_validate(sent, strict=True)
    assert read.model_dump(exclude_unset=True) == sent


@pytest.mark.parametrize("task", TASKS)
def test_every_answer_fits_its_model(case, task):
    model, options = TASKS[task]
    unknown = [f for f in case.narrowed.features if f not in case.evidence]
    if task == "explain":
        options = {"features": unknown}
    if task == "threshold":
        options = options | {"feature": unknown[0]}
    check(model, tasks.TASKS[task](case, lambda *told: None, **options))


def test_every_task_has_a_model_here():
    assert set(TASKS) | {"network"} == set(tasks.TASKS)  # which is a drawing alone
