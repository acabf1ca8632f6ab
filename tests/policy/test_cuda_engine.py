"""The engine "cuda": chosen by name or by size, refused by name, and right as every other engine.

Without a GPU the kernels are compiled for the host (`helpers.host_device`).
"""

import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers.host_device import HostDevice, on_a_device
from helpers.problems import noisy_bayes
from helpers.rich_worlds import rich_problem
from helpers.solving import optimal_step, optimum
from helpers.strategies import possible_evidence

from voilattice import Group, Network, Problem, compare, devices, load_problem
from voilattice.compiled import plain_cuda
from voilattice.engines import choose_engine, preferred_engine, use_engine
from voilattice.errors import InputError, UnknownNameError
from voilattice.policy.optimal import exact
from voilattice.policy.optimal.exact import find_states, solve_exactly
from voilattice.policy.optimal.plain_solution import PlainSpace
from voilattice.policy.optimal.pools import Shape
from voilattice.policy.optimal.repeats import repeat_bound

needs_gpu = pytest.mark.skipif(
    not devices.has_device(), reason="there is no NVIDIA GPU here (make test-gpu)"
)
SINGLE_STEPS = ("groups", "discounts", "conditional", "constraints", "decisions")


def same(found, want):
    assert found.expected_total_cost == pytest.approx(want.expected_total_cost, rel=1e-9)
    assert found.lower_bound == pytest.approx(want.expected_total_cost, rel=1e-9)


def is_refused(problem):
    """Whether a problem has cyclic prices, which need steps of several features."""
    try:
        exact._find_on_device(problem, None)
    except InputError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_policies_equal_those_of_the_host(seed):
    problem = rich_problem(seed, SINGLE_STEPS, n_features=5, max_states=3)
    want = optimum(problem)
    with on_a_device() as patch:
        if is_refused(problem):
            return
        patch.setattr(plain_cuda, "ROOM_BYTES", [1, 500, 56_000][seed % 3])
        found = optimum(problem)
        known = possible_evidence(problem, seed, 0.4)
        step = optimal_step(problem, known)
    same(found, want)
    assert found.exact
    assert found.verdict.startswith("Proved optimal")
    assert step.cost_to_go == pytest.approx(optimal_step(problem, known).cost_to_go, rel=1e-9)


@pytest.mark.slow
@pytest.mark.gpu
@needs_gpu
def test_a_thousand_random_problems_on_the_gpu():
    n_solved = 0
    for seed in itertools.count():
        problem = rich_problem(seed, SINGLE_STEPS, n_features=3 + seed % 5, max_states=2 + seed % 3)
        want = solve_exactly(find_states(problem, engine="python"), problem).expected_total_cost
        with on_a_device():
            if is_refused(problem):
                continue
            found = solve_exactly(find_states(problem), problem)
            assert found.expected_total_cost == pytest.approx(want, rel=1e-9, abs=1e-12)
            if seed % 10 == 0:  # the policy, read back state by state
                assert optimum(problem).expected_total_cost == pytest.approx(want, rel=1e-9)
        n_solved += 1
        if n_solved == 1_000:
            break


ON_THE_GPU = [
    pytest.param(name, marks=[pytest.mark.slow, pytest.mark.gpu, needs_gpu])
    for name in ("hepatitis", "thyroid")
]


@pytest.mark.parametrize("name", ["heart", "car", "heart-treadmill", *ON_THE_GPU])
def test_the_built_in_problems(name):
    problem = load_problem(name)
    want = optimum(problem)
    with on_a_device():
        same(optimum(problem), want)


def test_a_policy_in_32_bits_has_an_honest_certificate():
    problem = noisy_bayes(6)
    want = optimum(problem)
    with on_a_device() as patch:
        patch.setattr(plain_cuda, "DTYPES", (np.float32,))
        found = optimum(problem)
        step = optimal_step(problem, {})
        rows = [row for row in compare(problem, time_limit=60) if row.policy == "optimal"]
    gap = found.expected_total_cost - found.lower_bound
    assert found.lower_bound < want.expected_total_cost <= found.expected_total_cost
    assert 0 < gap < 1e-5 * found.expected_total_cost
    assert not found.exact
    assert found.verdict.startswith(f"Optimal within {gap:.1g}, which is proved. The GPU stores")
    assert not step.certificate.exact
    assert step.certificate.lower_bound < want.expected_total_cost
    assert not rows[0].certificate.exact


