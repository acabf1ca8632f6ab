"""The page in a real browser: what somebody enters while the advice changes, and rounds."""

import re

import pytest
from helpers.browsing import (
    HeldAnswers,
    address_of,
    enter,
    field,
    findings,
    open_page,
    press,
    ready,
    settle,
    steps,
)
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

CHANGED = "#advice-changed"


def open_quick(page, server, problem):
    """Open a problem, and wait for quick advice; the answers of the policy are held back."""
    held = HeldAnswers(page)
    page.goto(f"{server}#problem={problem}&policy=optimal")
    expect(page.locator("#quick")).to_be_visible()
    return held


def typed(page, feature):
    return field(page, feature).locator("input")


def mark(locator):
    """Mark an element, to know it again."""
    locator.evaluate("element => { element.isTheSame = true; }")


def is_marked(locator):
    return locator.evaluate("element => element.isTheSame === true")


def test_a_number_that_is_typed_while_the_advice_changes_is_that_number_alone(page, server):
    held = open_quick(page, server, "thyroid")
    expect(page.locator("#say")).to_have_text("Acquire TSH.")
    typed(page, "TSH").click()
    mark(typed(page, "TSH"))
    page.keyboard.type("2.")
    held.let_go()
    expect(page.locator(f"{CHANGED} p")).to_have_text("The advice has changed: TSH -> on_thyroxine")
    ready(page)
    page.keyboard.type("12121")
    assert findings(page) == []
    expect(typed(page, "TSH")).to_have_value("2.12121")
    expect(typed(page, "TSH")).to_be_focused()
    assert is_marked(typed(page, "TSH"))
    page.keyboard.press("Enter")  # the old question can still be answered
    expect(steps(page)).to_have_text(["TSH = 2.12121"])
    expect(page.locator(CHANGED)).to_be_hidden()
    assert findings(page) == [["TSH", 2.12121]]


def test_the_same_question_keeps_its_field_its_text_and_its_focus(page, server):
    held = open_quick(page, server, "liver")
    question = page.locator("#say").inner_text()
    number = page.locator("#advice fieldset input")
    feature = page.locator("#advice fieldset").get_attribute("data-feature")
    number.click()
    mark(number)
    page.keyboard.type("9")
    held.let_go()
    ready(page)
    expect(page.locator("#say")).to_have_text(question)
    expect(page.locator(CHANGED)).to_be_hidden()
    page.keyboard.type("1")
    expect(number).to_have_value("91")
    expect(number).to_be_focused()
    assert is_marked(number)
    page.keyboard.press("Enter")
    expect(steps(page)).to_have_count(1)
    assert findings(page) == [[feature, 91]]


def test_a_field_without_text_is_kept_while_it_has_the_focus(page, server):
    held = open_quick(page, server, "thyroid")
    typed(page, "TSH").click()
    held.let_go()
    expect(page.locator(CHANGED)).to_contain_text("TSH -> on_thyroxine")
    expect(typed(page, "TSH")).to_be_focused()


def test_a_text_without_focus_is_kept_and_no_key_acts_beside_it(page, server):
    held = open_quick(page, server, "thyroid")
    typed(page, "TSH").fill("2")
    page.locator("#title").click()  # the focus is nowhere
    held.let_go()
    expect(page.locator(CHANGED)).to_be_visible()
    settle(page)
    for key in "1nu":
        page.keyboard.press(key)
    assert findings(page) == []
    expect(typed(page, "TSH")).to_have_value("2")
    typed(page, "TSH").fill("")
    page.locator("#title").click()
    page.keyboard.press("1")
    assert [name for name, _ in findings(page)] == ["TSH"]  # the question that is shown


def test_the_button_goes_to_the_new_advice(page, server):
    held = open_quick(page, server, "heart")
    settle(page)
    field(page, "cp").locator("button.result").first.focus()
    held.let_go()
    expect(page.locator(f"{CHANGED} p")).to_have_text("The advice has changed: cp -> age")
    expect(page.locator("#say")).to_have_text("Acquire cp.")
    page.get_by_role("button", name="Go to the new advice").click()
    expect(page.locator("#say")).to_have_text("Acquire age.")
    expect(page.locator(CHANGED)).to_be_hidden()
    assert findings(page) == []
    enter(page, "age", "<54.5")


