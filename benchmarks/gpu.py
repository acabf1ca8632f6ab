"""The optimum on a GPU: time, states a second, share of the memory's bandwidth, and one CPU core.

    python benchmarks/gpu.py        # 12 to 21 binary features; needs an NVIDIA GPU

Each problem is a random tree-augmented network in which every feature matters: a table of 3^n
states. The time is that of the whole solution: the joint table P(Y, features) from the network, the
masses of all states, V of all states. Kernels are compiled before. The CPU is one thread of the
compiled engine on the same problem, in the same run.

The bytes that must move: each state reads V of its children in other tiles, two for each unknown
slow digit, and writes its own V. They are compared with what a copy of a large array moves.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import arguments
import numpy as np
from large_problems import naive_bayes, tree_augmented
from timing import best_of, one_thread

from voilattice import Problem, build_policy, devices
from voilattice.devices import Device
from voilattice.engines import use_engine
from voilattice.optimal.exact import plain
from voilattice.optimal.exact.plain_solution import PlainSolution, PlainSpace
from voilattice.optimal.search.bounds import repeats
from voilattice.optimal.search.bounds.pools import Shape
from voilattice.optimal.search.bounds.repeats import repeat_bound

FULL, SMALL = range(12, 22), range(4, 8)
CPU_UPTO = 18
REPEATS = 3


def main(small: bool = False) -> None:
    """Measure all sizes, and read one policy back."""
    if not devices.has_device():
        print("There is no NVIDIA GPU here, or CuPy is missing: pip install 'voilattice[gpu]'")
        return
    sizes = SMALL if small else FULL
    for engine in ("cuda", "compiled"):  # loads and compiles
        solve(tree_augmented(4, 0), engine)
        repeat_bound(naive_bayes(3, 0), engine=engine, shape=Shape(1, 0))
    bandwidth = copy_bandwidth(devices.find_device(), 1 << (16 if small else 30))
    print(f"a copy moves {bandwidth / 1e12:.3f} TB/s\n")
    print(" n         states  bits   seconds  states/s  bandwidth  one core   ratio  difference")
    for n in sizes:
        measure(n, bandwidth)
    read_back(sizes[-2])
    bound(6, 2, (2, 3)) if small else bound(30, 10, (10, 14, 18, 20))


def solve(problem: Problem, engine: str) -> PlainSolution:
    """Return the optimum of a problem, from nothing."""
    return PlainSolution(PlainSpace(problem, engine=engine), problem)


def measure(n: int, bandwidth: float) -> None:
    """Print a row for n features."""
    problem, n_states = tree_augmented(n, seed=n), 3**n
    seconds = best_of(lambda: solve(problem, "cuda").expected_total_cost, REPEATS)
    solution = solve(problem, "cuda")
    found, bits = solution.expected_total_cost, 32 if solution.error({}) else 64
    del solution  # its memory is for the next one
    share = moved_bytes(n, bits // 8) / seconds / bandwidth
    row = f"{n:2} {n_states:14,} {bits:5} {seconds:9.4f} {n_states / seconds:9.2e} {share:10.1%}"
    if n <= CPU_UPTO:
        with one_thread(plain):
            begin = time.perf_counter()
            want = solve(problem, "compiled").expected_total_cost
            core = time.perf_counter() - begin
        row += f" {core:9.3f} {core / seconds:7.1f} {abs(found - want) / want:11.1e}"
    print(row, flush=True)


def moved_bytes(n: int, itemsize: int) -> float:
    """Return the bytes of V that must move: a third of the slow digits is unknown on average."""
    n_slow = plain.count_slow(devices.find_device(), [2] * n, 2)
    return 3**n * itemsize * (2 * n_slow / 3 + 1)


def copy_bandwidth(device: Device, n: int) -> float:
    """Return the bytes that a copy of n numbers reads and writes in a second."""
    source, target = device.put(np.random.default_rng(0).random(n)), device.empty(n, np.float64)

    def copy() -> None:
        target[...] = source
        device.wait()

    copy()
    return 16 * n / best_of(copy)


def read_back(n: int) -> None:
    """Print what the whole policy of n features takes, followed from the root on the host."""
    problem = tree_augmented(n, seed=n)
    with use_engine("cuda"):
        begin = time.perf_counter()
        policy = build_policy(problem, "optimal", time_limit=None)
        seconds = time.perf_counter() - begin
    print(f"\nthe whole policy of {n} features: {len(policy.nodes):,} states in {seconds:.2f} s")
    print(f"  cost {policy.expected_total_cost:.6f}, at least {policy.lower_bound:.6f}")
    print(f"  {policy.verdict}")


def bound(n: int, compared: int, once: Sequence[int]) -> None:
    """Print the bound "once or repeatedly" of n features, some of them bought at most once."""
    problem = naive_bayes(n, seed=0)
    print(f"\nbound of {n} features, independent given the target, so many of them bought once")
    for n_once in once:
        shape = Shape(n_once, 0)
        begin = time.perf_counter()
        found = repeat_bound(problem, engine="cuda", shape=shape)
        seconds = time.perf_counter() - begin
        row = f"  {n_once:2} {found.lower():10.4f} {seconds:9.3f} s"
        if n_once == compared:
            begin = time.perf_counter()
            with one_thread(repeats):
                repeat_bound(problem, engine="compiled", shape=shape)
            row += f", one core takes {(time.perf_counter() - begin) / seconds:.1f} times as long"
        print(row, flush=True)


if __name__ == "__main__":
    arguments.run(main, __doc__)
