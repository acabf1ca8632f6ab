"""The page in a real browser, against a real server."""

import json
import re

import pytest
from helpers.labels import LABELLED
from helpers.serving import start_server, stop_server
from helpers.ward import WARD
from playwright.sync_api import expect

from voilattice import load_problem
from voilattice.policy.advice import advise
from voilattice.policy.simulation import draw_cases

pytestmark = pytest.mark.slow

expect.set_options(timeout=30_000)  # a loaded machine is slow, not wrong


def ready(page):
    expect(page.locator("#advice")).to_have_attribute("aria-busy", "false")


def open_page(page, server, address=""):
    page.goto(server + address)
    page.locator("#say").wait_for(state="attached")
    ready(page)


def steps(page):
    return page.locator("#history li")


def enter(page, feature, state):
    before = steps(page).count()
    page.locator(f'#advice fieldset[data-feature="{feature}"] button.result').filter(
        has_text=re.compile(rf"(^|\d){re.escape(state)}$")
    ).click()
    expect(steps(page)).to_have_count(before + 1)
    ready(page)


def consultation(problem, policy, case):
    """What the advice of the command line leads to for a case, and its bill."""
    known = {}
    while (advice := advise(problem, policy, known)).action == "acquire":
        known |= {f: case[f] for f in sorted(advice.features)}
    return known, advice


@pytest.mark.parametrize(("policy", "seed"), [("optimal", 1), ("greedy-la", 2), ("batch", 3)])
def test_a_whole_consultation_ends_with_the_bill_of_the_command_line(page, server, policy, seed):
    heart = load_problem("heart")
    import numpy as np

    drawn = draw_cases(heart.network, 1, np.random.default_rng(seed))
    case = {name: str(column[0]) for name, column in drawn.items()}
    known, advice = consultation(heart, policy, case)
    open_page(page, server, f"#problem=heart&policy={policy}")
    while page.locator("#bill").count() == 0:
        before = steps(page).count()
        together = page.locator("#advice fieldset").all()
        for field in together:
            state = re.escape(case[field.get_attribute("data-feature")])
            field.locator("button.result").filter(has_text=re.compile(rf"(^|\d){state}$")).click()
        expect(steps(page)).to_have_count(before + len(together))
        ready(page)
    expect(page.locator("#say")).to_have_text(f"Decide: {advice.decision}.")
    expect(page.locator("#decisions li")).to_have_count(len(heart.decisions))
    chosen = page.locator("#decisions .chosen span").first
    expect(chosen).to_have_text(advice.decision)
    expect(page.locator("#posterior .chosen")).to_have_count(0)
    amounts = page.locator("#bill dd").all_text_contents()
    assert amounts == [f"{x:,.2f}" for x in (advice.spent, advice.emc, advice.spent + advice.emc)]
    found = dict(line.split(" = ", 1) for line in steps(page).all_text_contents())
    assert found == known


