from dataclasses import replace
from itertools import islice

import pytest
from helpers.problems import noisy_bayes, opener
from helpers.rich_worlds import rich_problem
from helpers.solving import POLICIES, Refuses
from helpers.strategies import problems
from helpers.ward import ward
from helpers.worlds import examples
from hypothesis import given, settings

from voilattice import Constraint, Network, Problem, load_problem
from voilattice.consultation.advice import advise
from voilattice.errors import InputError, UnknownNameError
from voilattice.lattice.independence import relevant_features
from voilattice.model.acquisition import PathLimits
from voilattice.model.costs import ConditionalCost, FeatureCosts, Group
from voilattice.policy.policy import Leaf
from voilattice.policy.solvers import build_policy, policy_from_rule, register, unregister
from voilattice.valuation.valuation import posterior, value


@pytest.mark.parametrize("name", POLICIES)
@examples(40)
@given(problem=problems(max_features=4))
def test_advice_is_what_the_policy_does(name, problem):
    root, advice = build_policy(problem, name).root, advise(problem, name)
    if isinstance(root, Leaf):
        assert advice.action == "decide"
        assert advice.decision == root.decision
        assert advice.benefit == 0
    else:
        assert advice.action == "acquire"
        assert advice.features == set(root.features)
        assert advice.decision is None
    assert advice.posterior == pytest.approx(posterior(problem), abs=1e-9)
    assert advice.spent == 0
    for candidate in advice.candidates:
        expected = value(problem, candidate.features)
        assert candidate.benefit == pytest.approx(expected.benefit, abs=1e-9)


def test_reasons_speak_of_this_case():
    asia = load_problem("asia")
    ahead = advise(asia, "greedy-la").reasons
    assert ahead[0].startswith(
        "Alone, no feature pays for consultation (10.00) by itself; dysp, smoke, tub and xray"
    )
    assert ahead[1].startswith("Of these, tub has the highest benefit by itself (-6.00)")
    assert advise(asia, "greedy").reasons[0] == "No feature alone is worth its price."
    done = {"xray": "no"}
    assert advise(asia, "batch", done).reasons[0] == (
        "No feature, alone or together with others, is worth its price."
    )
    alone = advise(asia, "greedy", {"smoke": "yes"}).reasons
    assert alone[0].startswith("xray pays for itself: worth 88.59, for 8.00")
    assert advise(asia, "none").reasons[0] == "This policy acquires nothing."
    assert (
        advise(asia, "markov-blanket")
        .reasons[0]
        .startswith("All that can be known about the target is in bronc, dysp, smoke, tub and xray")
    )


def clinic(**rows):
    """A test that is right in nine cases of ten, and these decisions."""
    network = Network.from_tables(
        {"Y": ["ill", "well"], "X": ["+", "-"]},
        {"X": ["Y"]},
        {"Y": [0.5, 0.5], "X": [[0.9, 0.1], [0.1, 0.9]]},
    )
    costs = {name: dict(zip(["ill", "well"], row, strict=True)) for name, row in rows.items()}
    return Problem.create(network, "Y", {"X": 45}, costs)


def test_reasons_say_what_every_decision_costs():
    problem = clinic(treat=(0, 160), refer=(60, 60), wait=(200, 0))
    advice = advise(problem, "greedy")
    assert advice.decision == "refer"
    assert advice.decision_costs == pytest.approx({"treat": 80, "refer": 60, "wait": 100})
    assert advice.reasons == (
        "No feature alone is worth its price.",
        "Deciding now for refer costs 60.00 whatever it is.",
        "Other decisions: treat: 80.00; wait: 100.00.",
    )
    ill = advise(problem, "greedy", {"X": "+"})
    assert ill.decision == "treat"
    assert ill.reasons[1:] == (
        "Deciding now for treat costs 16.00 on average.",
        "Other decisions: refer: 60.00 whatever it is; wait: 180.00.",
    )
    tree = advise(problem, build_policy(problem, "none"))
    assert tree.reasons == ("The policy decides here.", *advice.reasons[1:])
    going_on = advise(clinic(treat=(0, 400), refer=(90, 90), wait=(400, 0)), "optimal")
    assert going_on.reasons[0].startswith("Deciding now for refer costs 90.00 whatever it is; acq")
    assert going_on.decision_costs["treat"] == pytest.approx(200)


def test_reasons_name_a_few_decisions_only():
    many = {f"d{k}": (k, 20 - k) for k in range(9)} | {"best": (1, 1)}
    said = advise(clinic(**many), "none").reasons[-1]
    assert said.startswith("Other decisions: d0: 10.00; d1: 10.00;")
    assert said.endswith("; 4 more that cost no less.")
    assert len(advise(clinic(only=(3, 4)), "none").reasons) == 2


