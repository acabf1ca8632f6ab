"""Random typing, clicking and waiting; `benchmarks/page_soak.py` has thousands of sessions."""

import pytest
from helpers.serving import run_async
from helpers.soak import run_sessions

pytestmark = pytest.mark.slow

SEEDS = range(12)


def test_every_finding_is_the_user_s_and_none_is_lost(browser_path, server):
    sessions = run_async(run_sessions(browser_path, server, ["heart", "asia"], SEEDS))
    faults = [(session.seed, session.faults, session.log) for session in sessions if session.faults]
    assert faults == []
    assert len(sessions) == len(SEEDS)
    assert sum(session.entered for session in sessions) > len(SEEDS) / 2