def test_a_number_can_be_entered_for_a_feature_with_bins(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    field = page.locator('#advice fieldset[data-feature="age"]')
    field.get_by_label("age as a number").fill("46")
    page.keyboard.press("Enter")
    expect(steps(page)).to_have_count(1)
    ready(page)
    expect(steps(page).first).to_have_text("age = 46")
    expected = advise(load_problem("heart"), "optimal", {"age": 46})
    expect(page.locator("#say")).to_have_text(f"Acquire {', '.join(sorted(expected.features))}.")
    assert page.locator('#advice fieldset[data-feature="cp"] input').count() == 0


def test_undo_not_available_and_the_address(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    first = page.locator("#say").inner_text()
    enter(page, "age", "<54.5")
    page.locator("#advice fieldset").first.get_by_text("not available").click()
    expect(steps(page)).to_have_count(2)
    expect(steps(page).nth(1)).to_contain_text("not available")
    gone = steps(page).nth(1).inner_text().split(":")[0]
    ready(page)
    offered = page.locator("#candidates .row > span:first-child").all_text_contents()
    assert all(gone != name.split("group")[0] for name in offered)
    page.reload()  # the address has it all
    expect(steps(page)).to_have_count(2)
    ready(page)
    page.get_by_role("button", name="Undo").click()
    expect(steps(page)).to_have_count(1)
    page.go_back()
    expect(steps(page)).to_have_count(2)
    page.get_by_role("button", name="Start again").click()
    expect(steps(page)).to_have_count(0)
    expect(page.locator("#say")).to_have_text(first)


def test_a_double_click_is_one_result(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    page.locator("#advice button.result").first.dblclick()
    expect(steps(page)).to_have_count(1)
    ready(page)
    expect(steps(page)).to_have_count(1)


def test_impossible_results_are_shown_with_the_way_back(page, server):
    page.goto(server + '#problem=asia&policy=greedy&step=["nope","x"]')
    expect(page.locator("#error")).to_contain_text("no feature 'nope'")
    expect(steps(page)).to_have_text(["nope = x"])
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#error")).to_be_hidden()
    expect(steps(page)).to_have_count(0)


def test_nothing_of_another_problem_is_left(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la&view=policy")
    expect(page.locator("#tree-list li").first).to_be_visible()
    page.locator("#problem").select_option("thyroid")
    expect(page.locator("#tree-list")).not_to_contain_text("tub")


def test_other_candidates_policies_and_stakes(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    page.locator("#candidates button").filter(has_text=re.compile("^thalgroup")).click()
    page.locator("#candidates fieldset button.result").first.click()
    expect(steps(page)).to_have_text(["thal = normal"])
    ready(page)
    page.locator("#policy").select_option("none")
    expect(page.locator("#say")).to_contain_text("Decide")
    page.locator("#policy").select_option("optimal")
    page.locator("#kind").select_option("asymmetric")
    ready(page)
    page.locator("#expected").fill("0")
    expect(page.locator("#say")).to_contain_text("Decide")
    assert "expected=0" in page.url


def test_the_keyboard_alone(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    expect(steps(page)).to_have_text(["tub = no"])
    ready(page)
    page.keyboard.press("n")
    expect(steps(page)).to_have_count(2)
    ready(page)
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(steps(page)).to_have_count(0)
    page.locator("#tab-consult").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-lattice")).to_be_focused()
    expect(page.locator("#lattice-picture svg")).to_be_visible()
    page.locator("#lattice-picture svg .node").first.focus()
    expect(page.locator("#lattice-picture svg")).to_have_class(re.compile("picked"))
    # Every control can be reached and has a name.
    for control in page.locator("button:visible, select:visible, input:visible").all():
        assert control.evaluate(
            "e => (e.labels && e.labels.length ? e.labels[0].innerText : e.innerText).trim()"
        )


def test_lattice_policy_and_curves(page, server):
    open_page(page, server, "#problem=asia&policy=optimal")
    page.get_by_role("tab", name="Lattice").click()
    expect(page.locator("#lattice-text")).to_contain_text("36 irreducible sets of 64")
    title = page.locator("#lattice-picture .node.best title").text_content()
    assert re.search(r"EVI [\d.]+, cost [\d.]+, benefit [\d.]+", title)
    assert page.locator("#lattice-picture .edge.way").count() > 0
    page.get_by_role("tab", name="Whole policy").click()
    expect(page.locator("#tree-text")).to_contain_text(
        "Proved optimal: no policy costs less than 62.46 on average."
    )
    folded = page.locator("#tree-list details").first
    folded.locator("summary").first.click()
    expect(folded).not_to_have_attribute("open", "")
    page.get_by_role("tab", name="Cost curves").click()
    expect(page.locator("#curves-picture svg")).to_be_visible()


def test_only_the_optimum_is_called_proved(page, server):
    open_page(page, server, "#problem=asia&policy=greedy&view=policy")
    expect(page.locator("#tree-text")).to_contain_text("greedy: expected total cost 110.00")
    expect(page.locator("#tree-text")).not_to_contain_text("optimal")


def test_a_large_lattice_is_shown_by_level(page, server):
    open_page(page, server, "#problem=heart&policy=greedy&view=lattice")
    expect(page.locator("#lattice-picture svg .bar").first).to_be_visible()


def test_an_uploaded_problem_with_markup_for_names(page, server, own_problem):
    open_page(page, server, "#problem=figure1")
    page.locator("#files").set_input_files([str(f) for f in sorted(own_problem.iterdir())])
    expect(page.locator("#problem option:checked")).to_contain_text("<b>Mine</b>")
    ready(page)
    expect(page.locator("#candidates")).to_contain_text("<script>alert(1)</script>")
    for view in ("Lattice", "Whole policy", "Cost curves"):
        page.get_by_role("tab", name=view).click()
    expect(page.locator("#curves-picture svg")).to_be_visible()
    page.get_by_role("tab", name="Whole policy").click()
    expect(page.locator("#tree-list li").first).to_be_visible()
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0


def test_garbage_is_refused_and_nothing_is_lost(page, server, tmp_path):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    enter(page, "tub", "no")
    (tmp_path / "bad.toml").write_text("this is = not [toml")
    page.locator("#files").set_input_files(str(tmp_path / "bad.toml"))
    expect(page.locator("#error")).to_contain_text("bad.toml: not valid TOML")
    expect(steps(page)).to_have_count(1)


def test_a_consultation_can_be_saved(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    enter(page, "tub", "no")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    with open(download.value.path()) as file:
        record = json.load(file)
    assert record["found"] == [{"feature": "tub", "result": "no"}]
    assert record["advice"]["action"] == "acquire"


def test_a_phone_shows_all_without_scrolling_sideways(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, server, "#problem=hepatitis&policy=greedy-la")
    for view in ("Consultation", "Whole policy", "Lattice"):
        page.get_by_role("tab", name=view).click()
        page.wait_for_timeout(300)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, view
    page.get_by_role("tab", name="Consultation").click()
    box = page.locator("#advice button.result").first.bounding_box()
    assert box["height"] >= 36


def test_an_address_that_is_wrong(page, server):
    page.goto(server + "#problem=nothing&policy=wrong&step=garbage")
    expect(page.locator("#error")).to_contain_text("no problem 'nothing'")


def test_a_server_started_anew_goes_on_with_an_upload(browser, own_problem):
    process, address = start_server()
    page = browser.new_page()
    page.goto(address)
    page.locator("#files").set_input_files([str(f) for f in sorted(own_problem.iterdir())])
    expect(page.locator("#problem option:checked")).to_contain_text("<b>Mine</b>")
    ready(page)
    port = address.rsplit(":", 1)[1].strip("/")
    stop_server(process)
    process, _ = start_server("--port", port)
    try:
        page.reload()
        expect(page.locator("#candidates")).to_contain_text("<script>alert(1)</script>")
    finally:
        page.close()
        stop_server(process)


def test_the_page_shows_labels_and_the_server_is_told_names(page, server, tmp_path):
    (tmp_path / "clinic.toml").write_text(LABELLED)
    open_page(page, server)
    page.locator("#files").set_input_files(str(tmp_path / "clinic.toml"))
    expect(page.locator("#target")).to_have_text("What is Heart disease?")
    ready(page)
    page.locator("#policy").select_option("markov-blanket")
    expect(page.locator("#say")).to_have_text("Acquire Chest pain, Resting ECG and age.")
    expect(page.locator("#candidates")).to_contain_text("Chest pain")
    expect(page.locator("#posterior")).to_contain_text("diseased")
    expect(page.locator("#money")).to_contain_text("120.00 CAD")
    expect(page.locator("#currency")).to_have_text("Amounts are in CAD.")
    expect(page.locator("#advice")).to_contain_text("What did Chest pain show?")
    for feature, label in (("cp", "no pain at all"), ("ecg", "+"), ("age", "old")):
        field = page.locator(f'#advice fieldset[data-feature="{feature}"]')
        field.locator("button.result").filter(has_text=label).click()
    expect(steps(page)).to_have_text(
        ["Chest pain = no pain at all", "Resting ECG = +", "age = old"]
    )
    assert "asym" in page.url
    expect(page.locator("#say")).to_have_text("Decide: diseased.")
    page.locator("#again").click()
    page.locator("#tab-lattice").click()
    expect(page.locator("#lattice-text")).to_contain_text("Chest pain")
    expect(page.locator("#lattice-top caption")).to_contain_text("(CAD)")
    page.locator("#tab-policy").click()
    expect(page.locator("#tree-list")).to_contain_text("Chest pain = no pain at all")
    expect(page.locator("#tree-text")).to_contain_text(" CAD")


@pytest.fixture
def ward_page(page, server, tmp_path):
    """The page with a problem that has constraints, limits, rounds and its own decisions."""
    (tmp_path / "ward.toml").write_text(WARD)
    open_page(page, server)
    page.locator("#files").set_input_files(str(tmp_path / "ward.toml"))
    expect(page.locator("#target")).to_have_text("What is ill?")
    ready(page)
    return page


def press(page, feature, state):
    field = page.locator(f'#advice fieldset[data-feature="{feature}"]')
    field.locator("button.result").filter(has_text=state).click()


def left_of_the_limits(page):
    return page.locator("#money dd").all_text_contents()[3:]


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
    expect(page.locator("#rules-card")).to_be_hidden()
    assert left_of_the_limits(page) == []


def test_results_of_one_round_are_entered_and_paid_for_together(ward_page):
    page = ward_page
    expect(page.locator("#say")).to_have_text("Acquire X-ray and consent in one round.")
    press(page, "xray", "shadow")
    expect(steps(page)).to_have_count(0)
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


def test_a_part_of_a_round_may_not_be_available(ward_page):
    page = ward_page
    press(page, "xray", "shadow")
    page.locator('#advice fieldset[data-feature="consent"]').get_by_text("not available").click()
    expect(steps(page)).to_have_text(["X-ray = shadow", "consent: not available"])
    ready(page)
    expect(page.locator("#advice")).to_contain_text("biopsy needs consent, which cannot be had.")
    assert left_of_the_limits(page) == ["95.00 CAD", "3", "2"]


def test_the_other_views_show_rules_too(ward_page):
    page = ward_page
    page.get_by_role("tab", name="Lattice").click()
    expect(page.locator("#lattice-text")).to_contain_text("8 of them can be acquired as they are")
    expect(page.locator("#lattice-picture .barred")).to_have_count(8)
    expect(page.locator("#lattice-top")).to_contain_text("biopsy (not feasible)")
    page.get_by_role("tab", name="Whole policy").click()
    expect(page.locator("#tree-text")).to_contain_text("1.99 rounds on average.")
    expect(page.locator("#tree-list")).to_contain_text("buy X-ray, consent in one round for 26.00")


def test_rules_fit_a_phone(ward_page):
    page = ward_page
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_page_begins_with_the_problem_of_the_command_line(browser):
    process, address = start_server("asia")
    page = browser.new_page()
    try:
        open_page(page, address)
        expect(page.locator("#problem")).to_have_value("asia")
        assert "problem=heart" not in page.url
    finally:
        page.close()
        stop_server(process)