def test_reasons_speak_of_discounts():
    for name in ("greedy-la", "batch"):
        first, *more = advise(opener(), name).reasons
        assert first == "Alone, no feature pays; A and X together do: worth 20.00, for 5.00."
        assert more[:2] == [
            "Discount visit takes 28.00 off.",
            "A says nothing about Y, but opens discount visit at the lowest price.",
        ]
    ahead = advise(opener(), "optimal").reasons
    assert ahead[0].endswith("acquiring A for 3.00 and going on in the best way costs 5.00 in all.")
    assert ahead[-1] == "A says nothing about Y, but opens discount visit at the lowest price."
    opened = advise(opener(), "optimal", {"A": "T"})
    assert opened.spent == 3
    assert not any("iscount" in reason for reason in opened.reasons)


def test_what_was_spent_adds_up_in_the_order_given():
    asia = load_problem("asia")
    advice = advise(asia, "greedy", {"smoke": "yes", "xray": "yes", "dysp": "no"})
    assert advice.spent == (10 + 1) + 8 + 2


def test_an_unknown_policy_is_named():
    with pytest.raises(UnknownNameError, match=r"no policy 'gredy' \(nearest: 'greedy'\)"):
        advise(load_problem("asia"), "gredy")


def test_a_problem_goes_on_without_features():
    costs = FeatureCosts(
        {"X1": 1, "X2": 2, "X3": 3, "X4": 4},
        (Group("a", 5, ("X1", "X2")), Group("b", 6, ("X3",))),
        (
            ConditionalCost("X4", (("X3", "T"),), 1),
            ConditionalCost("X4", (("X2", "T"),), 2),
            ConditionalCost("X3", (("X2", "T"),), 2),
        ),
    )
    figure3 = load_problem("figure3")
    problem = Problem.create(
        figure3.network, "Y", costs, figure3.misclassification, evidence={"X2": "T"}
    )
    left = problem.without({"X1", "X3"})
    assert left.features == ("X2", "X4")
    assert left.hidden == ("X1", "X3")
    assert left.costs.groups == (Group("a", 5, ("X2",)),)
    assert [entry.when for entry in left.costs.conditional] == [(("X2", "T"),)]
    with pytest.raises(InputError, match="'X2' is evidence of the problem"):
        problem.without({"X2"})


def test_a_policy_that_cannot_answer_is_replaced_by_greedy_in_the_open():
    asia, known = load_problem("asia"), {"smoke": "yes"}
    register(Refuses())
    try:
        advice = advise(asia, "refuses", known)
    finally:
        unregister("refuses")
    greedy = advise(asia, "greedy", known)
    assert (advice.features, advice.posterior) == (greedy.features, greedy.posterior)
    assert advice.reasons == (
        "refuses cannot answer here (it would need a table of 9 GB). This is what greedy does.",
        *greedy.reasons,
    )
    assert advice.fallback == "greedy"
    assert (advice.certificate.exact, advice.certificate.status) == (False, "memory")
    assert greedy.fallback is None


@pytest.mark.parametrize("name", POLICIES)
def test_without_time_there_is_advice(name):
    heart = load_problem("heart")
    advice = advise(heart, name, time_limit=0)
    assert advice.posterior == pytest.approx(posterior(heart), abs=1e-9)
    assert len(advice.candidates) >= len(relevant_features(heart))


@pytest.mark.parametrize("name", ["greedy-la", "batch"])
def test_a_best_set_that_is_not_proved_in_time_is_not_called_best(name):
    problem = replace(noisy_bayes(60), misclassification=[[0, 60], [60, 0]])
    advice = advise(problem, name, time_limit=0.3)
    assert advice.action == "acquire"
    assert advice.target_set >= advice.features
    assert (advice.certificate.exact, advice.certificate.status) == (False, "time")
    assert advice.reasons[-1] == "This set is the best found in time. A better one is possible."


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=25)
@given(problem=problems(max_features=4))
def test_a_built_policy_advises_along_its_paths(name, problem):
    policy = build_policy(problem, name)
    for path in islice(policy.paths(), 8):
        known = {}
        for place in range(len(path.evidence) + 1):
            node = policy.follow(known)
            if policy.locate(known) is not None:  # not in the middle of what is acquired together
                advice = advise(problem, policy, known)
                if isinstance(node, Leaf):
                    assert advice.decision == node.decision
                    assert advice.emc == pytest.approx(node.emc, abs=1e-9)
                else:
                    assert advice.features == set(node.features)
                assert "planned again" not in advice.reasons[0]
            known |= dict(path.evidence[place : place + 1])


