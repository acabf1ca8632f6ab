"""The engine "cuda": chosen by name or by size, refused by name, and right as every other engine.

Without a GPU the kernels are compiled for the host (`helpers.host_device`).
"""

import itertools
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from helpers.host_device import HostDevice, on_a_device
from helpers.problems import noisy_bayes
from helpers.rich_worlds import rich_problem
from helpers.solving import optimal_step, optimum
from helpers.strategies import possible_evidence

from voilattice import Group, Network, Problem, compare, devices, load_problem
from voilattice.budgets import Deadline
from voilattice.compiled import plain_cuda
from voilattice.consultation.first_steps import find_first_steps
from voilattice.engines import choose_engine, preferred_engine, use_engine
from voilattice.errors import (
    InputError,
    MissingPackageError,
    TooLargeError,
    UnknownNameError,
)
from voilattice.model.acquisition import NO_LIMITS
from voilattice.optimal.exact import choose as exact
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.plain import digit_prices, solve_cuda
from voilattice.optimal.exact.plain_solution import PlainSpace
from voilattice.optimal.search import anytime
from voilattice.optimal.search.bounds.pools import Shape
from voilattice.optimal.search.bounds.repeats import repeat_bound
from voilattice.optimal.search.trials import Search

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
    known = possible_evidence(problem, seed, 0.4)
    want, wanted_step = optimum(problem), optimal_step(problem, known)
    with on_a_device() as patch:
        if is_refused(problem):
            return
        patch.setattr(plain_cuda, "ROOM_BYTES", [1, 500, 56_000][seed % 3])
        found, step = optimum(problem), optimal_step(problem, known)
    same(found, want)
    assert found.exact
    assert found.verdict.startswith("Proved optimal")
    assert step.cost_to_go == pytest.approx(wanted_step.cost_to_go, rel=1e-9)


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


@pytest.fixture
def large(monkeypatch):
    """A problem whose table is large enough for a GPU, and a device that it would go to."""
    device = HostDevice()
    monkeypatch.setattr(devices, "find_device", lambda: device)
    monkeypatch.setattr(exact, "PLAIN_FROM", 100)
    monkeypatch.setattr(exact, "CUDA_FROM", 100)
    return noisy_bayes(7), device


def test_a_large_table_goes_to_the_gpu_by_itself(large, monkeypatch):
    problem, _ = large
    space = find_states(problem)
    assert isinstance(space, PlainSpace)
    assert space.engine == "cuda"
    assert find_states(problem, engine="compiled").engine == "compiled"
    want = solve_exactly(find_states(problem, engine="python"), problem).expected_total_cost
    assert optimum(problem).expected_total_cost == pytest.approx(want, rel=1e-9)
    monkeypatch.setattr(exact, "CUDA_FROM", 10_000)
    assert find_states(problem).engine != "cuda"


@pytest.mark.parametrize("weakness", [{"free_bytes": 1_000}, {"free_bytes": 14_000}])
def test_a_gpu_that_is_too_small_leaves_the_table_to_the_host(weakness, large):
    problem, device = large
    vars(device).update(weakness)  # 14,000 bytes hold values of 32 bits only
    assert find_states(problem).engine != "cuda"
    assert optimum(problem).exact


def test_values_of_32_bits_are_better_than_none(large, monkeypatch):
    problem, device = large
    monkeypatch.setattr(exact, "plain_bytes", lambda *sizes: 1 << 60)  # the host is full
    monkeypatch.setattr(exact, "StateSpace", refuse)
    device.free_bytes = 14_000
    assert find_states(problem).engine == "cuda"
    assert optimum(problem).verdict.startswith("Optimal within")


def refuse(*arguments, **options):
    raise TooLargeError("too many states")


def test_a_gpu_with_little_shared_memory_has_smaller_tiles(large):
    problem, device = large
    device.room_bytes = plain_cuda.SPARE_BYTES + 24 * 3
    assert find_states(problem).engine == "cuda"
    assert optimum(problem).exact


