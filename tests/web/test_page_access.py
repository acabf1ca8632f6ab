"""The page in a real browser: keyboard alone, phone, axe-core, no JavaScript."""

import pytest
from helpers.browsing import PHONE, WIDE, open_page, ready, settle, steps, upload, view, width
from helpers.fatigue import FATIGUE
from helpers.serving import start_server, stop_server
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

VIEWS = ("Consultation", "What if", "Lattice", "Whole policy", "Cost curves", "Network")


def test_the_keyboard_alone(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    settle(page)
    page.keyboard.press("2")
    expect(steps(page)).to_have_text(["tub = no"])
    ready(page)
    settle(page)
    page.keyboard.press("n")
    expect(steps(page)).to_have_count(2)
    ready(page)
    settle(page)
    for left in (1, 0):
        page.keyboard.press("u")
        expect(steps(page)).to_have_count(left)
        ready(page)
        settle(page)  # until then "u" takes back nothing either
    page.locator("#tab-consult").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-whatif")).to_be_focused()
    expect(page.locator("#prices")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-lattice")).to_be_focused()
    expect(page.locator("#lattice-levels .set").first).to_be_visible()


def test_a_phone_shows_all_without_scrolling_sideways(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, server, "#problem=hepatitis&policy=greedy-la")
    filled = {
        "Consultation": "#candidates li",
        "Whole policy": "#tree-list",
        "Lattice": "#lattice .set",
    }
    for name, content in filled.items():
        view(page, name)
        expect(page.locator(content).first).to_be_visible()
        assert width(page) <= 390, name
    page.get_by_role("tab", name="Consultation").click()
    box = page.locator("#advice button.result").first.bounding_box()
    assert box["height"] >= 36


def test_what_if_by_the_keyboard_alone(page, server):
    open_page(page, server, "#problem=asia&policy=optimal")
    page.locator("#tab-consult").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-whatif")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Price of xray":
            break
    page.keyboard.press("Control+a")
    page.keyboard.type("200")
    expect(page.locator("#effect")).to_contain_text("xray costs 200.00 in place of 8.00")
    expect(
        page.get_by_label("Price of xray", exact=True)
    ).to_be_focused()  # typing is not interrupted
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Undo the price of xray")).to_be_focused()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#changed")).to_be_hidden()


def test_the_advice_comes_first_on_a_phone(page, server):
    page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=heart&policy=greedy")
    assert page.locator("#say").bounding_box()["y"] < 200
    expect(page.locator("#policy")).to_be_hidden()
    page.get_by_role("button", name="Settings").press("Enter")
    page.locator("#policy").select_option("none")
    expect(page.locator("#say")).to_contain_text("Decide")


# In the dark, colours alone are others.
@pytest.mark.parametrize(("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))])
def test_no_view_keeps_people_out(page, server, tmp_path, violations, scheme, rules):
    page.emulate_media(color_scheme=scheme)
    open_page(page, server, "#problem=asia&policy=greedy-la")
    upload(page, tmp_path, "fatigue.toml", FATIGUE, "Always tired")
    ready(page)
    page.locator("#candidates button").first.click()
    for name in VIEWS:
        if name == "Cost curves":  # quick to draw for a small problem only
            page.goto(f"{server}#problem=asia&policy=greedy&view=curves")
        view(page, name)
        expect(page.locator("progress:visible")).to_have_count(0)
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            assert violations(page, *rules) == [], (name, size)
    page.goto(server + "#problem=nothing")
    expect(page.locator("#error")).to_be_visible()
    assert violations(page, *rules) == []


def test_without_javascript_the_page_says_what_to_do(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server)
    said = page.locator("noscript .notice")
    expect(said).to_be_visible()
    expect(said).to_contain_text("voilattice consult PROBLEM")
    context.close()


def test_the_page_works_under_a_root_path(browser):
    process, address = start_server("--root-path", "/advisor")
    page = browser.new_page()
    try:
        open_page(page, address, "advisor/#problem=asia&policy=greedy")
        expect(page.locator("#say")).to_contain_text("Decide")
    finally:
        page.close()
        stop_server(process)
