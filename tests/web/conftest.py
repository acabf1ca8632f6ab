"""A real server in a process of its own, and a real browser."""

import os
from pathlib import Path

import httpx
import pytest
from helpers.browsers import find_browser
from helpers.serving import start_server, stop_server
from helpers.ward import VISITS

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# The timers of the page run faster: a person needs the time, a test does not.
FAST = """{ const wait = window.setTimeout.bind(window);
  window.setTimeout = (work, ms = 0, ...rest) => wait(work, ms / 5, ...rest); }"""
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="session")
def server():
    process, address = start_server()
    yield address
    stop_server(process)


@pytest.fixture
def api(server):
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def browser_path():
    path = find_browser()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium: apt-get install chromium-headless-shell")
        pytest.skip("no chromium here: apt-get install chromium-headless-shell")
    return path


@pytest.fixture(scope="session")
def browser(browser_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def page(browser, server):
    """A page that complains of nothing, and asks nobody but the server."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    complaints, requests = [], []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.set_default_timeout(20_000)
    opened.add_init_script(FAST)
    yield opened
    opened.close()
    assert [url for url in requests if not url.startswith((server, "data:", "blob:"))] == []
    # A request that was refused on purpose is no complaint of the page's.
    assert [c for c in complaints if "Failed to load resource" not in c] == []


@pytest.fixture
def visit_page(page, server, tmp_path):
    """The page with a problem whose first visit has three tests."""
    # Here: without playwright, the tests of the server still run.
    from helpers.browsing import open_page, ready, upload
    from playwright.sync_api import expect

    open_page(page, server)
    upload(page, tmp_path, "visits.toml", VISITS, "Lung ward")
    expect(page.locator("#say")).to_have_text("Acquire X-ray, blood and consent in one round.")
    ready(page)
    return page


@pytest.fixture
def violations():
    """What axe-core finds on a page that keeps people from using it, by all its rules or some."""

    def find(page, *rules):
        # Evaluated, not added as a script: the page's own policy would refuse that.
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE.read_text())
        options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
        found = page.evaluate("options => axe.run(document, options)", options)
        return [
            f"{entry['id']}: {node['target']} {node['failureSummary']}"
            for entry in found["violations"]
            if entry["impact"] in SERIOUS
            for node in entry["nodes"]
        ]

    return find
