"""Every mistake is answered with its status and a reason."""

import pytest

from voilattice.errors import InputError, Remedy, TooLargeError, UnknownNameError
from voilattice.web.refusals import Busy, UnknownProblem, describe, status_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("advise", {"problem": "hart", "policy": "greedy"}, 404, "no problem 'hart' (nearest: "),
        ("advise", {"problem": "heart", "policy": "best"}, 422, "policy: "),
        ("advise", {"policy": "greedy"}, 422, "problem: this field is missing"),
        ("value", {"problem": "asia", "features": ["smok"]}, 400, "no feature 'smok' (nearest: "),
        ("value", {"problem": "asia", "features": ["smoke"], "evidence": {"smoke": "yes"}}, 400,
         "known already"),
        ("advise", {"problem": "asia", "policy": "none", "evidence": {"smoke": "maybe"}}, 400,
         "'maybe'"),
        ("advise", {"problem": "asia", "policy": "none", "unavailable": ["lung"]}, 400, "'lung'"),
        ("advise", {"problem": "asia", "policy": "none", "evidence": {"smoke": 7}}, 400, "state 7"),
        ("advise", {"problem": "heart", "policy": "none", "given": {"age": "nan"}}, 400,
         "'age' must be a finite number or one of its states"),
        ("advise", {"problem": "heart", "policy": "none", "evidence": {"age": [46]}}, 422,
         "evidence.age: must be a string or true or false or a number, got [46]"),
        ("advise", {"problem": "heart", "policy": "none", "evidence": 5}, 422,
         "evidence: must be an object, got 5"),
        ("value", {"problem": "heart", "features": "age"}, 422,
         "features: must be a list, got 'age'"),
        ("value", {"problem": "heart", "features": ["age", 7]}, 422,
         "features.1: must be a string, got 7"),
        ("best", {"problem": "heart", "given": {"agee": 46}}, 400, "given.agee: no feature 'agee'"),
        ("best", {"problem": "heart", "evidence": {"agee": 46}}, 400,
         "evidence.agee: no feature 'agee' (nearest: 'age')"),
        ("advise", {"problem": "heart", "policy": "greedy", "evidence": {"age": True}}, 400,
         "evidence.age: 'age' must be a finite number or one of its states, got True"),
        ("best", {"problem": "heart", "evidence": {"age": 46}, "given": {"age": 46}}, 400,
         "'age' is in evidence and in given"),
        ("apply", {"problem": "heart", "policy": "greedy", "rows": [{"agee": 46}]}, 400,
         "row 1: no feature 'agee' (nearest: 'age')"),
        ("apply", {"problem": "asia", "policy": "none", "rows": [{"lung": "yes"}, {}]}, 400,
         "lung, row 2: the true class is missing; leave this row out, or 'lung' in all rows"),
        ("apply", {"problem": "asia", "policy": "greedy", "rows": [{}], "strict": 1}, 422,
         "strict: must be true or false, got 1"),
        ("threshold", {"problem": "asia", "feature": "smok"}, 400,
         "feature: no feature 'smok' (nearest: 'smoke')"),
        ("threshold", {"problem": "asia", "feature": "smoke", "given": {"smoke": "yes"}}, 400,
         "feature: 'smoke' is known already"),
        ("best", {"problem": "asia", "stakes": {"kind": "symmetric"}}, 422,
         "stakes: must have scale alone, or kind and expected"),
        ("best", {"problem": "asia", "prices": {"xray": -1}}, 422,
         "prices.xray: must be at least 0, got -1"),
        ("best", {"problem": "asia", "prices": {"xray": 1e101}}, 422,
         "prices.xray: must be at most 1e+100, got 1e+101"),
        ("best", {"problem": None}, 422, "problem: must be a string, got null"),
        ("value", {"problem": "asia", "features": True}, 422,
         "features: must be a list, got true"),
        ("best", {"problem": ""}, 422, "problem: must have at least 1 character, got ''"),
        ("lattice", {"problem": "asia", "top": 101}, 422, "top: must be at most 100, got 101"),
        ("best", {"problem": "asia", "prices": {"xrai": 1}}, 400, "prices.xrai: no feature"),
        ("best", {"problem": "asia", "misclassification": {"yes": {"never": 1}}}, 400,
         "misclassification.yes.never: no class"),
        ("best", {"problem": "asia", "stakes": {"kind": "symmetric", "expected": -1}}, 422,
         "stakes.expected: "),
        ("compare", {"problem": "asia", "points": []}, 422,
         "points: must have at least 1 item, got []"),
        ("compare", {"problem": "asia", "points": [1] * 102}, 422,
         "points: must have at most 101 items, got [1, 1"),
        ("best", {"problem": "asia", "memory": 7}, 422,
         "memory: not a field of this request"),
        ("best", [1], 422, "the body: must be an object, got [1]"),
        ("best", {"problem": "asia", "stakes": {"kind": "symmetric", "expected": True}}, 422,
         "stakes.expected: "),
    ],
)  # fmt: skip
def test_mistakes_are_answered_with_a_reason(api, path, body, status, said):
    answer = api.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == status
    assert said in answer.json()["detail"]


def many_features(n):
    """Return the files of a problem whose lattice has 2^n sets."""
    text = (
        "network n {} variable Y { type discrete [2] { T, F }; } probability (Y) { table .4, .6; }"
    )
    for k in range(n):
        text += f"variable X{k} {{ type discrete [2] {{ T, F }}; }}"
        text += f"probability ( X{k} | Y ) {{ (T) 0.1, 0.9; (F) 0.8, 0.2; }}"
    problem = '[network]\nfile = "n.bif"\ntarget = "Y"\n[misclassification]\nkind = "symmetric"\n'
    problem += "expected = 50\n[costs]\n" + "".join(f"X{k} = 1\n" for k in range(n))
    return [("files", ("p.toml", problem.encode())), ("files", ("n.bif", text.encode()))]


@pytest.mark.slow
def test_what_is_too_large_is_413_and_names_no_option_of_the_command_line(api):
    name = api.post("/api/v1/problems", files=many_features(40)).json()["name"]
    lattice = api.post("/api/v1/lattice", json={"problem": name})
    features = [f"X{k}" for k in range(40)]
    value = api.post("/api/v1/value", json={"problem": name, "features": features})
    for answer in (lattice, value):
        assert answer.status_code == 413
    for said in (lattice.json()["detail"], value.json()["detail"]):
        assert "--" not in said
        assert "max_" not in said
        assert "give more evidence, or use the command line, where this limit" in said


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("no"), 400),
        (UnknownNameError("no"), 400),
        (UnknownProblem("no"), 404),
        (TooLargeError("no"), 413),
        (Busy("no"), 503),
    ],
)
def test_each_error_has_its_status(error, status):
    assert status_of(error) == status


def test_parameters_are_called_as_the_fields_of_a_request():
    assert describe(InputError("must be >= 0", "expected")) == "stakes.expected: must be >= 0"
    known = UnknownNameError("no", remedies=(Remedy("give more", "evidence"),))
    assert describe(known) == "no; give more (evidence)"


def test_a_budget_of_the_server_is_not_named_to_whoever_asks():
    remedies = (Remedy("raise the budget", "max_states"), Remedy("ask for less"))
    assert describe(TooLargeError("too much", remedies=remedies)) == (
        "too much; ask for less, or use the command line, where this limit of the server can be "
        "raised"
    )
