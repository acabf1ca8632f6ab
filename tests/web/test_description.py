"""The OpenAPI document, its examples and the page made from it."""

import re
from html.parser import HTMLParser

import pytest
from helpers.problems import SMALL
from helpers.serving import waited_for

from voilattice import load_problem
from voilattice.web.app import create_app
from voilattice.web.description import EXAMPLES
from voilattice.web.reference import reference_page


@pytest.fixture(scope="module")
def document():
    return create_app({"asia": load_problem("asia")}).openapi()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_every_route_has_an_example_and_every_example_a_route(document):
    paths = {path.removeprefix("/api/v1") for path in document["paths"]}
    assert set(EXAMPLES) <= paths
    for path, _, operation in operations(document):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert "example" in content or path == "/api/v1/problems"
        for parameter in operation.get("parameters", ()):
            assert parameter["example"]


def test_every_answer_has_a_type_and_every_refusal_is_a_problem_document(document):
    for path, _, operation in operations(document):
        for status, response in operation["responses"].items():
            ((kind, content),) = response["content"].items()
            if int(status) >= 400:
                assert kind == "application/problem+json"
                assert content["schema"] == {"$ref": "#/components/schemas/ProblemDetails"}
            elif path.endswith(".svg"):
                assert kind == "image/svg+xml"
            elif path == "/metrics":
                assert kind == "text/plain"
            else:
                assert kind == "application/json"
                assert {"$ref", "items"} & set(content["schema"])


def test_every_field_parameter_and_answer_has_a_description(document):
    silent = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, entry in (schema.get("properties") or {"itself": schema}).items()
        if not (entry.get("description") and schema.get("description", name.startswith("Body_")))
    ]
    for path, method, operation in operations(document):
        parts = [*operation.get("parameters", []), operation, *operation["responses"].values()]
        silent += [
            f"{method} {path}"
            for part in parts
            if part.get("description", "") in {"", "Successful Response"}
        ]
    assert silent == []


def test_every_route_may_be_refused_for_its_method_and_for_an_error_of_ours(document):
    for _, _, operation in operations(document):
        assert {"405", "500"} <= set(operation["responses"])


def test_operations_have_short_names_of_their_own(document):
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(names)) == len(names)
    assert {"list_problems", "posterior", "advise", "advise_batch", "show_job"} <= set(names)


@pytest.mark.slow
def test_every_example_is_answered_as_the_description_says(server, api, document):
    schema = pytest.importorskip("schemathesis").openapi.from_url(f"{server}openapi.json")
    for path, method, operation in operations(document):
        example = EXAMPLES.get(path.removeprefix("/api/v1"), {})
        if path == "/ready":  # not yet, perhaps
            continue
        if path.endswith("/jobs/{name}"):
            example = api.post("/api/v1/jobs/advise", json=EXAMPLES["/jobs/advise"]).json()
            example = {"name": example["job"]}
        asked = {}
        if method == "post":
            asked = {"json": example}
        if path == "/api/v1/problems" and method == "post":
            asked = {"files": {"files": ("p.toml", SMALL)}}
        answer = api.request(method, path.format(**example), **asked)
        assert answer.status_code == int(min(operation["responses"])), answer.text
        answer.request.read()  # an upload was streamed
        schema[path][method].validate_response(answer)
        if answer.status_code == 202:
            job = waited_for(api, answer.json())
            assert job["state"] == "done"
            done = api.get(f"/api/v1/jobs/{job['job']}")
            schema["/api/v1/jobs/{name}"]["get"].validate_response(done)


class Links(HTMLParser):
    """What a page links to, and what it can be linked at."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = set(), set()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        assert not [name for name in found if name == "style" or name.startswith("on")]
        assert tag not in {"script", "style", "img"}
        self.links |= {found[key] for key in ("href", "src") if key in found}
        self.anchors |= {found["id"]} & set(found.values()) if "id" in found else set()


def test_the_page_of_the_api_shows_all_of_it_and_loads_nothing_from_elsewhere(document):
    page = reference_page(document)
    links = Links()
    links.feed(page)
    inner = {link.removeprefix("#") for link in links.links if link.startswith("#")}
    assert inner <= links.anchors
    assert {link for link in links.links if not link.startswith("#")} == {
        "reference.css", "openapi.json", "./",
    }  # fmt: skip
    for name in document["components"]["schemas"]:
        assert f'id="{name}"' in page
    assert len(re.findall("<pre>", page)) >= 12
