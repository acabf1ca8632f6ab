"""The page in a real browser: instant, never stale, light, and quick to begin."""

import re

import pytest
from helpers.browsing import PHONE, address_of, open_page, press, ready, settle, steps, upload
from helpers.large import large_problem
from helpers.serving import start_server, stop_server
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

MAX_BYTES = 300_000  # of the whole page


@pytest.fixture
def large_page(page, server, tmp_path):
    """The page with a problem that the optimal policy works on for minutes."""
    open_page(page, server, "#problem=asia&policy=greedy")
    page.locator("#policy").select_option("optimal")
    ready(page)
    upload(page, tmp_path, "large.toml", large_problem(), "A large problem")
    return page


@pytest.mark.parametrize("is_phone", [False, True], ids=["wide", "phone"])
def test_quick_advice_comes_first_and_can_be_acted_on(large_page, is_phone):
    page = large_page
    if is_phone:
        page.set_viewport_size(PHONE)
    # Posterior and prices are there before any advice.
    expect(page.locator("#posterior li")).to_have_count(2)
    expect(page.locator("#candidates li").first).to_contain_text("costs")
    expect(page.locator("#quick")).to_have_text(
        "Quick advice, from the greedy policy. The optimal policy is still being worked out."
    )
    expect(page.locator("#working progress")).to_be_visible()
    expect(page.locator("#say")).to_have_text(re.compile(r"^Acquire x\d\d\.$"))
    settle(page)
    page.keyboard.press("1")
    expect(steps(page)).to_have_count(1)
    expect(page.locator("#quick")).to_be_visible()
    page.locator("#working").get_by_role("button", name="Cancel").click()
    expect(page.locator("#quick")).to_have_text(
        "The optimal policy was cancelled. This is what the greedy policy does."
    )
    expect(page.locator("#working progress")).to_have_count(0)
    page.get_by_role("button", name="Work it out again").click()
    expect(page.locator("#working progress")).to_be_visible()


def test_nothing_of_the_question_before_is_left_while_an_answer_is_computed(large_page):
    page = large_page
    expect(page.locator("#quick")).to_be_visible()
    page.locator("#problem").select_option("heart")
    # In the same moment: nothing but the new problem's, or empty.
    texts = page.evaluate(
        "['say', 'posterior', 'decisions', 'candidates', 'target', 'history'].map("
        "(id) => document.getElementById(id).textContent).join(' ')"
    )
    assert "x0" not in texts
    ready(page)
    expect(page.locator("#say")).to_have_text("Acquire age.")
    expect(page.locator("#quick")).to_have_count(0)


def test_old_evidence_is_greyed_at_once(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    # Without any answer, what is old stays grey and cannot be acted on.
    page.route("**/api/v1/posterior", lambda route: None)
    press(page, "age", "<54.5")
    expect(steps(page)).to_have_count(1)
    expect(page.locator("#advice")).to_have_class(re.compile("stale"))
    expect(page.locator("#situation")).to_have_class(re.compile("stale"))
    expect(page.locator("#candidates-card")).to_have_class(re.compile("stale"))
    assert page.locator("#advice-fields").evaluate("e => e.inert")
    page.unroute("**/api/v1/posterior")


def test_the_page_never_shows_another_problem_than_the_one_it_is_started_with(browser):
    process, address = start_server("asia")
    page = browser.new_page()
    try:
        page.add_init_script(
            "window.titles = new Set();"
            "new MutationObserver(() => { const t = document.getElementById('title');"
            "  if (t) window.titles.add(t.textContent); })"
            "  .observe(document, { childList: true, subtree: true, characterData: true });"
        )
        open_page(page, address)
        expect(page.locator("#problem")).to_have_value("asia")
        titles = set(page.evaluate("[...window.titles]"))
        assert titles <= {"Which test next?", page.locator("#title").inner_text()}
        assert "heart" not in address_of(page)
    finally:
        page.close()
        stop_server(process)


def test_the_page_is_light_and_quick_to_begin(page, server, record_property):
    sizes = {}
    page.on(
        "response",
        lambda response: (
            sizes.update({response.url: len(response.body())})
            if "/api/" not in response.url and not response.url.startswith("data:")
            else None
        ),
    )
    open_page(page, server, "#problem=heart&policy=optimal")
    assert 0 < sum(sizes.values()) < MAX_BYTES
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive")
    record_property("page_bytes", sum(sizes.values()))
    record_property("interactive_ms", timing)
    print(f"page: {sum(sizes.values()):,} bytes, interactive after {timing:.0f} ms")
