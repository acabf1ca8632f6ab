"""What a thread shares may be exchanged by another between any two of its lines.

These moments are too short for `test_threads.py`. Here the other thread's turn comes exactly then.
"""

import threading

from voilattice import load_problem
from voilattice.cases.focus import FocusedSolver
from voilattice.optimal.exact import swept
from voilattice.optimal.exact.choose import find_states, solve_exactly
from voilattice.optimal.exact.space import BufferPool
from voilattice.optimal.exact.swept import SweptStates
from voilattice.policy.sweep import Sweep

FIGURE = load_problem("figure1")


def test_a_sweep_solves_over_the_states_that_it_has_checked(monkeypatch):
    name = FIGURE.features[0]
    other = FIGURE.with_evidence({name: FIGURE.states(name)[0]})
    expected = solve_exactly(find_states(FIGURE), FIGURE).expected_total_cost
    states, check = Sweep(FIGURE).shared(SweptStates), swept.has_same_states
    states.solve(FIGURE)

    def check_and_give_way(mine, problem):
        answer = check(mine, problem)
        if problem is FIGURE:
            states.solve(other)
        return answer

    monkeypatch.setattr(swept, "has_same_states", check_and_give_way)
    assert states.solve(FIGURE).expected_total_cost == expected


def test_the_last_focus_is_read_once():
    class Exchanged(FocusedSolver):
        @property
        def _last(self):
            last, self.last = self.last, (other, 10, other)
            return last

        @_last.setter
        def _last(self, last):
            self.last = last

    other = FIGURE.with_expected("symmetric", 70.0)
    solver = Exchanged(FIGURE, 10)
    small = solver.focus(FIGURE)
    solver.last = (FIGURE, 10, small)
    assert solver.focus(FIGURE) is small


def test_two_solutions_never_borrow_the_same_array():
    class Emptied(list):
        def __bool__(self):
            return True

        def __len__(self):
            return 1  # another thread takes it before it is popped

    class Borrower:
        pass

    pool, borrower = BufferPool(3), Borrower()
    pool._spare = Emptied()
    assert pool.lend(borrower).shape == (3,)


def test_blocks_are_solved_by_one_thread_at_a_time():
    asia = load_problem("asia")
    solution = solve_exactly(find_states(asia), asia)
    solution._is_solved[:] = 0
    solve, is_free = solution._solve_blocks, []

    def give_way(blocks, deadline):
        def enter():
            is_free.append(solution._lock.acquire(blocking=False))

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        solve(blocks, deadline)

    solution._solve_blocks = give_way
    assert solution.cost_to_go({}) > 0
    assert is_free == [False]
