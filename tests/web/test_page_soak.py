"""Random typing, clicking and waiting; `benchmarks/page_soak.py` has thousands of sessions."""

import pytest
from helpers.serving import run_async
from helpers.soak import run_sessions, upload_visits
from helpers.worlds import some

pytestmark = pytest.mark.slow


def check(browser_path, server, seeds):
    problems = ["heart", "asia", upload_visits(server)]
    sessions = run_async(run_sessions(browser_path, server, problems, seeds))
    faults = [(session.seed, session.faults, session.log) for session in sessions if session.faults]
    assert faults == []
    assert len(sessions) == len(seeds)
    assert sum(session.entered for session in sessions) > len(seeds) / 2


def test_every_finding_is_the_user_s_and_none_is_lost(browser_path, server):
    check(browser_path, server, some(range(72)))


@pytest.mark.nightly
def test_every_finding_of_two_thousand_sessions_is_the_user_s(browser_path, server):
    check(browser_path, server, range(100, 2100))