def test_a_built_policy_tells_what_going_on_costs():
    asia = load_problem("asia")
    policy = build_policy(asia, "optimal")
    now, planned = advise(asia, policy), advise(asia, "optimal")
    assert now.features == planned.features
    assert now.benefit == pytest.approx(planned.benefit)
    assert now.certificate.exact
    assert now.certificate.lower_bound == pytest.approx(planned.certificate.lower_bound)
    (first,) = now.features
    assert f"acquiring {first} for" in now.reasons[0]
    assert "and going on as the policy does costs 62.46 in all." in now.reasons[0]
    cut = build_policy(asia, "greedy-la", max_states=9)
    assert advise(asia, cut).certificate.status == "memory"


def test_evidence_off_the_tree_is_planned_again_and_that_is_said():
    asia = load_problem("asia")
    policy = build_policy(asia, "greedy-la")  # asks for tub first
    off = "The policy's own tree does not tell what to do here: greedy-la is planned again."
    for options in (
        {"evidence": {"smoke": "yes"}},
        {"given": {"smoke": "yes"}},
        {"unavailable": ["tub"]},
        {"evidence": {"tub": "no"}, "unavailable": ["dysp"]},  # it would come later
    ):
        found, fresh = advise(asia, policy, **options), advise(asia, "greedy-la", **options)
        assert found.reasons == (off, *fresh.reasons)
        assert (found.features, found.decision) == (fresh.features, fresh.decision)
    on = advise(asia, policy, {"tub": "no"}, unavailable=["asia"])  # never asked for
    assert on.features == {"xray"}
    assert on.reasons[0] != off
    free = advise(asia, policy, given={"tub": "no"})
    assert (free.features, free.spent) == ({"xray"}, 0)


def test_the_tree_of_an_open_leaf_does_not_tell():
    asia = load_problem("asia")
    cut = build_policy(asia, "greedy-la", max_states=1)
    advice = advise(asia, cut)
    assert advice.reasons[0].endswith("greedy-la is planned again.")
    assert advice.features == {"tub"}


def test_a_policy_that_cannot_advise_is_refused():
    asia = load_problem("asia")
    rule = policy_from_rule(asia, lambda e: set() if e else {"xray"})
    assert advise(asia, rule).features == {"xray"}
    with pytest.raises(InputError, match="^policy: its tree does not tell .* 'rule' is not"):
        advise(asia, rule, {"smoke": "yes"})
    smoker = build_policy(asia, "greedy", {"smoke": "yes"})
    with pytest.raises(InputError, match="^policy: was built with the evidence smoke=yes, which"):
        advise(asia, smoker)
    assert advise(asia, smoker, given={"smoke": "yes"}).features == set(smoker.root.features)
    with pytest.raises(InputError, match="^policy: belongs to another problem"):
        advise(load_problem("figure1"), smoker)


