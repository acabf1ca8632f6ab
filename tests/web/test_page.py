"""The page in a real browser: a consultation."""

import re
from urllib.parse import unquote

import numpy as np
import pytest
from helpers.browsing import address_of, enter, field, open_page, ready, steps, upload
from helpers.labels import LABELLED
from playwright.sync_api import expect

from voilattice import load_problem
from voilattice.cases.tables import draw_cases
from voilattice.consultation.advice import advise

pytestmark = pytest.mark.slow


def consultation(problem, policy, case):
    """What the advice of the command line leads to for a case, and its bill."""
    known = {}
    while (advice := advise(problem, policy, known)).action == "acquire":
        known |= {f: case[f] for f in sorted(advice.features)}
    return known, advice


@pytest.mark.parametrize(("policy", "seed"), [("optimal", 1), ("greedy-la", 2), ("batch", 3)])
def test_a_whole_consultation_ends_with_the_bill_of_the_command_line(page, server, policy, seed):
    heart = load_problem("heart")
    drawn = draw_cases(heart.network, 1, np.random.default_rng(seed))
    case = {name: str(column[0]) for name, column in drawn.items()}
    known, advice = consultation(heart, policy, case)
    open_page(page, server, f"#problem=heart&policy={policy}")
    while page.locator("#bill").count() == 0:
        before = steps(page).count()
        together = page.locator("#advice fieldset").all()
        for asked in together:
            state = re.escape(case[asked.get_attribute("data-feature")])
            asked.locator("button.result").filter(has_text=re.compile(rf"(^|\d){state}$")).click()
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
    field(page, "age").get_by_label("age as a number").fill("46")
    page.keyboard.press("Enter")
    expect(steps(page)).to_have_count(1)
    ready(page)
    expect(steps(page).first).to_have_text("age = 46")
    expected = advise(load_problem("heart"), "optimal", {"age": 46})
    expect(page.locator("#say")).to_have_text(f"Acquire {', '.join(sorted(expected.features))}.")
    assert '["age",46]' in unquote(address_of(page))  # a number, not a text
    assert field(page, "cp").locator("input").count() == 0