def test_the_engine_is_part_of_what_is_kept():
    problem = noisy_bayes(5)
    step = optimal_step(problem, {})
    with on_a_device(HostDevice()) as patch:
        patch.setattr(plain_cuda, "DTYPES", (np.float32,))
        assert not optimal_step(problem, {}).certificate.exact
        assert not find_first_steps(problem).exact
    assert optimal_step(problem, {}) == step


def test_a_kept_optimum_does_not_take_the_gpu_from_the_next():
    problem, device = noisy_bayes(7), HostDevice()
    with on_a_device(device):
        optimal_step(problem, {})
        n_launched = len(device.launched)
        assert optimum(problem).exact
        assert len(device.launched) == n_launched


def test_the_time_is_checked_while_the_gpu_works():
    class Slow(HostDevice):
        """A device that starts kernels at once and has time pass only while one waits for it."""

        n_waits = 0

        def wait(self):
            self.n_waits += 1

    class Waits(Deadline):
        @property
        def is_over(self):
            return device.n_waits >= 2

    device, prices = Slow(), digit_prices([1.0] * 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_cuda, "ROOM_BYTES", 24 * 9)
        patch.setattr(plain_cuda, "STATES_PER_WAIT", 600)
        with pytest.raises(TooLargeError, match="not solved in time"):
            solve_cuda(
                np.ones((2, 256)), [2] * 8, np.eye(2), prices, device=device, deadline=Waits()
            )
    assert device.launched.count("solve_tiles") < 7


def test_a_bound_without_limits_is_below_the_optimum_in_32_bits():
    for seed in range(12):
        problem = rich_problem(seed, ("decisions", "limits"), n_features=5)
        free = replace(problem, limits=NO_LIMITS)
        want = optimum(free).expected_total_cost
        with on_a_device(HostDevice()) as patch:
            patch.setattr(plain_cuda, "DTYPES", (np.float32,))
            assert anytime._bound_without_limits(problem, Deadline()) <= want + 1e-12


def test_the_search_uses_the_bound_of_the_gpu():
    device = HostDevice()
    with on_a_device(device):
        Search(noisy_bayes(6)).repeat(Deadline(60))
    assert "solve_counts" in device.launched


@pytest.mark.parametrize(
    "trouble",
    [
        AttributeError("module 'cupy' has no 'cuda'"),
        OSError("libnvrtc.so.13: cannot open shared object file"),
        RuntimeError("cudaErrorInsufficientDriver: the driver\n is too old"),
    ],
)
def test_a_broken_gpu_is_no_gpu(trouble, monkeypatch):
    def broken():
        raise trouble

    monkeypatch.setitem(sys.modules, "cupy", types.ModuleType("cupy"))
    monkeypatch.setattr(devices, "CudaDevice", broken)
    devices.find_device.cache_clear()
    assert not devices.has_device()
    with pytest.raises(InputError, match="cannot use an NVIDIA GPU here: [^\n]+$"):
        devices.find_device()
    monkeypatch.setattr(exact, "CUDA_FROM", 100)
    assert optimum(noisy_bayes(6)).exact
    devices.find_device.cache_clear()


def test_without_cupy_the_engine_says_what_to_install(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "cupy", None)
    devices.find_device.cache_clear()
    with pytest.raises(MissingPackageError, match=r'needs CuPy: pip install "voilattice\[gpu\]"'):
        devices.find_device()
    assert not devices.has_device()
    for command in (
        ("policy", "asia", "--policy", "optimal"),
        ("value", "asia", "--features", "xray"),
        ("threshold", "asia", "--feature", "xray"),
    ):
        status, out, err = run(*command, "--engine", "cuda")
        assert (status, out) == (2, "")
        assert err == "the engine 'cuda' needs CuPy: pip install \"voilattice[gpu]\"\n"
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
    with on_a_device():
        assert preferred_engine() == "cuda"
        assert preferred_engine("python") == "python"
        assert choose_engine("auto", "bellman", 1) == "python"
        assert choose_engine("auto", "bellman", 1e9) == "compiled"
    assert preferred_engine() == "auto"
    with pytest.raises(UnknownNameError, match="engine must be one of auto, python, compiled"):
        use_engine("gpu").__enter__()