def test_what_is_given_is_free_and_what_is_unavailable_is_not_acquired():
    asia = load_problem("asia")
    paid = advise(asia, "greedy-la", {"smoke": "yes"})
    free = advise(asia, "greedy-la", given={"smoke": "yes"})
    assert (paid.spent, free.spent) == (11, 0)
    assert replace(paid, spent=0.0, bill=()) == free
    without = advise(asia, "greedy-la", unavailable={"tub", "xray"})
    alike = advise(asia.without({"tub", "xray"}), "greedy-la")
    assert replace(without, ignored=()) == replace(alike, ignored=())
    assert advise(load_problem("heart"), "greedy", {"age": 46}) == advise(
        load_problem("heart"), "greedy", {"age": "<54.5"}
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"unavailable": ["tub"], "given": {"tub": "no"}},
            "unavailable: 'tub' is known, so",
        ),
        ({"unavailable": ["tub"], "evidence": {"tub": "no"}}, "unavailable: 'tub' is known, so it"),
        ({"unavailable": ["tb"]}, "unavailable: no feature 'tb'"),
        ({"unavailable": "tub"}, "unavailable: expected a set of features, got the text 'tub'"),
        ({"unavailable": None}, "unavailable: expected a set of features, got None"),
        ({"together": None}, "together: must be a list of sets of features, got None"),
        ({"together": "tub"}, "together: must be a list of sets of features, got 'tub'"),
        ({"together": [5]}, "together: expected a set of features, got 5"),
        ({"together": [[]]}, "together: a round has at least one feature, got an empty one"),
        ({"evidence": [1]}, "evidence must be a mapping"),
        ({"policy": None}, "^policy: must be the name of a policy, or a policy, got None"),
        ({"policy": 3}, "^policy: must be the name of a policy, or a policy, got 3"),
        ({"given": {"tub": "perhaps"}}, "given: 'tub' has no state 'perhaps'"),
        (
            {"given": {"tub": "no"}, "evidence": {"tub": "no"}},
            "'tub' is evidence of the problem already",
        ),
    ],
)
def test_what_is_both_known_and_not_is_refused(options, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        advise(load_problem("asia"), **{"policy": "greedy", **options})


def test_a_feature_that_unlocks_others_says_what_it_unlocks():
    advice = advise(ward(), "optimal")
    assert advice.features == {"xray", "consent"}
    assert (
        "consent says nothing about ill by itself, but biopsy can be acquired only after it."
        in advice.reasons
    )
    assert not any("only after X-ray" in reason for reason in advice.reasons)  # it pays by itself


def test_a_feature_that_pays_only_for_what_it_unlocks_says_so():
    problem = ward()
    dear = replace(problem.costs, prices={**problem.costs.prices, "xray": 110.0}, round_cost=0.0)
    problem = replace(problem, costs=dear, limits=PathLimits())
    advice = advise(problem, "optimal", {"consent": "given"})
    assert advice.features == {"xray"}
    assert "biopsy can be acquired only after X-ray." in advice.reasons


def test_reasons_say_why_what_would_pay_is_not_acquired_now():
    advice = advise(ward(), "greedy")
    assert (
        "Not now: biopsy (worth 241.20 CAD). "
        "biopsy comes after X-ray: acquire X-ray before or with it. "
        "biopsy can be acquired only if consent = given: acquire consent first." in advice.reasons
    )
    (biopsy,) = (c for c in advice.barred if c.features == {"biopsy"})
    assert not biopsy.feasible
    assert biopsy.within_limits


def test_reasons_say_what_the_round_costs():
    assert "The price includes 5.00 CAD for the round." in advise(ward(), "greedy").reasons
    assert (
        "One round for all of them costs 5.00 CAD; a round for each would cost 10.00 CAD."
        in advise(ward(), "optimal").reasons
    )


def test_reasons_say_what_is_left_of_the_limits():
    evidence = {"xray": "shadow", "consent": "given"}
    apart = advise(ward(), "optimal", evidence)
    assert apart.left == PathLimits(spend=89.0, features=2, rounds=1)
    assert "Left of the limits: 89.00 CAD to spend, 2 features and 1 round." in apart.reasons
    together = advise(ward(), "optimal", evidence, together=[["xray", "consent"]])
    assert together.left == PathLimits(spend=94.0, features=2, rounds=2)
    assert together.spent == 26.0


def test_reasons_say_that_the_limits_end_the_acquisitions():
    evidence = {"blood": "high", "xray": "shadow", "consent": "given"}
    advice = advise(ward(), "optimal", evidence)
    assert advice.action == "decide"
    assert "Nothing more can be acquired: the limits do not allow it." in advice.reasons
    assert not any("worth their price" in reason for reason in advice.reasons)
    (biopsy,) = (c for c in advice.barred if c.features == {"biopsy"})
    assert biopsy.feasible
    assert not biopsy.within_limits
    assert biopsy.obstacles == ("The limits leave no round.",)


def test_reasons_say_that_the_constraints_leave_nothing():
    problem = ward()
    rules = [Constraint(f, only_if={"age": "young"}) for f in ("xray", "blood", "consent")]
    problem = replace(problem, constraints=tuple(rules), limits=PathLimits())
    problem = problem.without(["biopsy"])
    advice = advise(problem, "optimal", {"age": "old"})
    assert advice.action == "decide"
    assert "Nothing more can be acquired: the constraints do not allow it." in advice.reasons


def test_reasons_name_what_cannot_be_acquired_without_an_unavailable_feature():
    advice = advise(ward(), "optimal", unavailable=["xray"])
    assert "biopsy needs X-ray, which cannot be had." in advice.reasons
    assert not any("without" in reason for reason in advise(ward(), "optimal").reasons)


def test_a_problem_without_rules_has_no_reasons_of_rules():
    reasons = " ".join(advise(load_problem("asia"), "optimal").reasons)
    assert all(word not in reasons for word in ("limits", "round", "Not now", "only after"))


def test_a_tree_has_the_reasons_of_rules_too():
    tree = build_policy(ward(), "optimal")
    advice = advise(ward(), tree)
    assert "Left of the limits: 120.00 CAD to spend, 4 features and 3 rounds." in advice.reasons


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(12))
def test_advice_keeps_to_the_rules_and_explains_what_it_leaves(name, seed):
    problem = rich_problem(seed)
    known = {}
    while (advice := advise(problem, name, known)).action == "acquire":
        here = {**problem.evidence, **known}
        assert problem.feasibility.is_feasible(problem.feature_mask(advice.features), here)
        for candidate in (*advice.candidates, *advice.barred):
            can_be_acquired = candidate.feasible and candidate.within_limits
            assert can_be_acquired == (not candidate.obstacles)
            assert can_be_acquired == (candidate in advice.candidates)
        found = sorted(advice.features)
        states = {f: problem.states(f)[0] for f in found}
        try:
            problem.check_possible({**here, **states})
        except InputError:
            return
        known |= states
    reasons = " ".join(advice.reasons)
    assert ("Left of the limits: " in reasons) == bool(problem.limits)
