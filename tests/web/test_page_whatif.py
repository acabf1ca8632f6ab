"""The page in a real browser: other prices, other stakes, other results, and back."""

import re
from urllib.parse import unquote

import pytest
from helpers.browsing import PHONE, address_of, open_page, ready, upload, view, width
from helpers.fatigue import FATIGUE
from helpers.ward import WARD
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def effect(page, row):
    return page.locator("#effect tr", has_text=row).locator("td")


@pytest.mark.parametrize("is_phone", [False, True], ids=["wide", "phone"])
def test_a_price_is_changed_and_taken_back(page, server, is_phone):
    if is_phone:
        page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=asia&policy=optimal&view=whatif")
    expect(page.locator("#effect")).to_contain_text("Expected cost from here: 62.46")
    page.get_by_label("Price of xray", exact=True).fill("200")
    expect(effect(page, "Next step")).to_have_text(["Acquire xray", "Decide: no", "another"])
    expect(effect(page, "Expected cost from here")).to_have_text(["62.46", "110.00", "+47.54"])
    assert '["xray",200]' in unquote(address_of(page))
    page.reload()
    expect(effect(page, "Expected cost from here")).to_have_text(["62.46", "110.00", "+47.54"])
    expect(page.locator("#changed-text")).to_have_text(
        "Not the problem as given: xray costs 200.00 in place of 8.00."
    )
    view(page, "Consultation")
    expect(page.locator("#say")).to_have_text("Decide: no.")
    view(page, "What if")
    page.get_by_role("button", name="Undo the price of xray").click()
    expect(page.locator("#changed")).to_be_hidden()
    expect(page.locator("#effect")).to_contain_text("Expected cost from here: 62.46")
    assert width(page) <= (390 if is_phone else 1280)


def test_the_own_matrix_is_changed_by_cell_and_by_a_factor_and_never_lost(page, server, tmp_path):
    open_page(page, server, "#problem=asia&policy=greedy")
    upload(page, tmp_path, "ward.toml", WARD, "Lung ward")
    view(page, "What if")
    cell = page.get_by_label("Cost of deciding refer if it is no")
    expect(cell).to_have_value("250")
    cell.fill("10")
    expect(page.locator("#effect li")).to_have_text(
        re.compile("deciding refer if it is no costs 10.00")
    )
    page.locator("#scale").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#effect li")).to_have_count(2)
    expect(page.locator("#scale-shown")).to_have_text("1.07 times")
    page.get_by_label("symmetric, scaled", exact=True).check()
    expect(page.locator("#own-costs")).to_be_hidden()
    expect(page.locator("#effect li")).to_have_text(re.compile("^symmetric costs of decisions"))
    page.get_by_label("the problem's own").check()
    expect(cell).to_have_value("10")
    expect(page.locator("#effect li")).to_have_count(2)
    page.locator("#effect li button").first.click()
    expect(page.locator("#effect li")).to_have_count(1)
    expect(cell).to_have_value("250")
    page.get_by_role("button", name="Undo all changes").click()
    expect(page.locator("#changed")).to_be_hidden()
    expect(page.locator("#scale-shown")).to_have_text("as given")


def test_another_result_is_tried_and_taken_back(page, server):
    open_page(page, server, '#problem=asia&policy=optimal&step=["xray","yes"]&view=whatif')
    expect(page.locator("#effect")).to_contain_text("Nothing is changed")
    page.get_by_label("Result of xray").select_option("no")
    expect(page.locator("#effect li")).to_have_text(re.compile("xray is no in place of yes"))
    expect(effect(page, "Expected cost from here").nth(2)).to_have_text(re.compile("^−"))
    page.locator("#effect li button").click()
    expect(page.get_by_label("Result of xray")).to_have_value("0")
    expect(page.locator("#changed")).to_be_hidden()


def test_thresholds_of_price_and_stakes(page, server):
    open_page(page, server, "#problem=asia&policy=optimal&view=whatif")
    page.locator("#threshold-feature").select_option("xray")
    page.get_by_role("button", name="Find the thresholds").click()
    expect(page.locator("#thresholds .answer")).to_contain_text("159.31")
    expect(page.locator("#thresholds .answer")).to_contain_text("18.93")
    page.get_by_label("Price of tub", exact=True).fill("0")
    expect(page.locator("#thresholds .answer")).to_be_empty()  # not of this question


def test_the_price_can_be_changed_where_the_feature_is_listed(page, server):
    open_page(page, server, "#problem=asia&policy=optimal")
    page.locator("#candidates button", has_text=re.compile("^xray")).click()
    page.locator("#candidates").get_by_label("Price of xray", exact=True).fill("200")
    expect(page.locator("#say")).to_have_text("Decide: no.")
    expect(page.locator("#changed")).to_be_visible()
    page.get_by_role("button", name="Undo all changes").click()
    ready(page)
    expect(page.locator("#say")).to_have_text("Acquire xray.")


LONG = "haemoglobin_" + "in_grams_per_decilitre_" * 3 + "of_venous_b"  # 92 characters


@pytest.mark.parametrize("is_long", [False, True], ids=["plain", "long names"])
def test_a_problem_of_ones_own_fits_a_phone_in_every_view(page, server, tmp_path, is_long):
    text = FATIGUE
    if is_long:
        text = FATIGUE.replace("Haemoglobin (g/dl)", LONG).replace("haemoglobin", LONG)
        text = text.replace("Hours of sleep", "Hours of sleep and of " + "rest without sleep, " * 4)
    page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=asia&policy=greedy-la")
    page.get_by_role("button", name="Settings").click()
    upload(page, tmp_path, "fatigue.toml", text, "Always tired")
    ready(page)
    page.evaluate('location.hash += \'&step=["sleep","<6"]\'')
    expect(page.locator("#history .found")).to_have_count(1)
    ready(page)
    page.get_by_text("Already known, or not to be had").click()
    page.locator("#free select").first.select_option(LONG if is_long else "haemoglobin")
    for name in ("What if", "Lattice", "Whole policy", "Network", "Consultation"):
        view(page, name)
        expect(page.locator("progress:visible")).to_have_count(0)
        assert width(page) <= 390, name
