"""A client that is generated from the OpenAPI document, against a real server."""

import importlib
import json
import subprocess
import sys
import time

import httpx
import pytest

from voilattice import load_problem
from voilattice.web.app import create_app

pytestmark = pytest.mark.slow

PACKAGE = "generated_advisor_client"
CONFIG = "post_hooks: []\n"  # the code need not be pretty


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Return a function that returns the module of an operation, or of a model."""
    pytest.importorskip("openapi_python_client")
    folder = tmp_path_factory.mktemp("client")
    document, config = folder / "openapi.json", folder / "config.yml"
    document.write_text(json.dumps(create_app({"asia": load_problem("asia")}).openapi()))
    config.write_text(CONFIG)
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--path", document,
         "--meta", "none", "--output-path", folder / PACKAGE, "--config", config],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "/api/v1/advise" not in made.stdout  # no route was left out
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")
    sys.path.remove(str(folder))


@pytest.fixture
def client(calls, server):
    made = calls("client").Client(base_url=server.rstrip("/"), timeout=httpx.Timeout(60))
    with made as client:
        yield client


def ask(calls, client, operation, model=None, **asked):
    options = {}
    if model is not None:
        options["body"] = getattr(calls("models"), model).from_dict(asked)
    return calls(f"api.default.{operation}").sync(client=client, **options)


def test_problems_are_listed_and_shown(calls, client):
    names = [entry.name for entry in ask(calls, client, "list_problems")]
    assert "asia" in names
    shown = calls("api.default.show_problem").sync("asia", client=client)
    assert (shown.target, shown.prior["yes"]) == ("lung", pytest.approx(0.055))
    assert ask(calls, client, "health").status == "ok"


def test_posterior_and_advice_are_objects(calls, client):
    case = {"problem": "asia", "evidence": {"smoke": "yes"}}
    now = ask(calls, client, "posterior", "Asked", **case)
    assert sum(now.posterior.additional_properties.values()) == pytest.approx(1)
    assert now.bill[0].features == ["smoke"]
    advice = ask(calls, client, "advise", "AdviceAsked", policy="greedy-la", **case)
    assert advice.action in {"acquire", "decide"}
    assert advice.candidates[0].benefit >= advice.candidates[-1].benefit
    assert advice.posterior.to_dict() == pytest.approx(now.posterior.to_dict())


def test_a_batch_has_advice_and_refusals(calls, client):
    cases = [{"evidence": {"smoke": "yes"}}, {"evidence": {"smoke": "maybe"}}]
    asked = {"problem": "asia", "policy": "greedy", "cases": cases}
    good, bad = ask(calls, client, "advise_batch", "BatchAsked", **asked).answers
    assert good.action == "acquire"
    assert (bad.error.status, "'maybe'" in bad.error.detail) == (400, True)


def test_a_job_ends_with_its_result(calls, client):
    job = ask(calls, client, "start_policy", "PolicyAsked", problem="asia", policy="optimal")
    while job.state in {"queued", "running"}:
        time.sleep(0.05)
        job = calls("api.default.show_job").sync(job.job, client=client)
    assert job.state == "done"
    assert job.result.policy == "optimal"
    assert job.result.exact
    assert job.error is None


def test_a_refusal_is_an_object_too(calls, client):
    refused = ask(calls, client, "best", "Asked", problem="asiaa")
    assert (refused.status, refused.title) == (404, "Not Found")
    assert "nearest: 'asia'" in refused.detail
