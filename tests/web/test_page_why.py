"""The page in a real browser: why this and not that, and why something is not considered."""

import re

import pytest
from helpers.browsing import PHONE, open_page, width
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_phone", [False, True], ids=["wide", "phone"])
def test_another_first_step_is_compared_with_the_advised_one(page, server, is_phone):
    if is_phone:
        page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=heart&policy=optimal")
    # What took a while to solve is compared on demand.
    if (compare := page.get_by_role("button", name="Why this, and not another?")).is_visible():
        compare.click()
    expect(page.locator("#compare-text")).to_contain_text("Going on in the best way costs 253.10")
    row = page.locator("#candidates li", has=page.locator(".name", has_text=re.compile("^age")))
    expect(row.locator(".over")).to_have_text("first: 253.10, the least, as for cp")
    other = page.locator("#candidates li", has=page.locator(".name", has_text=re.compile("^sex")))
    expect(other.locator(".over")).to_have_text(re.compile(r"^first: [\d.]+, \+[\d.]+$"))
    other.locator("button").first.click()
    compared = other.locator(".comparison")
    expect(compared.locator("p").first).to_contain_text("Beginning with sex costs 0.44 more")
    compared.locator("summary").click()
    expect(compared.locator("table")).to_have_count(2)
    expect(compared.locator("table").first).to_contain_text("female")
    assert width(page) <= (390 if is_phone else 1280)


def test_what_is_only_too_dear_is_said_and_no_legend_stands_above_nothing(page, server):
    found = '&step=["age",46]&step=["cp",null]'
    open_page(page, server, f"#problem=heart&policy=optimal{found}")
    hint = page.get_by_text("Blue bar: what knowing it is worth")
    expect(hint).to_be_visible()
    page.evaluate('location.hash += \'&step=["sex","female"]\'')
    expect(page.locator("#candidates")).to_have_text(
        "Nothing that is left is worth its price: 6 features are too dear."
    )
    expect(hint).to_be_hidden()


def test_every_feature_is_named_with_a_word_on_why_it_is_not_considered(page, server, api):
    features = set(api.get("/api/v1/problems/heart").json()["features"])
    open_page(page, server, "#problem=heart&policy=optimal")
    shown = page.locator("#candidates [data-features]").evaluate_all(
        "all => all.flatMap((e) => e.dataset.features.split(','))"
    )
    ignored = page.locator("#ignored [data-feature]").evaluate_all(
        "all => all.map((e) => e.dataset.feature)"
    )
    assert set(shown) | set(ignored) == features
    assert not set(shown) & set(ignored)
    for line in page.locator("#ignored li").all_text_contents():
        assert len(line.split()) > 4, line
