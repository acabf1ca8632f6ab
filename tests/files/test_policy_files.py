import json
from dataclasses import replace

import pytest
from helpers.labels import labelled
from helpers.problems import opener
from helpers.strategies import problems
from helpers.worlds import examples
from hypothesis import given

from voilattice import Constraint, Discount, FeatureCosts, Problem, advise, load_problem
from voilattice.errors import InputError
from voilattice.files import policies as policy_files
from voilattice.files.policies import (
    fingerprint,
    load_policy,
    load_with_evidence,
    save_policy,
)
from voilattice.model.acquisition import PathLimits
from voilattice.policy.solvers import build_policy

OLD_FINGERPRINT = "2458e322e857b33c82c290eb846ec7bb5a103abd8913eb47ed01a9a455c89add"


@examples(40)
@given(problem=problems(max_features=4))
def test_a_saved_policy_is_loaded_equal(tmp_path_factory, problem):
    path = tmp_path_factory.mktemp("policy") / "p.json"
    policy = build_policy(problem, "greedy-la")
    save_policy(policy, path)
    assert load_policy(path, problem) == policy


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "p.json"
    save_policy(build_policy(load_problem("asia"), "greedy-la"), path)
    return path


def test_a_policy_of_another_problem_is_refused(saved):
    asia = load_problem("asia")
    for other in (load_problem("figure3"), asia.with_expected("symmetric", 7)):
        with pytest.raises(InputError, match="was built for another problem"):
            load_policy(saved, other)


def test_discounts_tell_problems_apart():
    problem = opener()
    other = FeatureCosts({"X": 30, "A": 3}, discounts=(Discount("visit", {"X": 27, "A": 1}),))
    assert fingerprint(problem) == fingerprint(opener())
    assert fingerprint(problem) != fingerprint(replace(problem, costs=other))
    without = replace(problem, costs=FeatureCosts(problem.costs.prices))
    assert fingerprint(problem) != fingerprint(without)


def test_decisions_tell_problems_apart():
    problem = load_problem("asia")
    other = replace(problem, decisions=("treat", "wait"))
    assert fingerprint(problem) != fingerprint(other)
    assert fingerprint(other) != fingerprint(replace(problem, decisions=("treat", "refer")))
    swapped = replace(
        problem,
        decisions=tuple(reversed(problem.classes)),
        misclassification=problem.misclassification[::-1],
    )
    assert fingerprint(problem) == fingerprint(swapped)


def test_a_policy_of_an_older_version_is_still_that_of_its_problem():
    # The text that versions before own decisions saved for figure1.
    assert fingerprint(load_problem("figure1")) == OLD_FINGERPRINT


def test_a_file_that_was_changed_is_refused(saved):
    document = json.loads(saved.read_text())
    document["nodes"][-1]["price"] += 1
    saved.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"p\.json: the file was changed after it was saved"):
        load_policy(saved, load_problem("asia"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("nodes"), "this is not a saved policy"),
        (lambda d: d["nodes"].append(5), "this is not a saved policy"),
        (lambda d: d["nodes"][-1].update(price="x"), "node 12: price: must be a number"),
        (lambda d: d["nodes"][-1].update(price=-1000), "node 12: price: must be >= 0"),
        (lambda d: d["nodes"][-1]["branches"].pop(), "the probabilities of its branches"),
        (lambda d: d["nodes"][-1]["branches"][0].update(to="0"), "this is not a saved policy"),
    ],
)
def test_a_file_with_a_new_checksum_is_checked_all_the_same(saved, change, message):
    document = json.loads(saved.read_text())
    del document["checksum"]
    change(document)
    document["checksum"] = policy_files._digest(document)
    saved.write_text(json.dumps(document))
    with pytest.raises(InputError, match=message):
        load_policy(saved, load_problem("asia"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("[]", "this is not a saved policy: the key 'format' must be 'voilattice policy'"),
        ('{"format": "voilattice policy", "version": 9}', "version 9 is not supported, only 1"),
        ('{"format": "voilattice policy", "version": 1}', "the file was changed"),
    ],
)
def test_what_is_no_policy_is_named(tmp_path, text, message):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InputError, match=message):
        load_policy(tmp_path / "p.json", load_problem("asia"))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_policy(tmp_path / "none.json", load_problem("asia"))


def test_problems_with_costs_of_their_own_have_no_fingerprint():
    class Free:
        def cost(self, features, evidence):
            return 0.0

    asia = load_problem("asia")
    free = Problem.create(asia.network, "lung", Free(), asia.misclassification)
    with pytest.raises(InputError, match="policies for costs of type Free cannot be saved"):
        fingerprint(free)


def test_the_evidence_of_a_policy_comes_with_it(tmp_path):
    asia = load_problem("asia")
    policy = build_policy(asia, "greedy", {"smoke": "yes"})
    save_policy(policy, tmp_path / "p.json")
    assert load_with_evidence(tmp_path / "p.json", asia) == policy
    assert load_with_evidence(tmp_path / "p.json", policy.problem) == policy
    for other in (load_problem("figure1"), asia.with_evidence({"smoke": "no"})):
        with pytest.raises(InputError, match="built for another problem"):
            load_with_evidence(tmp_path / "p.json", other)


def test_a_policy_does_not_depend_on_bins():
    heart = load_problem("heart")
    assert fingerprint(heart) == fingerprint(replace(heart, bins={}))


def test_a_saved_policy_can_be_used_with_other_labels(tmp_path):
    problem = labelled()
    plain = replace(problem, labels={}, state_labels={}, currency="")
    save_policy(build_policy(plain, "greedy"), tmp_path / "p.json")
    loaded = load_policy(tmp_path / "p.json", problem)
    assert (
        advise(problem, loaded).reasons[0].startswith("Deciding now for diseased costs 120.00 CAD")
    )


def test_constraints_limits_and_rounds_are_part_of_the_problem_that_a_policy_belongs_to(tmp_path):
    asia = load_problem("asia")
    rule = Constraint("xray", after=["tub"], not_if={"smoke": "yes"})
    others = [
        replace(asia, constraints=(rule,)),
        replace(asia, constraints=(replace(rule, not_if=()),)),
        replace(asia, limits=PathLimits(features=2)),
        replace(asia, limits=PathLimits(rounds=2)),
        replace(asia, limits=PathLimits(spend=20.0)),
        replace(asia, costs=replace(asia.costs, round_cost=1.0)),
    ]
    assert len({fingerprint(problem) for problem in (asia, *others)}) == 1 + len(others)
    for place, problem in enumerate(others):
        policy = build_policy(problem, "optimal")
        save_policy(policy, tmp_path / f"{place}.json")
        assert load_policy(tmp_path / f"{place}.json", problem) == policy
        with pytest.raises(InputError, match="another problem"):
            load_policy(tmp_path / f"{place}.json", asia)
