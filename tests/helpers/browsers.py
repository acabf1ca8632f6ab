"""Which browser of this machine the pages are opened in."""

import shutil

# The first one draws no windows of its own: the tests of the page take two thirds of the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser():
    """Return the path of a browser, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)