def test_a_question_that_changes_by_itself_takes_neither_key_nor_click_for_a_second(page, server):
    page.clock.install(time=0)
    held = open_quick(page, server, "heart")
    place = field(page, "cp").locator("button.result").first.bounding_box()
    page.clock.pause_at(600_000)
    held.let_go()
    expect(page.locator("#say")).to_have_text("Acquire age.")
    for key in "1nu":
        page.keyboard.press(key)
    page.mouse.click(place["x"] + 5, place["y"] + 5)
    assert findings(page) == []
    page.clock.run_for(999)
    page.keyboard.press("1")
    assert findings(page) == []
    page.clock.run_for(1)
    page.keyboard.press("1")
    assert findings(page) == [["age", "<54.5"]]
    page.keyboard.press("2")  # the question is answered: the next is not here yet
    assert findings(page) == [["age", "<54.5"]]


def test_a_key_that_is_held_down_is_one_key(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    settle(page)
    page.keyboard.down("1")
    for _ in range(5):
        page.keyboard.down("1")  # repeats
    page.keyboard.up("1")
    expect(steps(page)).to_have_count(1)
    ready(page)
    assert len(findings(page)) == 1


def test_what_is_typed_among_the_candidates_stays(page, server):
    # On any machine the answer comes soon, and first steps are compared unasked.
    page.add_init_script("performance.now = () => 0;")
    held = open_quick(page, server, "heart")
    page.locator("#candidates button").filter(has_text=re.compile("^trestbps")).click()
    row = page.locator('#candidates [data-features="trestbps"]')
    number = row.get_by_label("trestbps as a number")
    number.click()
    mark(number)
    page.keyboard.type("1")
    held.let_go()
    ready(page)
    expect(page.locator("#compare-text")).to_contain_text("Going on in the best way")
    page.keyboard.type("40")
    expect(number).to_have_value("140")
    expect(number).to_be_focused()
    assert is_marked(number)
    assert findings(page) == []
    page.keyboard.press("Enter")
    expect(steps(page)).to_have_text(["trestbps = 140"])


def test_a_price_that_is_typed_slowly_is_one_price_and_no_finding(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    settle(page)
    page.locator("#candidates button").filter(has_text=re.compile("^trestbps")).click()
    price = page.locator("#candidates").get_by_label("Price of trestbps")
    price.fill("")
    for k, key in enumerate("456", 1):
        page.keyboard.press(key)
        expect(page.locator("#changed-text")).to_contain_text(f"costs {'456'[:k]}.00")
        ready(page)
        expect(price).to_be_focused()
    expect(price).to_have_value("456")
    assert findings(page) == []
    page.get_by_role("button", name="Undo all changes").click()
    expect(price).to_have_value("1")


def test_what_is_being_typed_as_known_stays_when_a_result_is_taken_back(page, server):
    open_page(page, server, '#problem=heart&policy=greedy&step=["sex","male"]')
    page.get_by_text("Already known, or not to be had").click()
    page.locator("#free").get_by_label("Feature").select_option("trestbps")
    number = page.locator("#free").get_by_label("trestbps as a number")
    number.fill("14")
    page.get_by_role("button", name="Undo").click()
    expect(steps(page)).to_have_count(0)
    ready(page)
    expect(number).to_have_value("14")
    number.press("End")
    page.keyboard.type("0")
    page.keyboard.press("Enter")
    expect(steps(page)).to_have_text(["trestbps = 140 (known for free)"])


# -- rounds


def spent_and_left(page):
    return page.locator("#money dd").all_text_contents()[1:]


def test_a_half_entered_round_survives_a_reload_and_takes_the_rest(visit_page):
    page = visit_page
    press(page, "xray", "shadow")
    ready(page)
    assert spent_and_left(page) == ["60.00 CAD", "240.00 CAD", "3", "2"]
    page.reload()
    expect(page.locator("#progress")).to_have_text("1 of 3 results are in. Keys act on blood.")
    expect(field(page, "xray").locator("[aria-pressed=true]")).to_have_text("2shadow")
    expect(steps(page)).to_have_text(["X-ray = shadow"])
    press(page, "consent", "given")  # in any order
    expect(page.locator("#progress")).to_have_text("2 of 3 results are in. Keys act on blood.")
    press(page, "xray", "clear")  # and corrected
    expect(steps(page)).to_have_text(["X-ray = clear", "consent = given (same round)"])
    press(page, "blood", "high")
    expect(steps(page)).to_have_count(3)
    ready(page)
    assert "round=" not in address_of(page)
    assert spent_and_left(page) == ["69.00 CAD", "231.00 CAD", "1", "2"]


def test_keys_enter_one_test_of_a_round_after_the_other(visit_page):
    page = visit_page
    settle(page)
    expect(page.locator("#advice fieldset.next")).to_have_attribute("data-feature", "blood")
    page.keyboard.press("2")
    expect(page.locator("#advice fieldset.next")).to_have_attribute("data-feature", "consent")
    settle(page)  # each test has its own moment without keys
    page.keyboard.press("1")
    expect(page.locator("#advice fieldset.next")).to_have_attribute("data-feature", "xray")
    settle(page)
    page.keyboard.press("2")
    assert findings(page) == [["blood", "high"], ["consent", "given"], ["xray", "shadow"]]
    expect(page.locator("#say")).to_have_text("Decide: treat.")


def test_a_round_without_one_of_its_tests_is_planned_again_at_once(visit_page):
    page = visit_page
    press(page, "blood", "low")
    field(page, "consent").get_by_text("not available").click()
    expect(steps(page)).to_have_text(["blood = low", "consent: not available"])
    expect(page.locator("#say")).to_have_text("Acquire X-ray and age in one round.")
    ready(page)
    expect(page.locator("#progress")).to_contain_text("0 of 2 results are in.")
    # Blood and its round are paid for. What is planned with its result is another round.
    assert spent_and_left(page) == ["48.00 CAD", "252.00 CAD", "3", "2"]
    press(page, "age", "young")
    press(page, "xray", "clear")
    expect(page.locator("#say")).to_have_text("Decide: discharge.")
    ready(page)
    assert spent_and_left(page) == ["108.00 CAD", "192.00 CAD", "1", "1"]


def test_the_rest_of_an_open_round_is_not_offered_at_the_price_of_another(visit_page):
    page = visit_page
    offered = page.locator("#candidates [data-features], #ignored [data-feature]")
    names = "all => all.map((e) => e.dataset.features ?? e.dataset.feature)"
    assert {"blood", "consent", "xray"} <= set(offered.evaluate_all(names))
    press(page, "xray", "shadow")
    expect(page.locator("#candidates .hint")).to_have_text(
        "The open round brings blood and consent. Anything else would be another round."
    )
    ready(page)
    assert not {"blood", "consent", "blood,consent"} & set(offered.evaluate_all(names))
    expect(page.locator("#compare")).to_be_hidden()
    expect(page.locator("#compare-text")).to_have_text("")


def test_results_so_far_can_be_used_before_the_round_is_whole(visit_page, violations):
    page = visit_page
    press(page, "xray", "clear")
    expect(page.locator(f"{CHANGED} p")).to_have_text(
        "If the rest of the round is left out, the advice is: Decide: discharge."
    )
    ready(page)
    expect(page.locator("#posterior")).to_contain_text("13.8 %")
    settle(page)
    assert violations(page) == []
    page.get_by_role("button", name="Plan again without the rest").click()
    expect(page.locator("#say")).to_have_text("Decide: discharge.")
    assert "round=" not in address_of(page)
    expect(page.locator("#candidates .hint")).to_have_count(0)
    assert spent_and_left(page) == ["60.00 CAD", "240.00 CAD", "3", "2"]
    page.go_back()  # the round is open again
    expect(page.locator("#candidates .hint")).to_contain_text("The open round brings")
    expect(page.locator("#progress")).to_have_text("1 of 3 results are in. Keys act on blood.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#progress")).to_have_text("0 of 3 results are in. Keys act on blood.")
    assert findings(page) == []


def test_a_question_that_is_kept_follows_the_address_at_once(visit_page):
    page = visit_page
    start = address_of(page).split("#")[1]
    press(page, "xray", "clear")  # the focus stays there
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    ready(page)
    page.route("**/api/v1/posterior", lambda route: None)  # no answer yet
    page.evaluate("start => { location.hash = start; }", start)
    expect(page.locator("#progress")).to_have_text("0 of 3 results are in. Keys act on blood.")
    expect(page.locator("#advice [aria-pressed=true]")).to_have_count(0)
    page.unroute("**/api/v1/posterior")


def test_another_test_beside_an_open_round_is_a_purchase_of_its_own(visit_page):
    page = visit_page
    press(page, "blood", "low")
    page.locator("#candidates button").filter(has_text="age").click()
    page.locator("#candidates fieldset button.result").filter(has_text="young").click()
    expect(steps(page)).to_have_text(["blood = low", "age = young"])
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    press(page, "consent", "given")
    expect(steps(page)).to_have_text(["blood = low", "consent = given (same round)", "age = young"])
    page.get_by_role("button", name="Start again").click()
    expect(page.locator("#progress")).to_contain_text("0 of 3 results are in.")
    page.locator("#problem").select_option("figure1")
    ready(page)
    expect(page.locator("#progress")).to_be_hidden()
