"""The page in a real browser: files that are opened, saved and printed."""

import json
import re

import pytest
from helpers.browsing import address_of, enter, open_page, ready, steps, view
from helpers.serving import start_server, stop_server
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_an_uploaded_problem_with_markup_for_names(page, server, own_problem):
    open_page(page, server, "#problem=figure1")
    page.locator("#files").set_input_files([str(f) for f in sorted(own_problem.iterdir())])
    expect(page.locator("#problem option:checked")).to_contain_text("<b>Mine</b>")
    ready(page)
    expect(page.locator("#candidates")).to_contain_text("<script>alert(1)</script>")
    for name in ("Lattice", "Whole policy", "What if", "Network", "Cost curves"):
        view(page, name)
    expect(page.locator("#curves-picture svg.lines")).to_be_visible()
    view(page, "Whole policy")
    expect(page.locator("#tree-list li").first).to_be_visible()
    assert page.locator("script").count() == 1
    assert page.locator("img:not(#network-picture img)").count() == 0


def test_garbage_is_refused_and_nothing_is_lost(page, server, tmp_path):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    enter(page, "tub", "no")
    (tmp_path / "bad.toml").write_text("this is = not [toml")
    page.locator("#files").set_input_files(str(tmp_path / "bad.toml"))
    expect(page.locator("#error")).to_contain_text("bad.toml: not valid TOML")
    expect(steps(page)).to_have_count(1)


def drop(page, files):
    """Drop files on the page, as from the desktop."""
    contents = [[file.name, file.read_text()] for file in files]
    transfer = page.evaluate_handle(
        """(contents) => {
          const transfer = new DataTransfer();
          for (const [name, text] of contents) transfer.items.add(new File([text], name));
          return transfer;
        }""",
        contents,
    )
    for event in ("dragover", "drop"):
        page.dispatch_event("body", event, {"dataTransfer": transfer})


def test_files_are_dropped_on_the_page(page, server, own_problem, tmp_path):
    open_page(page, server, "#problem=figure1")
    drop(page, sorted(own_problem.iterdir()))
    expect(page.locator("#title")).to_contain_text("<b>Mine</b>")
    ready(page)
    expect(page.locator("body")).not_to_have_class("dropping")
    notes = tmp_path / "notes.json"
    notes.write_text('{"a": 1}')
    drop(page, [notes])
    expect(page.locator("#error")).to_contain_text("problem file (.toml)")
    expect(page.locator("#title")).to_contain_text("<b>Mine</b>")


def test_a_consultation_can_be_saved(page, server):
    open_page(page, server, "#problem=asia&policy=greedy-la")
    enter(page, "tub", "no")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    with open(download.value.path()) as file:
        record = json.load(file)
    assert record["found"] == [{"feature": "tub", "result": "no"}]
    assert record["advice"]["action"] == "acquire"
    name = download.value.suggested_filename
    assert re.fullmatch(r"[a-z-]+-20\d\d-\d\d-\d\d\.json", name), name


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


def test_a_saved_consultation_is_opened_again_even_by_another_server(
    page, server, tmp_path, browser, own_problem
):
    open_page(page, server, "#problem=figure1")
    page.locator("#files").set_input_files([str(f) for f in sorted(own_problem.iterdir())])
    expect(page.locator("#title")).to_contain_text("<b>Mine</b>")
    ready(page)
    page.locator("#candidates button").first.click()
    page.locator("#candidates fieldset button.result").first.click()
    expect(steps(page)).to_have_count(1)
    ready(page)
    view(page, "What if")
    page.locator("#prices input").first.fill("77")
    expect(page.locator("#changed")).to_be_visible()
    view(page, "Consultation")
    ready(page)
    found, say = steps(page).all_text_contents(), page.locator("#say").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    saved = tmp_path / "saved.json"
    download.value.save_as(saved)
    process, address = start_server()
    other = browser.new_page()
    try:
        open_page(other, address, "#problem=asia&policy=greedy")
        other.locator("#files").set_input_files(str(saved))
        expect(other.locator("#title")).to_contain_text("<b>Mine</b>")
        ready(other)
        assert steps(other).all_text_contents() == found
        assert other.locator("#say").inner_text() == say
        expect(other.locator("#changed-text")).to_contain_text("costs 77.00")
    finally:
        other.close()
        stop_server(process)


def test_a_link_to_lost_files_says_what_to_do_and_goes_on_with_them(page, server, own_problem):
    open_page(page, server, "#problem=figure1")
    page.locator("#files").set_input_files([str(f) for f in sorted(own_problem.iterdir())])
    expect(page.locator("#title")).to_contain_text("<b>Mine</b>")
    ready(page)
    name = re.search("problem=(upload-[^&]+)", address_of(page)).group(1)
    lost = f"{name[:-4]}0000"
    page.evaluate("sessionStorage.clear()")
    page.goto(f"{server}#problem={lost}&policy=greedy")
    expect(page.locator("#error")).to_contain_text("no longer has the files of this problem")
    expect(page.locator("#say")).to_contain_text("There is no advice")
    expect(page.locator("#candidates li")).to_have_count(0)


def test_the_sheet_that_is_printed_has_title_date_policy_bill_and_certificate(page, server):
    open_page(page, server, '#problem=asia&policy=optimal&step=["smoke","yes"]&step=["xray","no"]')
    page.emulate_media(media="print")
    sheet = page.locator("#sheet")
    expect(sheet).to_be_visible()
    expect(page.locator("header")).to_be_hidden()
    expect(page.locator("#candidates")).to_be_hidden()
    title = page.locator("#title").text_content()
    expect(sheet.locator("h1")).to_have_text(title)
    expect(sheet).to_contain_text(re.compile(r"20\d\d at .* Policy: optimal\."))
    expect(sheet.locator(".certificate")).to_contain_text("proved optimal")
    bill = sheet.locator("table", has_text="The bill")
    expect(bill.locator("tr", has_text="smoke")).to_contain_text("consultation 10.00")
    expect(bill.locator("tr", has_text="smoke")).to_contain_text("11.00")
    expect(bill.locator("tr", has_text="xray")).to_contain_text("8.00")
    expect(bill.locator("tr", has_text="Spent on features")).to_contain_text("19.00")
    assert page.evaluate("document.documentElement.scrollHeight") < 1400  # a page of paper
