"""What a page of the site has that the same page on a code host has not.

Pages link to files outside ``docs/`` (`../src/...`). On the site these become downloads, except the
README of a built-in problem, which is a section of `reference/built-in-problems`. The pages that
the index of a folder links to are in the navigation, in that order.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(((?:\.\./)+[^)#\s]+)\)")

_FOLDERS = ("start", "tutorials", "notebooks", "how-to")
_PAGE = re.compile(r"\]\(([\w-]+)\.md\)")  # beside the index
_TOCTREE = """
```{{toctree}}
:hidden:
:maxdepth: 1

{pages}
```
"""


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _adapt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _adapt(app: Any, docname: str, source: list[str]) -> None:
    docs = Path(app.srcdir)
    here = (docs / docname).parent

    def replace(found: re.Match[str]) -> str:
        text, path = found.groups()
        goal = (here / path).resolve()
        if goal.is_relative_to(docs) or not goal.is_file():
            return found[0]
        up = "../" * docname.count("/")
        if goal.name == "README.md" and goal.parent.parent.name == "problems":
            return f"[{text}]({up}reference/built-in-problems.md#{goal.parent.name})"
        return "{download}`" + f"{text.replace('`', '')} <{path}>`"

    source[0] = _LINK.sub(replace, source[0])
    folder, _, name = docname.rpartition("/")
    if folder in _FOLDERS and name == "index":
        pages = dict.fromkeys(_PAGE.findall(source[0]))
        source[0] += _TOCTREE.format(pages="\n".join(pages))
