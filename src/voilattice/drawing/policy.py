"""Drawings of a policy: text for a terminal, SVG, a page that folds and unfolds, DOT for Graphviz.

A policy can have millions of paths. The tree is unfolded from the root, the most probable node
first, until there are `MAX_DRAWN` nodes. A node that stays folded shows the number of its paths.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from voilattice.drawing.pages import page
from voilattice.drawing.svg import INK, LINE, MUTED, picture, write_text
from voilattice.policy.policy import Acquisition, Leaf, Node, Policy
from voilattice.wording import count_noun, format_amount

__all__ = [
    "MAX_DRAWN",
    "policy_body",
    "policy_dot",
    "policy_html",
    "policy_svg",
    "policy_text",
    "policy_tree",
]

MAX_DRAWN = 200

MARGIN = 20
ROW = 34
BOX_HEIGHT = 24
HEADING_LINE = 18  # what a line of the heading takes
COLUMN_GAP = 28
CHARACTER = 6.9  # of the 12 px type face, on average

BOXES = {  # of acquisitions and of decisions
    "buy": 'class="buy" fill="#eef3fa" stroke="#1f3a5f"',
    "say": 'class="say" fill="#fff6e5" stroke="#b5510a"',
}

PAGE_STYLE = """
ul { list-style: none; margin: .3rem 0 0; padding-left: 1.2rem; }
li { border-left: 1px solid #9db4cf; padding-left: .6rem; margin: .15rem 0; }
small { color: #5b6675; }
i { font-style: normal; background: #eef3fa; padding: 0 .3rem; border-radius: 4px; }
summary { cursor: pointer; }
""" + "".join(f"li.p{k} {{ border-left-width: {k + 1}px; }}\n" for k in range(1, 10))


@dataclass(slots=True)
class _Drawn:
    node: Node | None  # None: outcomes that are not drawn one by one
    number: int
    outcome: str
    probability: float
    n_paths: int = 0  # below the node
    children: list[_Drawn] = field(default_factory=list)

    @property
    def is_folded(self) -> bool:
        return isinstance(self.node, Acquisition) and not self.children


def policy_text(policy: Policy, *, max_nodes: int = MAX_DRAWN) -> Iterator[str]:
    r"""Return the policy as the lines of a tree.

    >>> import voilattice
    >>> batch = voilattice.build_policy(voilattice.load_problem("figure3"), "batch")
    >>> print("\n".join(policy_text(batch)))
    buy X3, X4 for 5.00
    ├─ X3 = T, X4 = T (13.7 %): buy X2 for 2.00
    │  ├─ X2 = T (10.3 %): decide T, risk 18.94 (T 62.1 %)
    │  └─ X2 = F (3.4 %): decide F, risk 18.23 (F 63.5 %)
    ├─ X3 = T, X4 = F (45.0 %): decide F, risk 6.00 (F 88.0 %)
    ├─ X3 = F, X4 = T (6.3 %): decide F, risk 10.71 (F 78.6 %)
    └─ X3 = F, X4 = F (35.0 %): decide T, risk 6.29 (T 87.4 %)
    """

    def lines(drawn: _Drawn, prefix: str) -> Iterator[str]:
        for place, child in enumerate(drawn.children):
            last = place == len(drawn.children) - 1
            head = f"{prefix}{'└─' if last else '├─'} {child.outcome} ({_percent(child)})"
            yield f"{head}: {_sentence(policy, child)}"
            yield from lines(child, prefix + ("   " if last else "│  "))

    root = _unfold(policy, max_nodes)
    yield _sentence(policy, root)
    yield from lines(root, "")


def policy_dot(policy: Policy, *, max_nodes: int = MAX_DRAWN) -> Iterator[str]:
    """Return the policy as the lines of a Graphviz file."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    yield f"digraph {quoted(policy.name)} {{"
    yield f"  label={quoted(_title(policy))}; labelloc=t;"
    yield "  rankdir=LR; node [shape=box, fontname=Helvetica]; edge [fontname=Helvetica];"
    stack, n = [(_unfold(policy, max_nodes), "n0")], 0
    while stack:
        drawn, name = stack.pop()
        shape = "" if isinstance(drawn.node, Acquisition) else ", shape=ellipse"
        yield f"  {name} [label={quoted(_sentence(policy, drawn))}{shape}];"
        for child in drawn.children:
            n += 1
            label = quoted(f"{child.outcome} ({_percent(child)})")
            yield f"  {name} -> n{n} [label={label}, penwidth={0.5 + 4 * child.probability:.2f}];"
            stack.append((child, f"n{n}"))
    yield "}"


def policy_svg(policy: Policy, *, max_nodes: int = MAX_DRAWN) -> str:
    """Return the policy as an SVG picture, from left to right; likelier branches are wider.

    A heading says what the policy costs and, of an optimum, how sure that is.
    """
    root = _unfold(policy, max_nodes)
    columns: list[float] = []
    rows: dict[int, float] = {}
    n_leaves = 0

    def place(drawn: _Drawn, depth: int) -> None:
        nonlocal n_leaves
        if depth == len(columns):
            columns.append(0.0)
        columns[depth] = max(columns[depth], _width(policy, drawn))
        for child in drawn.children:
            place(child, depth + 1)
        if drawn.children:
            rows[id(drawn)] = sum(rows[id(child)] for child in drawn.children) / len(drawn.children)
        else:
            rows[id(drawn)] = float(n_leaves)
            n_leaves += 1

    place(root, 0)
    cost = _amount(policy, policy.expected_total_cost)
    heading = [f"Policy {policy.name}: expected total cost {cost}", _rounds(policy), policy.verdict]
    heading = [line for line in heading if line]
    top = MARGIN + HEADING_LINE * len(heading)
    lefts = [MARGIN + sum(columns[:d]) + d * COLUMN_GAP for d in range(len(columns))]
    shapes = [
        write_text(
            MARGIN, MARGIN + HEADING_LINE * k + 6, line,
            kind="found" if k else "heading", fill=MUTED if k else INK, weight=400 if k else 600,
        )
        for k, line in enumerate(heading)
    ]  # fmt: skip

    def draw(drawn: _Drawn, depth: int) -> None:
        x, y = lefts[depth], top + ROW * rows[id(drawn)]
        kind = "buy" if isinstance(drawn.node, Acquisition) else "say"
        found = f"{drawn.outcome} ({_percent(drawn)})" if drawn.outcome else ""
        head = CHARACTER * len(found) + (10 if found else 0)
        for child in drawn.children:
            cy = top + ROW * rows[id(child)] + BOX_HEIGHT / 2
            x1, x2 = x + _width(policy, drawn), lefts[depth + 1]
            middle = (x1 + x2) / 2
            shapes.append(
                f'<path class="way" fill="none" stroke="{LINE}" '
                f'stroke-width="{1 + 7 * child.probability:.2f}" '
                f'd="M{x1:.1f} {y + BOX_HEIGHT / 2:.1f} C{middle:.1f} {y + BOX_HEIGHT / 2:.1f} '
                f'{middle:.1f} {cy:.1f} {x2:.1f} {cy:.1f}"/>'
            )
            draw(child, depth + 1)
        shapes.append(
            write_text(x, y + 16, found, fill=MUTED, kind="found")
            + f'<rect {BOXES[kind]} x="{x + head:.1f}" y="{y:.1f}" rx="5" '
            f'width="{_width(policy, drawn) - head:.1f}" height="{BOX_HEIGHT}"/>'
            + write_text(x + head + 8, y + 16, _sentence(policy, drawn), kind="what")
        )

    draw(root, 0)
    widest = max(lefts[-1] + columns[-1], *(MARGIN + CHARACTER * len(line) for line in heading))
    width, height = widest + MARGIN, top + MARGIN + ROW * n_leaves
    drawn = picture(shapes, width, height, _title(policy), "policy")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'


def policy_tree(policy: Policy, *, max_nodes: int = 10 * MAX_DRAWN) -> str:
    """Return the policy as an HTML list that folds and unfolds; bars show the probability."""
    to_come = policy.costs_to_go

    def item(drawn: _Drawn) -> str:
        found = f"<i>{escape(drawn.outcome)}</i> " if drawn.outcome else ""
        line = f"{found}<b>{escape(_sentence(policy, drawn))}</b> <small>reached {_percent(drawn)}"
        line += (
            f", still to pay {escape(_amount(policy, to_come[drawn.number]))}</small>"
            if drawn.node
            else "</small>"
        )
        tenth = min(int(10 * drawn.probability), 9)
        thick = f'<li class="p{tenth}" data-p="{drawn.probability:.4f}">'
        if not drawn.children:
            return f"{thick}{line}</li>"
        below = "".join(map(item, drawn.children))
        opened = " open" if drawn.probability >= 0.05 else ""
        return f"{thick}<details{opened}><summary>{line}</summary><ul>{below}</ul></details></li>"

    return f"<ul>{item(_unfold(policy, max_nodes))}</ul>"


def policy_body(policy: Policy, *, max_nodes: int = MAX_DRAWN) -> str:
    """Return what the policy costs, its certificate and its tree, to stand inside a page."""
    verdict = f"<p>{escape(policy.verdict)}</p>" if policy.verdict else ""
    total, features, decisions = (
        escape(_amount(policy, amount))
        for amount in (
            policy.expected_total_cost,
            policy.expected_feature_cost,
            policy.expected_misclassification_cost,
        )
    )
    return f"""
<p>Expected total cost <b>{total}</b>:
{features} for features, {decisions} for decisions.
{count_noun(policy.n_paths, "path")}, each with at most {count_noun(policy.depth, "acquisition")}.
{escape(_rounds(policy))} "Still to pay" is the expected cost from there on.</p>{verdict}
{policy_tree(policy, max_nodes=max_nodes)}"""


def _rounds(policy: Policy) -> str:
    """Return the number of rounds, where it matters, and what they cost."""
    if not policy.problem.counts_rounds:
        return ""
    cost = policy.problem.round_cost
    each = f", {_amount(policy, cost)} each" if cost else ""
    return f"{policy.expected_rounds:.2f} rounds on average{each}."


def policy_html(policy: Policy) -> str:
    """Return the policy as a self-contained page that folds and unfolds."""
    title = f"{escape(policy.problem.title or 'Policy')}: {escape(policy.name)}"
    return page(title, PAGE_STYLE, policy_body(policy, max_nodes=10 * MAX_DRAWN))


def _title(policy: Policy) -> str:
    return f"Policy {policy.name}. {policy.verdict}".strip()


def _width(policy: Policy, drawn: _Drawn) -> float:
    found = f"{drawn.outcome} ({_percent(drawn)})" if drawn.outcome else ""
    return CHARACTER * (len(found) + len(_sentence(policy, drawn))) + 16 + (10 if found else 0)


def _unfold(policy: Policy, max_nodes: int) -> _Drawn:
    problem, n_paths = policy.problem, policy.path_counts
    root = _Drawn(policy.root, len(policy.nodes) - 1, "", 1.0, n_paths[-1])
    heap = [(-1.0, 0, root)]
    n = 1
    while heap:
        drawn = heapq.heappop(heap)[2]
        room = max_nodes - n
        if not isinstance(drawn.node, Acquisition) or room < 2:
            continue
        branches = drawn.node.branches
        if len(branches) > room:
            if drawn is not root:
                continue
            # A root with this many outcomes would stay folded, so draw its likeliest outcomes.
            likely = sorted(branches, key=lambda b: -b.probability)
            branches = tuple(likely[: room - 1])
            left = sum(b.probability for b in likely[room - 1 :])
            n_left = len(likely) - len(branches)
            drawn.children.append(_Drawn(None, -1, count_noun(n_left, "other outcome"), left))
        for branch in branches:
            found = zip(drawn.node.features, branch.states, strict=True)
            outcome = ", ".join(
                f"{problem.label(name)} = {problem.state_label(name, state)}"
                for name, state in found
            )
            probability = drawn.probability * branch.probability
            number = branch.child
            child = _Drawn(policy.nodes[number], number, outcome, probability, n_paths[number])
            drawn.children.append(child)
            n += 1
            heapq.heappush(heap, (-probability, n, child))
    root.children.sort(key=lambda child: child.node is None)  # the summary last
    return root


def _sentence(policy: Policy, drawn: _Drawn) -> str:
    node, problem = drawn.node, policy.problem
    if node is None:
        return "not drawn"
    if isinstance(node, Leaf):
        said = problem.state_label(problem.target, node.decision)
        p, likely = max(zip(node.posterior, problem.classes, strict=True), key=lambda pair: pair[0])
        share = f"{problem.state_label(problem.target, likely)} {_percentage(p)}"
        text = f"decide {said}, risk {_amount(policy, node.emc)} ({share})"
        return f"{text} (not worked out further)" if node.is_open else text
    names = ", ".join(map(problem.label, node.features))
    together = " in one round" if problem.counts_rounds and len(node.features) > 1 else ""
    text = f"buy {names}{together} for {_amount(policy, node.price)}"
    if drawn.is_folded:
        text += f", then {count_noun(drawn.n_paths, 'path')} (not drawn)"
    return text


def _amount(policy: Policy, amount: float) -> str:
    return format_amount(amount, policy.problem.currency)


def _percent(drawn: _Drawn) -> str:
    return _percentage(drawn.probability)


def _percentage(probability: float) -> str:
    percent = 100 * probability
    return f"{percent:.1f} %" if percent >= 0.05 or probability == 0 else "< 0.1 %"
