"""The page in a real browser: slips of the hand, late answers and errors enter nothing."""

import re

import pytest
from helpers.browsing import (
    HeldAnswers,
    address_of,
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


def open_free(page):
    page.get_by_text("Already known, or not to be had").click()
    return page.locator("#free")


def open_candidate(page, feature):
    page.locator("#candidates button").filter(has_text=re.compile(f"^{feature}")).click()
    return page.locator(f'#candidates [data-features="{feature}"]')


def test_what_is_known_for_free_is_added_once_and_never_chosen_by_itself(page, server):
    open_page(page, server, "#problem=asia&policy=greedy")
    form = open_free(page)
    add = form.get_by_role("button", name="Add")
    add.focus()
    page.keyboard.press("Enter")  # nothing is chosen
    assert findings(page) == []
    form.get_by_label("Feature").select_option("smoke")
    form.get_by_label("Result").select_option("yes")
    add.focus()
    for _ in range(5):
        page.keyboard.down("Enter")  # held: all but the first are repeats
    page.keyboard.up("Enter")
    expect(steps(page)).to_have_text(["smoke = yes (known for free)"])
    expect(form.get_by_label("Feature")).to_have_value("")
    form.get_by_label("Feature").select_option("bronc")
    form.get_by_label("Result").select_option("no")
    add.dblclick()
    expect(steps(page)).to_have_count(2)
    assert findings(page) == [["smoke", "yes"], ["bronc", "no"]]


def test_a_number_or_a_range_is_known_for_free_and_the_last_counts(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    form = open_free(page)
    form.get_by_label("Feature").select_option("trestbps")
    number, result = form.get_by_label("trestbps as a number"), form.get_by_label("Result")
    number.focus()
    page.keyboard.press("Enter")  # neither
    assert findings(page) == []
    number.fill("140")
    result.select_option("cannot be had")
    expect(number).to_have_value("")
    number.fill("150")
    expect(result).to_have_value("")
    number.press("Enter")
    expect(steps(page)).to_have_text(["trestbps = 150 (known for free)"])


def test_a_double_click_takes_back_one_result(page, server):
    found = '&step=["smoke","yes"]&step=["bronc","no"]&step=["asia","no"]'
    open_page(page, server, f"#problem=asia&policy=greedy{found}")
    page.get_by_role("button", name="Take back smoke").hover()
    page.mouse.down()
    page.mouse.up()
    expect(steps(page)).to_have_count(2)  # another row is here now
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    expect(steps(page)).to_have_text(["bronc = no", "asia = no"])


def test_an_error_leaves_what_is_being_typed(page, server):
    open_page(page, server, "#problem=heart&policy=batch")
    held = []
    page.route(re.compile("/advise$"), lambda route: held.append(route))  # noqa: PLW0108
    press(page, "age", "<54.5")
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    number = open_candidate(page, "trestbps").get_by_label("trestbps as a number")
    settle(page)
    number.click()
    page.keyboard.type("1")
    page.route("**/api/v1/**", lambda route: route.abort())
    for route in held:
        route.abort()
    expect(page.locator("#error")).to_be_visible()
    page.keyboard.type("21")
    assert findings(page) == [["age", "<54.5"]]
    expect(number).to_have_value("121")
    expect(number).to_be_focused()
    page.unroute_all()
    page.keyboard.press("Enter")
    expect(steps(page)).to_have_text(["age = <54.5", "trestbps = 121"])
    ready(page)


@pytest.mark.parametrize("is_silent", [True, False], ids=["silent", "503"])
def test_a_question_without_an_answer_is_asked_again(page, server, is_silent):
    open_page(page, server, "#problem=heart&policy=greedy")

    def fail(route):
        if is_silent:
            route.abort()
        else:
            route.fulfill(status=503, json={"detail": "too many questions at once"})

    page.route("**/api/v1/**", fail)
    page.locator("#advice button.result").first.click()
    expect(steps(page)).to_have_count(1)
    found = steps(page).all_text_contents()
    why = (
        "The server does not answer (Failed to fetch)"
        if is_silent
        else "too many questions at once"
    )
    expect(page.locator("#error")).to_have_text(f"{why}. Try again")
    expect(steps(page)).to_have_text(found)
    page.get_by_role("button", name="Try again").click()  # still the same
    expect(page.locator("#error")).to_have_text(f"{why}. Try again")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#error")).to_be_hidden()
    ready(page)
    expect(page.locator("#say")).to_have_text(re.compile("^(Acquire|Decide)"))
    expect(steps(page)).to_have_text(found)


def test_a_page_that_begins_without_its_server_begins_again(page, server):
    page.route("**/api/v1/**", lambda route: route.abort())
    page.goto(f'{server}#problem=asia&policy=greedy&step=["xray","yes"]')
    expect(page.locator("#error")).to_contain_text("The server does not answer")
    expect(steps(page)).to_have_text(["xray = yes"])
    expect(page.locator("#unread")).to_be_hidden()
    page.get_by_role("tab", name="What if").click()  # it writes a whole address
    page.get_by_role("tab", name="Consultation").click()
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#policy")).to_have_value("greedy")
    ready(page)
    expect(page.locator("#say")).to_have_text(re.compile("^(Acquire|Decide)"))
    expect(page.locator("#error")).to_be_hidden()


def test_what_is_refused_is_not_offered_again(page, server):
    open_page(page, server, '#problem=asia&policy=greedy&step=["nope","x"]')
    expect(page.locator("#error")).to_contain_text("no feature 'nope'")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_no_key_acts_for_a_second_after_a_field_vanished(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    number = open_candidate(page, "trestbps").get_by_label("trestbps as a number")
    settle(page)
    number.click()
    page.clock.install(time=0)
    page.clock.pause_at(600_000)
    page.evaluate("document.activeElement.closest('li').remove()")
    page.keyboard.press("1")
    page.clock.run_for(999)
    page.keyboard.press("1")
    assert findings(page) == []
    page.clock.run_for(1)
    page.keyboard.press("1")
    assert len(findings(page)) == 1


def test_a_click_that_the_page_moves_to_another_button_enters_nothing(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    result = open_candidate(page, "trestbps").locator("button.result").first
    result.scroll_into_view_if_needed()
    place = result.bounding_box()
    page.evaluate("document.body.style.paddingTop = '400px'")
    page.mouse.move(place["x"] + 5, place["y"] + 5)
    page.clock.install(time=0)
    page.clock.pause_at(600_000)
    page.evaluate("document.body.style.paddingTop = ''")
    page.mouse.down()
    page.mouse.up()
    assert findings(page) == []
    for _ in range(20):  # the browser tells the page late what is under the pointer
        page.clock.run_for(301)  # now it has been seen
        page.mouse.down()
        page.mouse.up()
        if findings(page):
            break
    assert [name for name, _ in findings(page)] == ["trestbps"]


def test_a_hand_that_moves_to_a_button_while_no_click_is_taken_means_that_button(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    settle(page)
    place = page.locator("#advice-fields button.result").first.bounding_box()
    page.evaluate("document.body.classList.add('moved')")  # the page has just moved its fields
    page.mouse.move(place["x"] + 5, place["y"] + 5)
    page.evaluate("document.body.classList.remove('moved')")
    page.mouse.down()
    page.mouse.up()
    assert len(findings(page)) == 1


def test_a_result_that_is_taken_back_at_once_is_asked_again(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    settle(page)
    for n_before in (0, 1):
        page.evaluate("""() => {
          document.querySelector("#advice-fields button.result").click();
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "u" }));
        }""")
        ready(page)
        settle(page)
        assert len(findings(page)) == n_before
        page.keyboard.press("2")
        assert len(findings(page)) == n_before + 1
        expect(steps(page)).to_have_count(n_before + 1)
        ready(page)
        settle(page)


def test_a_key_right_after_a_result_that_is_known_for_free_does_not_change_it(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    settle(page)
    page.locator("#free summary").click()
    page.get_by_label("Feature", exact=True).select_option("tub")
    page.get_by_label("Result", exact=True).select_option("yes")
    page.evaluate("""() => {
      document.querySelector("#free form").requestSubmit();
      document.activeElement.blur();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "2" }));
    }""")
    ready(page)
    assert findings(page) == [["tub", "yes"]]


def test_a_click_on_one_problem_enters_nothing_into_another(page, server):
    open_page(page, server, '#problem=heart&policy=greedy&if=["age","<54.5"]')
    enter = page.get_by_role("button", name="Enter this result")
    expect(enter).to_be_visible()
    held = []

    def hold(route):
        held.append(route)

    page.route("**/api/v1/problems/asia", hold)
    # The address changes first, then the page hears of it, then the answer comes.
    page.evaluate("""() => {
      location.hash = "#problem=asia&policy=greedy";
      document.querySelector("#imagined button").click();
      document.querySelector("#advice-fields button.result").click();
    }""")
    expect(enter).to_be_hidden()
    assert findings(page) == []
    held[0].continue_()
    expect(page.locator("#title")).to_contain_text("Asia")
    assert findings(page) == []


def test_a_result_is_imagined_when_the_question_has_its_answer(page, server):
    open_page(page, server, "#problem=asia&policy=greedy")
    held = []
    page.route("**/api/v1/posterior", lambda route: held.append(route))  # noqa: PLW0108
    page.evaluate('location.hash += \'&step=["smoke","yes"]\'')
    expect(steps(page)).to_have_count(1)
    page.evaluate('location.hash += \'&if=["bronc","yes"]\'')
    expect(page.locator("#imagined")).to_be_hidden()
    page.unroute_all()
    expect(page.locator("#imagined h2")).to_have_text("If bronc were yes …")
    ready(page)


# -- rounds


def test_a_result_that_is_taken_back_by_the_browser_is_gone_at_once(visit_page):
    page = visit_page
    press(page, "blood", "low")
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    ready(page)
    held = []
    page.route("**/api/v1/posterior", lambda route: held.append(route))  # noqa: PLW0108
    page.go_back()
    expect(page.locator("#progress")).to_have_text("0 of 3 results are in. Keys act on blood.")
    page.unroute_all()
    ready(page)


def test_a_round_that_was_left_does_not_come_back_with_a_late_answer(visit_page):
    page = visit_page
    held = HeldAnswers(page)
    press(page, "xray", "clear")
    page.get_by_role("button", name="Plan again without the rest").click()
    expect(page.locator("#progress")).to_be_hidden()
    held.let_go()
    ready(page)
    expect(page.locator("#quick")).to_have_count(0)
    expect(page.locator("#say")).to_have_text("Decide: discharge.")
    assert "round=" not in address_of(page)


def test_an_open_round_waits_while_another_question_is_answered(visit_page):
    page = visit_page
    press(page, "blood", "low")
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    left = address_of(page)
    field(page, "consent").get_by_text("not available").click()
    expect(page.locator("#say")).to_have_text("Acquire X-ray and age in one round.")
    ready(page)
    settle(page)
    field(page, "age").locator("button.result").first.focus()
    page.go_back()
    expect(page).to_have_url(left)
    expect(page.locator("#advice-changed p")).to_have_text(
        "Results of a round are to come: X-ray and consent"
    )
    ready(page)
    expect(field(page, "age").locator("button.result").first).to_be_focused()
    page.get_by_role("button", name="Go to the round").click()
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")


def test_what_can_be_had_after_all_leaves_its_round_as_it_was_paid(visit_page):
    page = visit_page
    found = '&step=["age","young"]&step=["xray",null]&step=["blood","low",true]'
    page.evaluate("found => { location.hash += found; }", found)
    spent = page.locator("#money dd").nth(1)
    expect(spent).to_have_text("88.00 CAD")  # two visits, and 8 for the blood
    ready(page)
    page.get_by_role("button", name="It can be had after all").click()
    expect(steps(page)).to_have_text(["age = young", "blood = low"])
    ready(page)
    expect(spent).to_have_text("88.00 CAD")


@pytest.mark.parametrize("way", ["key", "undo", "history", "after all"])
def test_a_round_goes_on_when_not_available_was_a_slip(visit_page, way):
    page = visit_page
    press(page, "blood", "low")
    field(page, "consent").get_by_text("not available").click()
    expect(page.locator("#say")).to_have_text("Acquire X-ray and age in one round.")
    ready(page)
    if way == "key":
        settle(page)
        page.keyboard.press("u")
    else:
        names = {
            "undo": "Undo",
            "history": "Take back consent",
            "after all": "It can be had after all",
        }
        page.get_by_role("button", name=names[way], exact=True).click()
    expect(page.locator("#say")).to_have_text("Acquire X-ray, blood and consent in one round.")
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    ready(page)
    press(page, "consent", "given")
    press(page, "xray", "clear")
    expect(steps(page)).to_have_count(3)
    ready(page)
    # One visit: 40, and 8, 1 and 20 for the tests.
    expect(page.locator("#money dd").nth(1)).to_have_text("69.00 CAD")


def test_what_is_entered_after_the_end_of_a_round_is_not_of_that_round(visit_page):
    page = visit_page
    press(page, "blood", "low")
    field(page, "consent").get_by_text("not available").click()
    expect(page.locator("#say")).to_have_text("Acquire X-ray and age in one round.")
    ready(page)
    press(page, "xray", "clear")
    expect(steps(page)).to_have_count(3)
    ready(page)
    page.get_by_role("button", name="Take back consent").click()
    expect(steps(page)).to_have_text(["blood = low", "X-ray = clear"])
    ready(page)
    expect(page.locator("#money dd").nth(1)).to_have_text("108.00 CAD")  # two visits


def test_undo_takes_back_what_was_entered_last(visit_page):
    page = visit_page
    press(page, "blood", "low")
    open_candidate(page, "age").locator("button.result").filter(has_text="young").click()
    expect(steps(page)).to_have_text(["blood = low", "age = young"])
    press(page, "consent", "given")
    expect(steps(page)).to_have_text(["blood = low", "consent = given (same round)", "age = young"])
    page.get_by_role("button", name="Undo").click()
    expect(steps(page)).to_have_text(["blood = low", "age = young"])
    press(page, "blood", "high")  # corrected: entered last
    expect(steps(page)).to_have_text(["blood = high", "age = young"])
    page.get_by_role("button", name="Undo").click()
    expect(steps(page)).to_have_text(["age = young"])


@pytest.mark.parametrize("button", ["Undo", "Take back X-ray"])
def test_a_slip_in_the_last_result_of_a_round_is_corrected_in_that_round(visit_page, button):
    page = visit_page
    for feature, state in (("blood", "low"), ("consent", "given"), ("xray", "clear")):
        press(page, feature, state)
    ready(page)
    spent = page.locator("#money dd").nth(1).text_content()
    page.get_by_role("button", name=button).click()
    expect(page.locator("#progress")).to_contain_text("2 of 3 results are in.")
    ready(page)
    press(page, "xray", "shadow")
    expect(steps(page)).to_have_text(
        ["blood = low", "consent = given (same round)", "X-ray = shadow (same round)"]
    )
    ready(page)
    expect(page.locator("#money dd").nth(1)).to_have_text(spent)  # one visit


def test_a_key_that_is_pressed_twice_answers_one_test_of_a_round(visit_page):
    page = visit_page
    settle(page)
    page.clock.install(time=0)
    page.clock.pause_at(600_000)
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.clock.run_for(499)
    page.keyboard.press("1")
    assert findings(page) == [["blood", "low"]]
    page.clock.run_for(1)
    page.keyboard.press("1")
    assert findings(page) == [["blood", "low"], ["consent", "given"]]


def test_an_imagined_result_that_is_entered_belongs_to_the_round_that_is_asked_for(visit_page):
    page = visit_page
    field(page, "xray").get_by_label("What if X-ray were").select_option("shadow")
    page.get_by_role("button", name="Enter this result").click()
    expect(page.locator("#progress")).to_contain_text("1 of 3 results are in.")
    press(page, "blood", "low")
    expect(steps(page)).to_have_text(["X-ray = shadow", "blood = low (same round)"])
