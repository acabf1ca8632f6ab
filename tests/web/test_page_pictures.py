"""The page in a real browser: lattice, policy, curves, network, report."""

import json
import re
from urllib.parse import quote

import pytest
from helpers.browsing import PHONE, open_page, view, width
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_lattice_policy_and_curves(page, server):
    open_page(page, server, "#problem=asia&policy=optimal")
    page.get_by_role("tab", name="Lattice").click()
    expect(page.locator("#lattice-text")).to_contain_text("36 irreducible sets of 64")
    best = page.locator("#lattice-levels .set.best")
    expect(best).to_have_count(1)
    expect(best).to_have_text(re.compile(r"worth [\d.]+, costs [\d.]+, benefit [\d.]+"))
    assert page.locator("#lattice-levels .set.way").count() > 0
    page.get_by_role("tab", name="Whole policy").click()
    expect(page.locator("#tree-text")).to_contain_text(
        "Proved optimal: no policy costs less than 62.46 on average."
    )
    folded = page.locator("#tree-list details").first
    folded.locator("summary").first.click()
    expect(folded).not_to_have_attribute("open", "")
    page.get_by_role("tab", name="Cost curves").click()
    expect(page.locator("#curves-picture svg.lines")).to_be_visible()


LOOK = """() => {
  const look = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
  return [look('.set.way', 'borderTopColor'), look('#lattice-picture .way .box', 'stroke')];
}"""


def test_the_way_to_the_best_set_has_the_colour_that_the_page_says(page, server):
    open_page(page, server, "#problem=asia&policy=optimal&view=lattice")
    expect(page.locator("#lattice .hint")).to_contain_text("In green: the best set and the way")
    expect(page.locator("#lattice-picture .way").first).to_be_visible()
    card, drawn = page.evaluate(LOOK)
    assert card == drawn == "rgb(46, 125, 79)"
    expect(page.locator("#lattice-picture")).not_to_have_class(re.compile("wide"))


def test_a_picture_is_dark_in_the_dark_and_says_on_a_phone_that_it_goes_on(page, server):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=asia&policy=optimal&view=lattice")
    picture = page.locator("#lattice-picture")
    expect(picture).to_have_class(re.compile("wide"))
    expect(picture).to_have_css("background-color", "rgb(31, 31, 31)")
    # The white paper of the drawing has the colour of the box around it.
    expect(picture.locator("svg")).to_have_css("filter", "invert(0.88) hue-rotate(180deg)")


def test_the_text_on_the_keys_keeps_its_distance_from_the_buttons(page, server):
    open_page(page, server, "#problem=asia&policy=greedy")
    button = page.locator("#report").bounding_box()
    text = page.get_by_text("Keys, while nothing is being typed").bounding_box()
    assert text["y"] - button["y"] - button["height"] >= 8


def test_only_the_optimum_is_called_proved(page, server):
    open_page(page, server, "#problem=asia&policy=greedy&view=policy")
    expect(page.locator("#tree-text")).to_contain_text("greedy: expected total cost 110.00")
    expect(page.locator("#tree-text")).not_to_contain_text("optimal")


def test_a_large_lattice_is_shown_by_level(page, server):
    page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=heart&policy=greedy&view=lattice")
    levels = page.locator("#lattice-levels .level")
    expect(levels.first).to_be_visible()
    sets = page.locator("#lattice-levels .set > b")
    names = sets.all_text_contents()
    assert len(names) == len(set(names)) > 10  # never twice the same label
    assert width(page) <= 390
    assert page.evaluate("document.documentElement.scrollHeight") < 12 * 844
    page.get_by_role("button", name="Show more sets of 3 features").click()
    expect(sets.nth(len(names) + 5)).to_be_visible()
    page.get_by_label("Only sets with").select_option("thal")
    expect(page.get_by_role("button", name="No longer only sets with thal")).to_be_visible()
    expect(levels.first).to_contain_text("thal")
    assert all("thal" in name for name in sets.all_text_contents())
    page.get_by_label("Search in the sets shown").fill("cp")
    for name in page.locator("#lattice-levels .set:visible > b").all_text_contents():
        assert "cp" in name
        assert "thal" in name


@pytest.mark.parametrize("is_phone", [False, True], ids=["wide", "phone"])
def test_curves_have_a_table_with_differences_from_the_best(page, server, is_phone):
    if is_phone:
        page.set_viewport_size(PHONE)
    open_page(page, server, "#problem=asia&policy=optimal&view=curves")
    expect(page.locator("#curves-picture svg.lines")).to_be_visible()
    point = page.locator("#curves-point")
    expect(point.locator("li").first).to_contain_text("optimal")
    expect(point.locator("li").first).to_contain_text("least")
    expect(point.locator("li").last).to_have_text(re.compile(r"\+[\d.]+$"))
    expect(page.locator("#curves-text")).to_contain_text(
        "The costs of decisions are the problem's own"
    )
    expect(point.locator("h3")).to_have_text("At stakes of 110.00, as they are now")
    expect(point).to_contain_text("62.46")  # what the whole policy costs too
    before = point.locator("h3").inner_text()
    page.locator("#curves-stake").focus()
    page.keyboard.press("ArrowRight")
    expect(point.locator("h3")).not_to_have_text(before)
    page.get_by_label("Only what each costs above the best").check()
    expect(page.locator("#curves-picture svg.lines")).to_have_attribute(
        "aria-label", re.compile("above the best")
    )
    page.get_by_text("All stakes").click()
    expect(page.locator("#curves table tbody tr")).to_have_count(21)
    assert width(page) <= (390 if is_phone else 1280)


def test_curves_say_which_costs_they_scale_and_that_something_is_known(page, server):
    step = quote(json.dumps(["smoke", "yes"]))
    open_page(page, server, f"#problem=asia&policy=optimal&view=curves&step={step}")
    text, point = page.locator("#curves-text"), page.locator("#curves-point")
    expect(text).to_contain_text("so deciding at once (“none”) costs more or less than the stakes.")
    expect(point.locator("h3")).to_have_text("At stakes of 110.00, as they are now")
    now = page.locator("#money dd").first.text_content()  # what deciding now costs
    expect(point.locator("li").filter(has_text="none")).to_contain_text(now)
    page.locator("#curves-kind").select_option("asymmetric")
    expect(text).to_contain_text("Not the problem's own costs of decisions")
    expect(point.locator("li").first).to_contain_text("least")
    open_page(page, server, "#problem=asia&policy=optimal&view=curves&kind=symmetric")
    expect(page.locator("#curves-kind option")).to_have_text(["symmetric", "asymmetric"])


def test_the_flow_picture_and_the_network(page, server):
    open_page(page, server, "#problem=asia&policy=optimal&view=policy")
    expect(page.locator("#flow-picture svg")).to_be_visible()
    view(page, "Network")
    picture = page.locator("#network-picture img")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("e => e.naturalWidth") > 50


def test_the_report_opens_in_a_window_of_its_own(page, server):
    open_page(page, server, "#problem=asia&policy=optimal")
    complaints = []
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Report to print").click()
    report = popup.value
    report.on("console", lambda message: complaints.append(message.text))
    expect(report.get_by_role("button", name="Print")).to_be_visible()
    expect(report.locator("body")).to_contain_text("62.46")
    assert report.locator("svg").count() >= 1
    assert complaints == []
