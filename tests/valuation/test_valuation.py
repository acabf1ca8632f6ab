import numpy as np
import pytest
from helpers.strategies import draw_evidence, full_joint, problems
from hypothesis import given
from hypothesis import strategies as st

from voilattice import Network, Problem, benefit, cost, emc, evi, load_problem
from voilattice.errors import InputError, UnknownNameError
from voilattice.valuation.valuation import posterior, value


def by_definition(problem, chosen, known):
    """EMC(e) and sum_s P(s | e) EMC(e, s), term by term from the joint over all nodes."""
    network, joint = problem.network, full_joint(problem.network)
    target = network.index(problem.target)

    def risk(assignment):
        where = [slice(None)] * len(network)
        for name, state in assignment.items():
            where[network.index(name)] = network.states[network.index(name)].index(state)
        left = [i for i in range(len(network)) if not isinstance(where[i], int)]
        axes = tuple(k for k, i in enumerate(left) if i != target)
        p = joint[tuple(where)].sum(axis=axes)  # P(Y, assignment)
        return p.sum(), min((c * p).sum() for c in problem.misclassification)

    p_e, now = risk(known)
    then = 0.0
    chosen = sorted(chosen)
    for states in np.ndindex(*(len(problem.states(f)) for f in chosen)):
        s = {f: problem.states(f)[k] for f, k in zip(chosen, states, strict=True)}
        then += risk(known | s)[1]
    return now / p_e, then / p_e


@given(problems(), st.data())
def test_values_equal_their_definitions(problem, data):
    free = [f for f in problem.features if f not in problem.evidence]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    evidence = {}
    if not problem.evidence:
        evidence = draw_evidence(problem.network, free, rng)
        free = [f for f in free if f not in evidence]
    chosen = {f for f in free if rng.random() < 0.6}
    result = value(problem, chosen, evidence)
    now, then = by_definition(problem, chosen, {**problem.evidence, **evidence})
    assert result.emc == pytest.approx(now, abs=1e-9)
    assert result.expected_emc == pytest.approx(then, abs=1e-9)
    assert result.evi == pytest.approx(now - then, abs=1e-9)
    assert result.benefit == result.evi - result.cost
    assert emc(problem, evidence) == pytest.approx(now, abs=1e-9)
    assert evi(problem, chosen, evidence) == result.evi
    assert cost(problem, chosen, evidence) == result.cost
    assert benefit(problem, chosen, evidence) == result.benefit


@given(problems())
def test_posteriors_sum_to_one(problem):
    assert sum(posterior(problem).values()) == pytest.approx(1)


def test_the_empty_set_is_worth_nothing_and_costs_nothing():
    result = value(load_problem("asia"), ())
    assert (result.evi, result.cost, result.benefit) == (0, 0, 0)


@pytest.mark.parametrize(
    ("features", "evidence", "message"),
    [
        (["lung"], {}, "'lung' is the target, not a feature"),
        (["either"], {}, "'either' is hidden: it is not one of the features"),
        (["xrai"], {}, r"no feature 'xrai' \(nearest: 'xray'\)"),
        (["xray", "xray"], {}, "'xray' is asked for twice"),
        (["xray"], {"xray": "yes"}, r"'xray' is known already \('yes'\)"),
        ([], {"xray": "maybe"}, "'xray' has no state 'maybe'"),
    ],
)
def test_bad_questions_are_refused(features, evidence, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        value(load_problem("asia"), features, evidence)


def test_evidence_of_the_problem_cannot_be_given_again():
    asia = load_problem("asia")
    known = Problem.create(
        asia.network,
        "lung",
        asia.costs,
        asia.misclassification,
        features=asia.features,
        evidence={"smoke": "yes"},
    )
    with pytest.raises(InputError, match="'smoke' is evidence of the problem already"):
        emc(known, {"smoke": "yes"})
    assert emc(known) == pytest.approx(emc(asia, {"smoke": "yes"}), abs=1e-12)


def test_a_users_cost_that_turns_negative_is_refused():
    class Moody:
        price = 1.0

        def cost(self, features, evidence):
            return self.price * len(features)

    asia, moody = load_problem("asia"), Moody()
    problem = Problem.create(
        asia.network, "lung", moody, asia.misclassification, features=["xray", "dysp"]
    )
    moody.price = -1.0
    with pytest.raises(InputError, match=r"the cost of \{dysp\}: must be >= 0, got -1"):
        cost(problem, {"dysp"})


@pytest.mark.parametrize("other", [1e-200, 0.0])
def test_findings_that_pull_opposite_ways(other):
    # Y = a has two findings of 1e-170 against it, Y = b two of 1e-200: 1e-340 beside 1e-400.
    tables = {"Y": [0.5, 0.5]}
    tables |= {name: [[1e-170, 1], [0.5, 0.5]] for name in "AB"}
    tables |= {name: [[0.5, 0.5], [other, 1]] for name in "CD"}
    network = Network.from_tables(
        {name: ["a", "b"] for name in tables}, {name: ["Y"] for name in "ABCD"}, tables
    )
    problem = Problem.create(network, "Y", dict.fromkeys("ABCD", 1.0), [[0, 100], [90, 0]])
    evidence = dict.fromkeys("ABCD", "a")
    assert posterior(problem, evidence)["a"] == pytest.approx(1.0)
    assert value(problem.with_evidence(evidence), ()).emc == pytest.approx(0.0, abs=1e-9)
