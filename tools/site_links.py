"""Check that every link inside a built site leads to a page, and to a place on it.

    python tools/site_links.py build/site

Links to other sites are not followed: nothing here needs a network.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The places of a page (``id``) and what it links to (``href``, ``src``)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.places.add(value)
            elif value and name in {"href", "src", "data"}:
                self.links.add(value)


def broken_links(site: Path) -> list[str]:
    """Return a line for each link inside a site that leads nowhere."""
    pages = {file.resolve(): _Page(file.read_text("utf-8")) for file in site.rglob("*.html")}
    found = []
    for file, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            goal = goal / "index.html" if goal.is_dir() else goal
            place = unquote(parts.fragment)
            if not goal.exists():
                found.append(f"{file.relative_to(site.resolve())}: {link}: no such file")
            elif place and goal in pages and place not in pages[goal].places:
                found.append(f"{file.relative_to(site.resolve())}: {link}: no such place")
    return found


def main(arguments: list[str]) -> int:
    """Print what is broken; the exit status says whether anything is."""
    site = Path(arguments[0])
    if not (site / "index.html").exists():
        print(f"{site}: no site here; `make docs` builds it", file=sys.stderr)
        return 2
    found = broken_links(site)
    print("\n".join(found) if found else f"{site}: every link inside leads somewhere")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
