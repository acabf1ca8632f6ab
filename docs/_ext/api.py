"""The reference of the Python names: a fence of names becomes their documentation.

A page says which names it documents::

    ```{api} voilattice
    load_problem
    Problem
    ```

`read_names` finds the fences; the site makes a table of summaries and the documentation of each
name from them, and a test holds them against the public names of the package.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.ext.napoleon.docstring import GoogleDocstring

_FENCE = re.compile(r"^```\{api\} (\S+)\n(.*?)^```$", re.M | re.S)
# A field of a data class and its comment, which may go on in the next lines.
_FIELD = re.compile(r"^    (\w+): [^\n]*?  # ((?!noqa|type:)[^\n]*(?:\n    # [^\n]*)*)", re.M)
# Made by scikit-learn, the same for every classifier.
_EXCLUDED = "set_fit_request, set_predict_request, set_score_request, set_partial_fit_request"


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _expand)
    app.add_role("name", _link_name)
    app.connect("autodoc-process-signature", _shorten)
    app.connect("autodoc-process-docstring", _add_fields, priority=300)
    app.connect("autodoc-process-docstring", _begin_examples, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _set_formulas)
    # The text of a property before a colon is no type.
    GoogleDocstring._consume_inline_attribute = lambda self: ("", self._consume_to_end())
    app.connect("missing-reference", _find_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read_names(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the module and the names of each fence of a page."""
    for module, names in _FENCE.findall(text):
        yield module, names.split()


@cache
def _public_names(pages: Path) -> dict[str, str]:
    """Return the full name of each name that the pages document once, by its short name."""
    full: dict[str, list[str]] = {}
    for page in sorted(pages.glob("reference/api/*.md")):
        for module, names in read_names(page.read_text("utf-8")):
            for name in names:
                full.setdefault(name, []).append(f"{module}.{name}")
    return {name: found[0] for name, found in full.items() if len(found) == 1}


def _link_name(
    role: str, raw: str, text: str, line: int, inliner: Any, *_: object
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Make `name` in a docstring a link if it is public, and code if it is not."""
    env = inliner.document.settings.env
    full = _public_names(Path(env.app.srcdir)).get(text)
    code = nodes.literal(text, text, classes=["py"])
    if full is None:
        return [code], []
    link = pending_xref(
        "", code, refdomain="py", reftype="obj", reftarget=full, refdoc=env.docname, refwarn=True
    )
    return [link], []


def _expand(app: Any, docname: str, source: list[str]) -> None:
    source[0] = _FENCE.sub(lambda found: _describe(found[1], found[2].split()), source[0])


def _describe(module: str, names: list[str]) -> str:
    lines = ["```{eval-rst}", f".. currentmodule:: {module}", ""]
    if len(names) > 1:
        lines += [".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    for name in names:
        found = pkgutil.resolve_name(f"{module}:{name}")
        if not inspect.isclass(found):
            kind = "function" if callable(found) else "data"
            lines += [f".. auto{kind}:: {name}", *["   :no-value:"] * (kind == "data"), ""]
            continue
        kind = "exception" if issubclass(found, BaseException) else "class"
        lines += [f".. auto{kind}:: {name}", "   :members:", f"   :exclude-members: {_EXCLUDED}"]
        lines += ["   :show-inheritance:"] if kind == "exception" else []
        lines += [""]
    return "\n".join([*lines, "```"])


def _shorten(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Write defaults that a class makes as an ellipsis: otherwise no type is a link."""
    return signature and signature.replace("<factory>", "..."), returns


def _add_fields(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Describe the fields of a data class by their comments, where its docstring does not."""
    if what != "class" or not is_dataclass(obj):
        return
    said = set(lines)
    found = {
        field: " ".join(part.strip().lstrip("#").strip() for part in comment.splitlines())
        for field, comment in _FIELD.findall(inspect.getsource(obj))
        if not field.startswith("_") and field not in said
    }
    if not found:
        return
    added = [line for field, text in found.items() for line in (field, f"    {text}")]
    if "Parameters" in lines:
        place = lines.index("Parameters") + 2
        lines[place:place] = added
    else:
        end = next((n for n, line in enumerate(lines) if line.startswith(">>>")), len(lines))
        lines[end:end] = ["", "Parameters", "----------", *added, ""]


def _begin_examples(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Give the example at the end of a docstring a heading, if there are sections before it."""
    sections = [place for place, line in enumerate(lines) if line.startswith("---")]
    starts = [place for place, line in enumerate(lines) if line.startswith(">>>")]
    if sections and starts and not any(line.startswith("Examples") for line in lines):
        lines[starts[0] : starts[0]] = ["Examples", "--------"]


def _set_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep indented lines of a docstring as they are: they are formulas or drawings."""
    if what in {"module", "class", "function", "method", "exception", "property", "attribute"}:
        for place in range(len(lines) - 1, 0, -1):
            before, line = lines[place - 1], lines[place]
            starts = line.startswith("    ") and not before.strip()
            text = next((x for x in reversed(lines[:place]) if x.strip()), "")
            if starts and text and not text.startswith((" ", ":", "..", "-", "*")):
                lines[place:place] = ["::", ""]


def _find_elsewhere(app: Any, env: Any, node: nodes.Element, text: nodes.Element) -> Any:
    """Link a type to the place where the name is documented, whatever module it comes from.

    A name of another package, or one that is not public, stays a name.
    """
    if node.get("refdomain") != "py" or node["reftype"] not in {"class", "obj", "data", "exc"}:
        return None
    domain = env.get_domain("py")
    goal = node["reftarget"]
    places = [goal, f"{node.get('py:module')}.{goal}"]
    for place in [p for p in places if p.startswith("voilattice.")]:
        try:
            found = pkgutil.resolve_name(place)
        except (ImportError, AttributeError, ValueError):
            continue
        for documented in _documented(domain):
            if _resolve(documented) is found:
                return domain.resolve_xref(
                    env, node["refdoc"], app.builder, "obj", documented, node, text
                )
    last = goal.rpartition(".")[2]
    same = [name for name in _documented(domain) if name.rpartition(".")[2] == last]
    if len(same) == 1 and goal in {last, same[0]}:
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", same[0], node, text)
    return text


def _documented(domain: Any) -> list[str]:
    return [n for n, o in domain.objects.items() if o.objtype in {"class", "exception", "function"}]


def _resolve(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(pkgutil.resolve_name(module), last, None)
