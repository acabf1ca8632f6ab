"""Every answer has exactly the keys, of the types and in the order, that its declaration says."""

import json
from dataclasses import fields

import pytest
from helpers.ward import WARD
from pydantic import TypeAdapter

from voilattice import load_problem
from voilattice.documents import consultations, sets
from voilattice.web import schemas, tasks
from voilattice.web.tasks import ServedCase
from voilattice.web.uploads import read_upload

pytestmark = pytest.mark.slow

PROBLEMS = ("asia", "car")
TASKS = {
    "describe": (schemas.ProblemSummary, {}),
    "posterior": (consultations.Standing, {}),
    "advise": (consultations.Advice, {"policy": "greedy-la", "seconds": 20.0}),
    "batch": (
        schemas.Batch,
        {"policy": "greedy", "cases": [{}, {"evidence": {"nothing": 1}}], "seconds": 20.0},
    ),
    "apply": (schemas.Applied, {"policy": "greedy", "rows": [{}, {}], "seconds": 20.0}),
    "first_steps": (
        consultations.FirstSteps,
        {"policy": "optimal", "features": None, "seconds": 20.0},
    ),
    "threshold": (schemas.Threshold, {"seconds": 20.0}),
    "value": (sets.SetValue, {"features": []}),
    "explain": (sets.Explanation, {}),
    "best": (sets.BestSet, {"seconds": 20.0}),
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


def check(declared, document):
    """Hold a document, as it is sent, against its declaration: pydantic converts nothing."""
    TypeAdapter(declared).validate_json(json.dumps(document), strict=True)
    assert list(document) == [f.name for f in fields(declared) if f.name in document]


@pytest.mark.parametrize("task", TASKS)
def test_every_answer_fits_its_declaration(case, task):
    declared, options = TASKS[task]
    unknown = [f for f in case.narrowed.features if f not in case.evidence]
    if task == "explain":
        options = {"features": unknown}
    if task == "threshold":
        options = options | {"feature": unknown[0]}
    check(declared, tasks.TASKS[task](case, lambda *told: None, **options))


def test_every_task_has_a_declaration_here():
    assert set(TASKS) | {"network"} == set(tasks.TASKS)  # which is a drawing alone
