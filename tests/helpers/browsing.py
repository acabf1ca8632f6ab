"""What a person does on the page, and what they wait for."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

expect.set_options(timeout=30_000)  # a loaded machine is slow, not wrong

PHONE = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 900}


def ready(page: Page) -> None:
    """Wait for the advice that was asked for, not for a quick one before it."""
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


def view(page: Page, name: str) -> None:
    """Choose a view."""
    page.get_by_role("tab", name=name).click()


def width(page: Page) -> int:
    """How wide the page is with everything on it: more than the window means scrolling sideways."""
    return page.evaluate("document.documentElement.scrollWidth")
