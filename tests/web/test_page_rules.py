"""The page in a real browser: constraints, limits, rounds and own decisions, where they bind."""

import json
import re

import pytest
from helpers.browsing import PHONE, field, open_page, press, ready, steps, upload, view, width
from helpers.ward import WARD
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.fixture
def ward_page(page, server, tmp_path):
    """The page with a problem that has constraints, limits, rounds and its own decisions."""
    open_page(page, server)
    upload(page, tmp_path, "ward.toml", WARD, "Lung ward")
    expect(page.locator("#target")).to_have_text("What is ill?")
    ready(page)
    return page


def left_of_the_limits(page):
    return page.locator("#money dd").all_text_contents()[2:]


def test_the_page_shows_rules_and_why_something_is_not_offered(ward_page):
    page = ward_page
    expect(page.locator("#rules li")).to_have_text(
        [
            "biopsy can be acquired after X-ray, only if consent = given, not if age = old.",
            "Limits of each path: 120.00 CAD to spend, 4 features and 3 rounds.",
            "Each round costs 5.00 CAD more, however many features it brings.",
        ]
    )
    expect(page.locator("#candidates .barred")).to_have_count(1)
    expect(page.locator("#candidates .barred .why")).to_have_text(
        "Not now. biopsy comes after X-ray: acquire X-ray before or with it. "
        "biopsy can be acquired only if consent = given: acquire consent first."
    )
    expect(page.locator("#decisions li")).to_have_count(3)
    assert left_of_the_limits(page) == ["120.00 CAD", "4", "3"]
    page.locator("#problem").select_option("asia")
    expect(page.locator("#target")).not_to_have_text("What is ill?")
    ready(page)
    expect(page.locator("#rules li")).to_have_text(
        ["consultation costs 10.00, paid once: with the first of asia, dysp and smoke."]
    )
    page.locator("#problem").select_option("figure1")
    expect(page.locator("#rules-card")).to_be_hidden()
    ready(page)
    assert left_of_the_limits(page) == []


def test_results_of_one_round_are_entered_and_paid_for_together(ward_page):
    page = ward_page
    expect(page.locator("#say")).to_have_text("Acquire X-ray and consent in one round.")
    expect(page.locator("#progress")).to_have_text("0 of 2 results are in. Keys act on consent.")
    press(page, "xray", "shadow")
    expect(steps(page)).to_have_text(["X-ray = shadow"])
    expect(page.locator("#progress")).to_have_text("1 of 2 results are in. Keys act on consent.")
    press(page, "consent", "given")
    expect(steps(page)).to_have_text(["X-ray = shadow", "consent = given (same round)"])
    ready(page)
    expect(page.locator("#say")).to_have_text("Acquire biopsy.")
    expect(page.locator("#money")).to_contain_text("26.00 CAD")
    assert left_of_the_limits(page) == ["94.00 CAD", "2", "2"]
    page.reload()  # the address knows the round
    ready(page)
    assert left_of_the_limits(page) == ["94.00 CAD", "2", "2"]
    page.get_by_role("button", name="Undo").click()
    expect(steps(page)).to_have_text(["X-ray = shadow"])
    ready(page)
    assert left_of_the_limits(page) == ["95.00 CAD", "3", "2"]
    page.go_back()
    expect(steps(page)).to_have_count(2)
    ready(page)
    press(page, "biopsy", "malign")
    expect(page.locator("#say")).to_have_text("Decide: treat.")
    expect(page.locator("#bill")).to_contain_text("91.00 CAD")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    with open(download.value.path()) as file:
        assert json.load(file)["together"] == [["xray", "consent"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pressed_answer_can_be_read_while_the_mouse_is_over_it(ward_page, scheme):
    page = ward_page
    page.emulate_media(color_scheme=scheme)
    press(page, "xray", "shadow")
    pressed = field(page, "xray").locator("[aria-pressed=true]")
    pressed.hover()  # the mouse stays there; for a moment no click is taken, and nothing is hovered
    assert pressed.evaluate("e => e.matches(':hover')")
    colours = pressed.evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    )
    assert colours[0] != colours[1]


def test_the_whole_policy_keeps_to_what_the_limits_leave(page, server, tmp_path):
    open_page(page, server)
    upload(page, tmp_path, "ward.toml", WARD.replace("rounds = 3", "rounds = 2"), "Lung ward")
    ready(page)
    press(page, "xray", "shadow")
    press(page, "consent", "given")
    expect(steps(page)).to_have_count(2)
    ready(page)
    expect(page.locator("#say")).to_have_text("Acquire biopsy.")
    assert left_of_the_limits(page)[-1] == "1"
    sheet = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", sheet)) == 1
    view(page, "Whole policy")
    expect(page.locator("#tree-list")).to_contain_text("buy biopsy")
    expect(page.locator("#tree-text")).to_contain_text("1.00 rounds on average.")
    expect(page.locator("#tree-list")).not_to_contain_text("buy blood")


def test_a_part_of_a_round_may_not_be_available(ward_page):
    page = ward_page
    press(page, "xray", "shadow")
    field(page, "consent").get_by_text("not available").click()
    expect(steps(page)).to_have_text(["X-ray = shadow", "consent: not available"])
    ready(page)
    expect(page.locator("#advice")).to_contain_text("biopsy needs consent, which cannot be had.")
    assert left_of_the_limits(page) == ["95.00 CAD", "3", "2"]


def test_the_other_views_show_rules_too(ward_page):
    page = ward_page
    view(page, "Lattice")
    expect(page.locator("#lattice-text")).to_contain_text("8 of them can be acquired as they are")
    expect(page.locator("#lattice-levels .set.barred").first).to_contain_text("biopsy")
    expect(page.locator("#lattice-levels .set.barred").first).to_contain_text("not feasible")
    view(page, "Whole policy")
    expect(page.locator("#tree-text")).to_contain_text("1.99 rounds on average.")
    expect(page.locator("#tree-list")).to_contain_text("buy X-ray, consent in one round for 26.00")


def test_rules_fit_a_phone(ward_page):
    page = ward_page
    page.set_viewport_size(PHONE)
    assert width(page) <= 390