def test_what_is_too_rare_for_32_bits_is_solved_again():
    problem = rich_problem(3, ("decisions",), n_features=4)
    with on_a_device() as patch:
        patch.setattr(plain_cuda, "DTYPES", (np.float32,))
        patch.setattr(plain_cuda, "LEAST_MASS", 0.5)  # all that is not nearly certain
        found = optimum(problem)
    assert found.expected_total_cost == pytest.approx(optimum(problem).expected_total_cost)


def test_a_large_table_goes_to_the_gpu_by_itself(monkeypatch):
    problem, device = noisy_bayes(7), HostDevice()
    monkeypatch.setattr(devices, "find_device", lambda: device)
    monkeypatch.setattr(exact, "PLAIN_FROM", 100)
    assert find_states(problem).engine != "cuda"
    monkeypatch.setattr(exact, "CUDA_FROM", 100)
    space = find_states(problem)
    assert isinstance(space, PlainSpace)
    assert space.engine == "cuda"
    assert find_states(problem, engine="compiled").engine == "compiled"
    want = solve_exactly(find_states(problem, engine="python"), problem).expected_total_cost
    assert optimum(problem).expected_total_cost == pytest.approx(want, rel=1e-9)
    device.free_bytes = 1_000  # it does not fit: back to the host
    assert not isinstance(find_states(problem), PlainSpace)


def test_without_cupy_the_engine_says_what_to_install(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "cupy", None)
    devices.find_device.cache_clear()
    with pytest.raises(InputError, match=r"needs CuPy: pip install 'voilattice\[gpu\]'"):
        devices.find_device()
    assert not devices.has_device()
    status, out, err = run("policy", "asia", "--policy", "optimal", "--engine", "cuda")
    assert (status, out) == (2, "")
    assert err == "--engine: the engine 'cuda' needs CuPy: pip install 'voilattice[gpu]'\n"
    devices.find_device.cache_clear()


def test_limits_and_rounds_are_refused_by_name():
    with on_a_device(), pytest.raises(InputError, match="does not support limits, rounds"):
        optimum(load_problem("heart-visits"))


@pytest.mark.parametrize("shape", [Shape(0, 1), Shape(2, 0), Shape(3, 1), Shape(5, 0), Shape(0, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_once_or_repeatedly_is_the_same_on_a_gpu(shape, seed):
    problem = with_groups(noisy_bayes(5, seed=seed)) if seed % 2 else three_classes(seed)
    want = repeat_bound(problem, engine="python", shape=shape)
    with on_a_device():
        device = devices.find_device()
        found = repeat_bound(problem, shape=shape)
        if isinstance(device, HostDevice):
            assert set(device.launched) == {"solve_counts"}
    np.testing.assert_allclose(found.tables.values, want.tables.values, rtol=1e-9, atol=1e-12)


def test_a_bound_that_does_not_fit_the_gpu_stays_on_the_host():
    problem = noisy_bayes(5)
    device = HostDevice(free_bytes=1_000)
    with on_a_device(device):
        found = repeat_bound(problem, shape=Shape(3, 0))
    assert not device.launched
    assert found.lower() == repeat_bound(problem, shape=Shape(3, 0)).lower()


def with_groups(problem):
    """The same problem with overheads that its features share."""
    first, second, third, *_ = problem.features
    group = Group("visit", 2.0, (first, second, third))
    return replace(problem, costs=replace(problem.costs, groups=(group,)))


def three_classes(seed):
    rng = np.random.default_rng(seed)
    names = [f"X{k}" for k in range(5)]
    tables = {"Y": rng.dirichlet([2, 2, 2]), **{x: rng.dirichlet([1] * 3, 3) for x in names}}
    states = {name: ["a", "b", "c"] for name in ("Y", *names)}
    network = Network.from_tables(states, {x: ["Y"] for x in names}, tables)
    prices = {x: float(rng.uniform(1, 9)) for x in names}
    return Problem.create(network, "Y", prices, ("symmetric", 60.0))


def test_loops_without_a_twin_on_the_gpu_choose_as_always():
    with use_engine("cuda"):
        assert preferred_engine() == "cuda"
        assert preferred_engine("python") == "python"
        assert choose_engine("auto", "bellman", 1) == "python"
        assert choose_engine("auto", "bellman", 1e9) == "compiled"
    assert preferred_engine() == "auto"
    with pytest.raises(UnknownNameError, match="engine must be one of auto, python, compiled"):
        use_engine("gpu").__enter__()
