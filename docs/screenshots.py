"""Take the pictures of the page that the README shows: ``python docs/screenshots.py [FOLDER]``.

With a folder, every view is taken, wide and narrow, to be looked at.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.browsers import find_browser
from helpers.serving import start_server, stop_server

IMAGES = Path(__file__).parent / "images"
FOUND = 'step=["age","<54.5"]&step=["cp","asymptomatic"]'
END = '&step=["sex","male"]&step=["thal","reversible"]'
VIEWS = {
    "consultation": f"#problem=heart&policy=optimal&{FOUND}",
    "decision": f"#problem=heart&policy=optimal&{FOUND}{END}",
    "imagined": '#problem=heart&policy=optimal&if=["thal","normal"]',
    "batch": "#problem=hepatitis&policy=batch&kind=asymmetric&expected=800",
    "what-if": f'#problem=heart&policy=optimal&{FOUND}&price=["sex",60]&scale=2&view=whatif',
    "lattice": "#problem=asia&policy=optimal&view=lattice",
    "lattice-by-level": "#problem=thyroid&policy=greedy-la&view=lattice",
    "policy": "#problem=heart&policy=optimal&view=policy",
    "curves": "#problem=asia&policy=optimal&view=curves",
    "network": "#problem=asia&policy=optimal&view=network",
    "error": "#problem=nothing",
}


def take(page: Page, address: str, view: str, file: Path) -> None:
    """Open a view, wait until it is whole, and take its picture."""
    page.goto("about:blank")
    page.goto(address + VIEWS[view])
    if view == "error":
        page.locator("#error:not([hidden])").wait_for()
    else:
        page.locator("#advice[aria-busy=false]").wait_for(state="attached", timeout=60_000)
        page.wait_for_load_state("networkidle")
        expect(page.locator("progress")).to_have_count(0, timeout=60_000)
        if (compare := page.locator("#compare")).is_visible():  # a machine that is slow
            compare.click()
            page.wait_for_load_state("networkidle")
        expect(page.locator("[data-settling]")).to_have_count(0)
    page.screenshot(path=str(file), full_page=True)


def shrink(file: Path) -> None:
    """Write a picture again with few colours: flat surfaces need no more."""
    with Image.open(file) as picture:
        picture.quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def main() -> None:
    """Take the pictures."""
    process, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_browser(), args=["--no-sandbox"]
            )
            wide = browser.new_page(viewport={"width": 1180, "height": 640})
            if len(sys.argv) > 1:
                folder = Path(sys.argv[1])
                folder.mkdir(parents=True, exist_ok=True)
                narrow = browser.new_page(viewport={"width": 390, "height": 844})
                for view in VIEWS:
                    take(wide, address, view, folder / f"{view}-wide.png")
                    take(narrow, address, view, folder / f"{view}-narrow.png")
            else:
                IMAGES.mkdir(exist_ok=True)
                for view in ("consultation", "what-if", "policy"):
                    take(wide, address, view, IMAGES / f"{view}.png")
                    shrink(IMAGES / f"{view}.png")
            browser.close()
    finally:
        stop_server(process)


if __name__ == "__main__":
    main()