def test_undo_not_available_and_the_address(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    first = page.locator("#say").inner_text()
    enter(page, "age", "<54.5")
    page.locator("#advice fieldset").first.get_by_text("not available").click()
    expect(steps(page)).to_have_count(2)
    expect(steps(page).nth(1)).to_contain_text("not available")
    gone = steps(page).nth(1).inner_text().split(":")[0]
    ready(page)
    offered = page.locator("#candidates .row .name").all_text_contents()
    assert all(gone != name.split("group")[0] for name in offered)
    expect(page.locator(f'#ignored [data-feature="{gone}"]')).to_contain_text("not available")
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
    expect(page.locator("#tree")).not_to_contain_text("tub")


def test_other_candidates_policies_and_stakes(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    page.locator("#candidates button").filter(has_text=re.compile("^thalgroup")).click()
    page.locator("#candidates fieldset button.result").first.click()
    expect(steps(page)).to_have_text(["thal = normal"])
    ready(page)
    page.locator("#policy").select_option("none")
    expect(page.locator("#say")).to_contain_text("Decide")
    page.locator("#policy").select_option("optimal")
    page.get_by_role("tab", name="What if").click()
    page.get_by_label("asymmetric, scaled").check()
    ready(page)
    page.locator("#expected").fill("0")
    expect(page.locator("#effect")).to_contain_text("Decide")
    assert "expected=0" in address_of(page)
    page.get_by_role("tab", name="Consultation").click()
    expect(page.locator("#say")).to_contain_text("Decide")


def test_an_address_that_is_wrong(page, server):
    page.goto(server + "#problem=nothing&policy=wrong&step=garbage")
    expect(page.locator("#error")).to_contain_text("no problem 'nothing'")
    expect(page.locator("#say")).to_have_text("There is no advice: see the error above.")


@pytest.mark.parametrize(
    ("damaged", "left_out"),
    [
        ("step=[%22xray%22", 'step=["xray"'),
        ("step=[%22xray%22,%22no%22]&step=[%22xray%22,%22yes%22]", 'step=["xray","yes"]'),
        ("scale=abc", "scale=abc"),
        ("policy=optimol", "policy=optimol"),
        ("price=[%22xray%22,-1]", 'price=["xray",-1]'),
        ("scale=%20", "scale= "),
        ("stp=[%22xray%22,%22no%22]", 'stp=["xray","no"]'),
        ("policy=greedy&policy=batch", "policy=batch"),
    ],
)
def test_what_cannot_be_read_in_an_address_is_said(page, server, damaged, left_out):
    open_page(page, server, f"#problem=asia&step=[%22smoke%22,%22yes%22]&{damaged}")
    expect(page.locator("#unread")).to_have_text(
        f"Part of the address cannot be read and is left out: {left_out}"
    )
    expect(steps(page).first).to_have_text("smoke = yes")
    page.locator("#policy").select_option("none")  # writes a whole address
    ready(page)
    expect(page.locator("#unread")).to_be_hidden()


def test_the_page_shows_labels_and_the_server_is_told_names(page, server, tmp_path):
    open_page(page, server)
    upload(page, tmp_path, "clinic.toml", LABELLED, "Chest clinic")
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
        field(page, feature).locator("button.result").filter(has_text=label).click()
    expect(steps(page)).to_have_text(
        ["Chest pain = no pain at all", "Resting ECG = +", "age = old"]
    )
    assert "asym" in address_of(page)
    expect(page.locator("#say")).to_have_text("Decide: diseased.")
    page.locator("#again").click()
    page.locator("#tab-lattice").click()
    expect(page.locator("#lattice-text")).to_contain_text("Chest pain")
    expect(page.locator("#lattice-levels .set.best")).to_contain_text(" CAD")
    page.locator("#tab-policy").click()
    expect(page.locator("#tree-list")).to_contain_text("Chest pain = no pain at all")
    expect(page.locator("#tree-text")).to_contain_text(" CAD")


def test_what_is_known_for_free_is_not_on_the_bill(page, server):
    open_page(page, server, "#problem=heart&policy=greedy")
    page.get_by_text("Already known, or not to be had").click()
    page.locator("#free").get_by_label("Feature").select_option("sex")
    page.locator("#free").get_by_label("Result").select_option("male")
    page.locator("#free").get_by_role("button", name="Add").click()
    expect(steps(page)).to_have_text(["sex = male (known for free)"])
    ready(page)
    expect(page.locator("#money dd").nth(1)).to_have_text("0.00")
    page.locator("#free").get_by_label("Feature").select_option("thal")
    page.locator("#free").get_by_label("Result").select_option("cannot be had")
    page.locator("#free").get_by_role("button", name="Add").click()
    expect(steps(page).nth(1)).to_have_text("thal: not available")
    ready(page)
    expect(page.locator('#ignored [data-feature="thal"]')).to_be_visible()
    page.get_by_role("button", name="It can be had after all").click()
    expect(steps(page)).to_have_count(1)
    page.get_by_role("button", name="Take back sex").click()
    expect(steps(page)).to_have_count(0)


def test_if_a_result_were_so_without_entering_it(page, server):
    open_page(page, server, "#problem=heart&policy=optimal")
    page.locator("#candidates button").filter(has_text=re.compile("^thalgroup")).click()
    page.locator("#candidates").get_by_label("What if thal were").select_option("normal")
    card = page.locator("#imagined")
    then = advise(load_problem("heart"), "optimal", {"thal": "normal"})
    expect(card).to_contain_text("If thal were normal")
    expect(card.locator("tr", has_text="Next step")).to_contain_text(
        f"Acquire ageAcquire {', '.join(sorted(then.features))}"
    )
    expect(card.locator("tr", has_text="absent").first).to_contain_text(
        f"{100 * then.posterior['absent']:.1f} %"
    )
    expect(steps(page)).to_have_count(0)
    page.reload()  # it is in the address
    expect(card).to_contain_text("If thal were normal")
    card.get_by_role("button", name="Close").click()
    expect(card).to_be_hidden()
    page.go_back()
    card.get_by_role("button", name="Enter this result").click()
    expect(steps(page)).to_have_text(["thal = normal"])
    expect(card).to_be_hidden()
