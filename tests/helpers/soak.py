"""Sessions of random typing, clicking and waiting on the page, with a referee beside it.

A session is a consultation by somebody in a hurry: keys, clicks, half a number, a pause, a reload,
a held key, a double click, a step back, while the answers of the server come late, each by a random
time, and some fail. ``referee.js`` sees what is done and says what must be in the address then:
every finding that was entered, and no other. At the end the page must say that what was spent is
what ``price_of`` computes from the ledger of the referee and the prices of the problem.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, async_playwright

from .ward import VISITS

SCRIPTS = [Path(__file__).with_name(name) for name in ("ledger.js", "referee.js")]
SPEED = 4  # the page's second takes this part of a second
STEPS = (6, 14)  # of a session
PATIENCE = 120  # s for the last answer, on a busy machine
FAILING = 0.12  # of the answers, in one session of three

ACTIONS = {  # and how often
    "type": 8,
    "result": 7,
    "number": 6,
    "wait": 5,
    "candidate": 3,
    "candidate result": 3,
    "candidate number": 2,
    "candidate unavailable": 1,
    "notice": 3,
    "unavailable": 2,
    "after all": 2,
    "ignored": 1,
    "undo": 2,
    "history": 1,
    "nowhere": 2,
    "double": 1,
    "double history": 1,
    "imagine": 2,
    "enter imagined": 2,
    "free": 3,
    "back": 1,
    "again": 0.4,
    "policy": 1,
    "reload": 1,
}
MEANT = {"result", "unavailable", "candidate result", "candidate unavailable"}  # enter a result
CHARACTERS = "11122345678900..nu-e"


@dataclass(frozen=True, slots=True)
class Session:
    """What happened in a session."""

    seed: int
    faults: list[str]  # empty: every finding was entered, none is lost, and the bill is right
    log: list[str]
    entered: int  # findings


def upload_visits(address: str) -> str:
    """Upload a problem with dear rounds to a server, and return its name there."""
    text = VISITS.replace('[labels]\nxray = "X-ray"\n', "")  # seen by its name
    files = [("files", ("visits.toml", text.encode()))]
    answer = httpx.post(f"{address}api/v1/problems", files=files, timeout=60)
    return answer.raise_for_status().json()["name"]


def price_of(problem: Mapping[str, Any], lines: Sequence[Sequence[Any]]) -> float:
    """Return what the lines of a ledger cost: prices, overheads of groups, and a sum each round."""
    bought = [name for name, _, purchase in lines if isinstance(purchase, int)]
    free = {name for name, _, purchase in lines if purchase == "free"}
    overheads = [
        group["overhead"]
        for group in problem["groups"]
        if set(bought) & set(group["features"]) and not free & set(group["features"])
    ]
    n_rounds = len({purchase for _, _, purchase in lines if isinstance(purchase, int)})
    prices = [problem["costs"][name] for name in bought]
    return sum(prices) + sum(overheads) + n_rounds * problem["rounds"]["cost"]


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
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        answers = [await client.get(f"api/v1/problems/{name}") for name in problems]
        documents = {name: answer.json() for name, answer in zip(problems, answers, strict=True)}

    async def work(browser: Browser, k: int) -> None:
        page = await new_page(browser, seeds[0] + k)
        while left:
            session = await run_session(page, address, documents, left.pop())
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
    await page.add_init_script(settings + "".join(script.read_text() for script in SCRIPTS))
    return page


async def run_session(
    page: Page, address: str, problems: Mapping[str, Mapping[str, Any]], seed: int
) -> Session:
    """Run one session on a page, and return what happened."""
    chance = random.Random(seed)
    errors: list[str] = []
    page.on("pageerror", hear := lambda error: errors.append(error.stack or str(error)))
    name, policy = chance.choice(list(problems)), chance.choice(("optimal", "optimal", "batch"))
    start = f"#problem={name}&policy={policy}"
    if not page.url.startswith(address):
        await page.goto(address + start)
    failing = FAILING if chance.random() < 1 / 3 else 0
    await page.evaluate("([start, failing]) => referee.begin(start, failing)", [start, failing])
    if chance.random() < 0.8 and not failing:  # most people wait for a question
        await wait_until(page, "referee.isAsked()")
    for _ in range(chance.randint(*STEPS)):
        action = chance.choices(list(ACTIONS), list(ACTIONS.values()))[0]
        await act(page, action, chance)
    report = await end(page, chance)
    page.remove_listener("pageerror", hear)
    faults = [*report["faults"], *errors]
    if report["problem"] != name:
        faults.append(f"the page is at {report['problem']}, not at {name}")
    strange = [line for line in report["lines"] if line[0] not in problems[name]["costs"]]
    if strange:
        faults.append(f"results of another problem: {strange}")
    spent = 0.0 if faults else price_of(problems[name], report["lines"])
    if not faults and abs(report["spent"] - spent) > 0.006:
        faults = [f"the page says {report['spent']} was spent on {report['lines']}; it was {spent}"]
    return Session(seed, faults, report["log"], report["entered"])


async def end(page: Page, chance: random.Random) -> dict[str, Any]:
    """Wait for the last answers, answer once more by a key in some sessions; return the report."""
    await page.evaluate("referee.calm()")
    await wait_until(page, "referee.isQuiet()")
    if not await page.evaluate("referee.isWhole()"):  # an error: a person tries again
        await page.reload(wait_until="domcontentloaded")
        await wait_until(page, "referee.isQuiet()")
    await wait_until(page, "referee.isAnswerable()")
    if chance.random() < 0.3:
        await page.keyboard.press("1")
        await wait_until(page, "referee.isQuiet()")
    return await page.evaluate("referee.report()")


async def wait_until(page: Page, condition: str) -> None:
    """Wait until something holds on the page; that it never does is a fault."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await page.evaluate(condition):
                await asyncio.sleep(0.03)
    except TimeoutError:
        await page.evaluate(f"referee.fault(`never {condition}: ${{referee.tell()}}`)")


