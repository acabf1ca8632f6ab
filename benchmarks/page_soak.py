"""Random typing, clicking and waiting on the page, in a real browser: is every finding the user's?

``python benchmarks/page_soak.py --sessions 5000`` starts a server whose answers come late, each by
a random time, and fail in some sessions, and runs that many sessions on several pages. A referee
in the page knows what was entered. The script prints how many findings there were, and every
session in which a finding was lost, or appeared that nobody entered, or what was spent is wrong;
the exit status is 1 then. ``--seed`` repeats a run.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browsers import find_browser
from helpers.serving import start_server, stop_server
from helpers.soak import Session, run_sessions, upload_visits

PROBLEMS = ("heart", "liver", "asia")  # and one with dear rounds


def main() -> int:
    """Run the sessions; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=None, help="default: another at each run")
    parser.add_argument("--pages", type=int, default=8, help="at the same time")
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    print(f"{arguments.sessions} sessions from seed {seed}", file=sys.stderr)
    began, done, bad = time.perf_counter(), 0, list[Session]()

    def tell(session: Session) -> None:
        nonlocal done
        done += 1
        if session.faults:
            bad.append(session)
            print(
                f"seed {session.seed}:", *session.faults, "", *session.log, sep="\n  ", flush=True
            )
        if done % 50 == 0:
            print(f"{done}, {time.perf_counter() - began:.0f} s", file=sys.stderr)

    if (browser := find_browser()) is None:
        print("no chromium here: apt-get install chromium-headless-shell", file=sys.stderr)
        return 2
    process, address = start_server()
    try:
        problems = [*PROBLEMS, upload_visits(address)]
        seeds = range(seed, seed + arguments.sessions)
        sessions = asyncio.run(
            run_sessions(browser, address, problems, seeds, n_pages=arguments.pages, tell=tell)
        )
    finally:
        stop_server(process)
    n_entered = sum(session.entered for session in sessions)
    print(
        f"{len(sessions)} sessions, {n_entered} findings entered, "
        f"{len(bad)} sessions with a finding that is lost or that nobody entered, or a wrong bill "
        f"({time.perf_counter() - began:.0f} s)"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
