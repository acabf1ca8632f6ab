import pytest
from helpers.solving import POLICIES

from voilattice import build_policy, load_problem
from voilattice.cases import simulation
from voilattice.cases.simulation import simulate
from voilattice.errors import InputError, TooLargeError

ASIA = load_problem("asia")


@pytest.mark.parametrize("name", POLICIES)
def test_simulation_agrees_with_the_exact_cost(name):
    policy = build_policy(ASIA, name)
    found = simulate(policy, 20_000, seed=1)
    # Three half-widths of a 95 % interval: one run in 10^8 would be outside.
    assert abs(found.expected_total_cost - policy.expected_total_cost) <= 3 * found.margin + 1e-9


def test_simulation_keeps_to_the_evidence():
    policy = build_policy(ASIA, "greedy", {"smoke": "yes"})
    found = simulate(policy, 10_000, seed=2)
    assert abs(found.expected_total_cost - policy.expected_total_cost) <= 3 * found.margin


def test_evidence_too_rare_to_simulate_is_said(monkeypatch):
    monkeypatch.setattr(simulation, "MAX_DRAWS", 2)
    policy = build_policy(ASIA, "none", {"asia": "yes"})
    with pytest.raises(TooLargeError, match="evidence is too rare to draw cases"):
        simulate(policy, 50)
    with pytest.raises(InputError, match="n: must be at least 2 cases, got 1"):
        simulate(policy, 1)


def test_a_policy_by_its_name_is_simulated():
    by_name = simulate("greedy-la", 500, problem=ASIA)
    assert by_name == pytest.approx(simulate(build_policy(ASIA, "greedy-la"), 500))
