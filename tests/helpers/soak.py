"""Sessions of random typing, clicking and waiting on the page, with a referee beside it.

A session is a consultation by somebody in a hurry: keys, clicks, half a number, a pause, a reload,
while the answers of the server come late, each by a random time. ``referee.js`` sees what is
done and says what must be in the address then: every finding that was entered, and no other.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

REFEREE = Path(__file__).with_name("referee.js")
SPEED = 4  # the page's second takes this part of a second
STEPS = (6, 14)  # of a session
PATIENCE = 120  # s for the last answer, on a busy machine

ACTIONS = {  # and how often
    "type": 8,
    "result": 6,
    "number": 6,
    "wait": 5,
    "candidate": 3,
    "candidate result": 3,
    "candidate number": 2,
    "notice": 3,
    "unavailable": 2,
    "undo": 2,
    "history": 1,
    "nowhere": 2,
    "double": 1,
    "policy": 1,
    "reload": 1,
}
MEANT = {"result", "unavailable", "candidate result"}  # buttons that enter a result
CHARACTERS = "11122345678900..nu-e"


@dataclass(frozen=True, slots=True)
class Session:
    """What happened in a session."""

    seed: int
    faults: list[str]  # empty: every finding was entered, and none is lost
    log: list[str]
    entered: int  # findings


async def run_sessions(
    executable: str,
    address: str,
    problems: Sequence[str],
    seeds: Sequence[int],
    *,
    n_pages: int = 8,
    tell: Callable[[Session], None] = lambda session: None,
) -> list[Session]:
    """Run one session for each seed, on several pages of one browser."""
    left, sessions = list(reversed(seeds)), list[Session]()

    async def work(browser: Browser, k: int) -> None:
        page = await new_page(browser, seeds[0] + k)
        while left:
            session = await run_session(page, address, problems, left.pop())
            sessions.append(session)
            tell(session)
        await page.close()

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-renderer-backgrounding"],
        )
        n_pages = min(n_pages, len(seeds))
        await asyncio.gather(*(work(browser, k) for k in range(n_pages)))
        await browser.close()
    return sessions


async def new_page(browser: Browser, seed: int) -> Page:
    """Return a page with a referee."""
    page = await browser.new_page(viewport={"width": 1280, "height": 900})
    settings = f"globalThis.soak = {{ SPEED: {SPEED}, SEED: {seed + 1} }};"
    await page.add_init_script(settings + REFEREE.read_text())
    return page


async def run_session(page: Page, address: str, problems: Sequence[str], seed: int) -> Session:
    """Run one session on a page, and return what happened."""
    chance = random.Random(seed)
    errors: list[str] = []
    page.on("pageerror", hear := lambda error: errors.append(error.stack or str(error)))
    start = f"#problem={chance.choice(problems)}&policy=optimal"
    if not page.url.startswith(address):
        await page.goto(address + start)
    await page.evaluate("start => referee.begin(start)", start)
    if chance.random() < 0.8:  # most people wait for a question
        await wait_until(page, "referee.isAsked()")
    for _ in range(chance.randint(*STEPS)):
        action = chance.choices(list(ACTIONS), list(ACTIONS.values()))[0]
        await act(page, action, chance)
    await wait_until(page, "referee.isQuiet()")
    report = await page.evaluate("referee.report()")
    page.remove_listener("pageerror", hear)
    return Session(seed, [*report["faults"], *errors], report["log"], report["entered"])


async def wait_until(page: Page, condition: str) -> None:
    """Wait until something holds on the page."""
    async with asyncio.timeout(PATIENCE):
        while not await page.evaluate(condition):
            await asyncio.sleep(0.03)


async def act(page: Page, action: str, chance: random.Random) -> None:
    """Do one thing that a person might do."""
    if action == "type":
        await type_some(page, chance)
    elif action == "wait":
        await asyncio.sleep(chance.choice((0.05, 0.1, 0.3, 0.5)) * 4 / SPEED)
    elif action == "policy":
        await page.evaluate(
            "name => { const box = document.getElementById('policy');"
            " box.value = name; box.dispatchEvent(new Event('change')); }",
            chance.choice(("optimal", "greedy", "batch", "optimal")),
        )
    elif action == "reload":
        await page.reload(wait_until="domcontentloaded")
    else:
        kind = "result" if action == "double" else action
        if await click(page, kind, chance, n_clicks=2 if action == "double" else 1) and (
            kind.endswith("number") and chance.random() < 0.9
        ):
            await type_some(page, chance)
            if chance.random() < 0.5:
                await page.keyboard.press("Enter")


async def click(page: Page, kind: str, chance: random.Random, n_clicks: int) -> bool:
    """Move to an element, hesitate, click. Return whether there was one."""
    place = await page.evaluate(
        "([kind, share]) => referee.place(kind, share)", [kind, chance.random()]
    )
    if place is None:
        return False
    await page.mouse.move(*place)
    if kind in MEANT and not await page.evaluate("referee.isAimed()"):
        return False  # it has moved away
    await asyncio.sleep(chance.choice((0, 0, 0.05, 0.15)))
    await page.mouse.click(*place, click_count=n_clicks, delay=chance.choice((0, 20)))
    return True


async def type_some(page: Page, chance: random.Random) -> None:
    """Type one to four characters, fast or slowly."""
    text = "".join(chance.choices(CHARACTERS, k=chance.randint(1, 4)))
    await page.keyboard.type(text, delay=chance.choice((0, 10, 60, 270)))
