"""What a person does on the page, and what they wait for."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urljoin, urlsplit

from playwright.sync_api import Locator, Page, Route, expect

expect.set_options(timeout=30_000)  # a loaded machine is slow, not wrong

PHONE = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 900}
# The browser tells the page a moment later that its address was changed from outside.
HEARD = "new Promise((heard) => requestAnimationFrame(() => requestAnimationFrame(heard)))"


def ready(page: Page) -> None:
    """Wait for the advice that was asked for, not for a quick one before it."""
    page.evaluate(HEARD)
    expect(page.locator("#advice")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#working progress")).to_have_count(0)


def open_page(page: Page, server: str, address: str = "") -> None:
    """Open the page at an address, and wait for the advice."""
    page.goto(server + address)
    ready(page)


def steps(page: Page) -> Locator:
    """What was found so far."""
    return page.locator("#history .found")


def field(page: Page, feature: str) -> Locator:
    """Where the result of an advised feature is entered."""
    return page.locator(f'#advice fieldset[data-feature="{feature}"]')


def press(page: Page, feature: str, state: str) -> None:
    """Press the button of a result."""
    field(page, feature).locator("button.result").filter(
        has_text=re.compile(rf"(^|\d){re.escape(state)}$")
    ).click()


def enter(page: Page, feature: str, state: str) -> None:
    """Enter the result of an advised feature, and wait for the next advice."""
    before = steps(page).count()
    press(page, feature, state)
    expect(steps(page)).to_have_count(before + 1)
    ready(page)


def upload(page: Page, folder, name: str, text: str, title: str) -> None:
    """Upload a problem file, and wait until the page shows its title."""
    (folder / name).write_text(text)
    page.locator("#files").set_input_files(str(folder / name))
    expect(page.locator("#title")).to_have_text(title)


def address_of(page: Page) -> str:
    """The address that the page is at. What Playwright has heard of may be the one before."""
    return page.evaluate("location.href")


def findings(page: Page) -> list:
    """The findings in the address: a feature and its result."""
    steps = parse_qs(urlsplit(address_of(page)).fragment).get("step", [])
    return [json.loads(step)[:2] for step in steps]


def settle(page: Page) -> None:
    """Wait until keys answer the question: it has been on the page for a second."""
    expect(page.locator("#advice-fields")).not_to_have_attribute("data-settling", "")


class HeldAnswers:
    """Answers of jobs, held back until they are let go: the page shows quick advice till then."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._routes: list | None = []
        page.route("**/api/v1/jobs/*", self._take)

    def _take(self, route: Route) -> None:
        if self._routes is None:
            route.continue_()
        else:
            self._routes.append(route)

    def let_go(self) -> None:
        """Let all answers through: those held with their results, and those to come."""
        routes, self._routes = self._routes or [], None
        for route in routes:
            answer = route.fetch()
            while (job := answer.json())["state"] in {"queued", "running"}:
                answer = self._page.request.get(urljoin(route.request.url, job["job"]))
            route.fulfill(response=answer)


def view(page: Page, name: str) -> None:
    """Choose a view."""
    page.get_by_role("tab", name=name).click()


def width(page: Page) -> int:
    """How wide the page is with everything on it: more than the window means scrolling sideways."""
    return page.evaluate("document.documentElement.scrollWidth")