async def act(page: Page, action: str, chance: random.Random) -> None:
    """Do one thing that a person might do."""
    await page.evaluate("action => referee.note(`(${action})`)", action)
    match action:
        case "type":
            await type_some(page, chance)
        case "wait":
            await asyncio.sleep(chance.choice((0.05, 0.1, 0.3, 0.5)) * 4 / SPEED)
        case "policy":
            await page.evaluate(
                "name => { const box = document.getElementById('policy');"
                " box.value = name; box.dispatchEvent(new Event('change')); }",
                chance.choice(("optimal", "greedy", "batch", "optimal")),
            )
        case "reload":
            await page.reload(wait_until="domcontentloaded")
        case "back":
            if await page.evaluate("referee.goBack()"):
                await page.go_back(wait_until="commit")
        case "imagine":
            await choose(page, "#consult .imagine select", chance)
        case "free":
            await add_free(page, chance)
        case "double" | "double history":
            await click(page, "history" if "history" in action else "result", chance, n_clicks=2)
        case _:
            is_there = await click(page, action, chance)
            if is_there and action.endswith("number") and chance.random() < 0.9:
                await type_some(page, chance)
                if chance.random() < 0.5:
                    await page.keyboard.press("Enter")


async def add_free(page: Page, chance: random.Random) -> None:
    """Fill in what is known for free, or part of it, and add it: once, twice, with a held key."""
    if await page.evaluate("!document.querySelector('#free details')?.open"):
        await click(page, "summary", chance)
    if chance.random() < 0.8:
        await choose(page, "#free select[aria-label=Feature]", chance)
    if chance.random() < 0.7:
        await choose(page, "#free select[aria-label=Result]", chance)
    elif await click(page, "free number", chance):
        await type_some(page, chance)
    if not await click(page, "add", chance, n_clicks=chance.choice((1, 1, 2))):
        return
    if chance.random() < 0.3:
        for _ in range(4):
            await page.keyboard.down("Enter")  # the first on a form that was just sent
        await page.keyboard.up("Enter")


async def choose(page: Page, lists: str, chance: random.Random) -> None:
    """Choose something in one of some lists."""
    await page.evaluate(
        "([lists, share, choice]) => referee.choose(lists, share, choice)",
        [lists, chance.random(), chance.random()],
    )


async def click(page: Page, kind: str, chance: random.Random, n_clicks: int = 1) -> bool:
    """Move to an element, hesitate, click. Return whether there was one."""
    place = await page.evaluate(
        "([kind, share]) => referee.place(kind, share)", [kind, chance.random()]
    )
    if place is None:
        return False
    # Never to the same place twice: that would be no move.
    await page.mouse.move(place[0] + chance.uniform(-3, 3), place[1] + chance.uniform(-3, 3))
    if kind in MEANT and not await page.evaluate("referee.isAimed()"):
        return False  # it has moved away
    await asyncio.sleep(chance.choice((0, 0, 0.05, 0.15)))
    for k in range(n_clicks):
        await page.mouse.down(click_count=k + 1)
        await asyncio.sleep(chance.choice((0, 0.02)))
        await page.mouse.up(click_count=k + 1)
        await asyncio.sleep(chance.choice((0, 0.03)) if n_clicks > 1 else 0)
    return True


async def type_some(page: Page, chance: random.Random) -> None:
    """Type one to four characters, fast or slowly."""
    text = "".join(chance.choices(CHARACTERS, k=chance.randint(1, 4)))
    await page.keyboard.type(text, delay=chance.choice((0, 10, 60, 270)))
