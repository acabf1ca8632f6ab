"""Drawings of a policy: text for a terminal, SVG, a page that folds and unfolds, DOT for Graphviz.

A policy can have millions of paths. The tree is unfolded from the root, the most probable node
first, until there are `MAX_DRAWN` nodes. A node that stays folded shows the number of its paths.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from voilattice.drawing.labels import NO_BREAK
from voilattice.drawing.pages import page
from voilattice.drawing.svg import INK, MUTED, picture, wrap_text, wrap_to_width, write_text
from voilattice.drawing.tree import Box, draw_tree
from voilattice.policy.policy import Acquisition, Leaf, Node, Policy
from voilattice.wording import count_noun, format_amount

__all__ = [
    "MAX_DRAWN",
    "MAX_OPEN",
    "drawn_share",
    "policy_body",
    "policy_dot",
    "policy_html",
    "policy_svg",
    "policy_text",
    "policy_tree",
]

MAX_DRAWN = 200

MAX_OPEN = 40  # paths of a tree that a page shows unfolded

MARGIN = 20
HEADING_LINE = 18  # what a line of the heading takes
LEAST_WIDTH = 400  # of a picture, for its heading
LINE_LIMITS = ((34, 26), (25, 20), (18, 15))  # characters of a line in a box, and beside a way
PAPER = (1045.0, 718.0)  # A4 inside its margins

PAGE_STYLE = """
ul { list-style: none; margin: .3rem 0 0; padding-left: 1.2rem; }
li { border-left: 1px solid #9db4cf; padding-left: .6rem; margin: .15rem 0; }
small { color: #5b6675; }
i { font-style: normal; background: #eef3fa; padding: 0 .3rem; border-radius: 4px; }
summary { cursor: pointer; }
@page { size: A4; margin: 12mm; }
@media print {
  body { font-size: 8.2pt; line-height: 1.4; margin: 0; }
  p { max-width: none; }
  .rest { display: none; } i { padding: 0; } i::after { content: ':'; }
  small { white-space: nowrap; }
  ul { margin: 0; padding-left: .9rem; } body > ul { padding-left: 0; }
  li { margin: .08rem 0; padding-left: .45rem; }
  summary { list-style: none; break-after: avoid; break-inside: avoid; }
  li { break-inside: avoid-page; } li:has(li) { break-inside: auto; }
  details::details-content { content-visibility: visible; } }
""" + "".join(f"li.p{k} {{ border-left-width: {k + 1}px; }}\n" for k in range(1, 10))

# Paper does not unfold: a page that is printed shows all of its tree.
UNFOLD_FOR_PRINT = """<script>
let folded = [];
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open])')];
  folded.forEach(part => { part.open = true; });
});
addEventListener('afterprint', () => { folded.forEach(part => { part.open = false; }); });
</script>"""


@dataclass(slots=True)
class _Drawn:
    node: Node | None  # None: outcomes that are not drawn one by one
    number: int
    outcomes: tuple[tuple[str, ...], ...]  # the name and the state of each feature; or one text
    probability: float
    n_paths: int = 0  # below the node
    children: list[_Drawn] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        return ", ".join(map(" = ".join, self.outcomes))

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

    A heading has the title of the problem, what the policy costs and, of an optimum, how sure that
    is. Long names are cut; the title of a box has its whole text.
    """
    unfolded = _unfold(policy, max_nodes)
    trees = (_box(policy, unfolded, *limits) for limits in LINE_LIMITS)
    root = max(trees, key=_scale_on_paper)  # of equals the first, which has the longest lines
    _, right, _ = draw_tree(root, MARGIN, 0.0)
    room = max(right - MARGIN, LEAST_WIDTH)
    cost = _amount(policy, policy.expected_total_cost)
    said = [f"Policy {policy.name}: expected total cost {cost}", _rounds(policy), policy.verdict]
    heading = [
        (line, 14, 600, INK) for line in wrap_to_width(policy.problem.title, room, 2, 14, 600)
    ]
    heading += [(line, 12, 400, MUTED) for text in said for line in wrap_to_width(text, room, 5)]
    shapes, y = list[str](), float(MARGIN)
    for line, size, weight, fill in heading:
        if line:
            y += HEADING_LINE
            shapes.append(
                write_text(MARGIN, y - 6, line, size=size, weight=weight, fill=fill, kind="heading")
            )
    tree, _, bottom = draw_tree(root, MARGIN, y + 8)
    drawn = picture(shapes + tree, room + 2 * MARGIN, bottom + MARGIN, _title(policy), "policy")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n'


def policy_tree(policy: Policy, *, max_nodes: int = 10 * MAX_DRAWN, unfolded: bool = False) -> str:
    """Return the policy as an HTML list that folds and unfolds; bars show the probability.

    With `unfolded`, all that is drawn can be seen at first; else what 5 % of the cases reach.
    """
    to_come = policy.costs_to_go

    def item(drawn: _Drawn) -> str:
        found = f"<i>{escape(drawn.outcome)}</i> " if drawn.outcome else ""
        what = _parts(policy, drawn)[0]
        more = _sentence(policy, drawn).removeprefix(what)
        line = f"{found}<b>{escape(what)}</b>{escape(more)} <small>reached {_percent(drawn)}"
        if drawn.node:
            rest = f", still to pay {escape(_amount(policy, to_come[drawn.number]))}"
            # At a leaf that is its risk, which is said already: paper leaves it out.
            line += f'<span class="rest">{rest}</span>' if isinstance(drawn.node, Leaf) else rest
        line += "</small>"
        tenth = min(int(10 * drawn.probability), 9)
        thick = f'<li class="p{tenth}" data-p="{drawn.probability:.4f}">'
        if not drawn.children:
            return f"{thick}{line}</li>"
        below = "".join(map(item, drawn.children))
        opened = " open" if unfolded or drawn.probability >= 0.05 else ""
        return f"{thick}<details{opened}><summary>{line}</summary><ul>{below}</ul></details></li>"

    return f"<ul>{item(_unfold(policy, max_nodes))}</ul>"


def drawn_share(policy: Policy, max_nodes: int) -> float:
    """Return the share of the cases whose decision is drawn, if there is room for so many nodes."""

    def share(drawn: _Drawn) -> float:
        if isinstance(drawn.node, Leaf):
            return drawn.probability
        return sum(map(share, drawn.children))

    return share(_unfold(policy, max_nodes))


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
{policy_tree(policy, max_nodes=max_nodes, unfolded=policy.n_paths <= MAX_OPEN)}"""


def _rounds(policy: Policy) -> str:
    """Return the number of rounds, where it matters, and what they cost."""
    if not policy.problem.counts_rounds:
        return ""
    cost = policy.problem.round_cost
    each = f", {_amount(policy, cost)} each" if cost else ""
    return f"{policy.expected_rounds:.2f} rounds on average{each}."


def policy_html(policy: Policy) -> str:
    """Return the policy as a self-contained page that folds and unfolds, and prints whole."""
    title = f"{policy.problem.title or 'Policy'}: {policy.name}"
    body = policy_body(policy, max_nodes=10 * MAX_DRAWN)
    return page(title, PAGE_STYLE, body + UNFOLD_FOR_PRINT)


def _title(policy: Policy) -> str:
    return f"Policy {policy.name}. {policy.verdict}".strip()


def _scale_on_paper(root: Box) -> float:
    """Return how large a tree can be printed on A4, at most 1: lying or upright, as fits better."""
    _, width, height = draw_tree(root, 2 * MARGIN, 2 * MARGIN + 4 * HEADING_LINE)
    long, short = PAPER
    lying, upright = (long / width, short / height), (short / width, long / height)
    return min(1.0, max(min(lying), min(upright)))


def _box(policy: Policy, drawn: _Drawn, in_box: int, on_way: int) -> Box:
    """Return a node and all below it as boxes with short lines."""
    what, *more = (wrap_text(part.lstrip(" ,"), in_box, 3) for part in _parts(policy, drawn))
    lines = [line.replace(NO_BREAK, " ") for part in (what, *more) for line in part]
    found = [line for part in drawn.outcomes for line in _outcome_lines(part, on_way)]
    told = _sentence(policy, drawn)
    if found:
        told = f"{drawn.outcome} ({_percent(drawn)}): {told}"
        if len(found[-1]) + len(_percent(drawn)) + 3 <= on_way:
            found[-1] += f" ({_percent(drawn)})"
        else:
            found.append(f"({_percent(drawn)})")
    kind = "buy" if isinstance(drawn.node, Acquisition) else "say"
    below = [_box(policy, child, in_box, on_way) for child in drawn.children]
    return Box(kind, lines, len(what), found, told, drawn.probability, below)


def _outcome_lines(outcome: Sequence[str], most: int) -> list[str]:
    """Return an outcome in two lines at most. A long name is cut before its state is."""
    lines = wrap_text(" = ".join(outcome), most, 2)
    name, *state = outcome
    if not state or not lines[-1].endswith("…"):
        return lines
    return [*wrap_text(name, most, 1), *wrap_text(f"= {state[0]}", most, 1)]


def _unfold(policy: Policy, max_nodes: int) -> _Drawn:
    problem, n_paths = policy.problem, policy.path_counts
    root = _Drawn(policy.root, len(policy.nodes) - 1, (), 1.0, n_paths[-1])
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
            rest = (count_noun(len(likely) - len(branches), "other outcome"),)
            drawn.children.append(_Drawn(None, -1, (rest,), left))
        for branch in branches:
            found = zip(drawn.node.features, branch.states, strict=True)
            outcomes = tuple(
                (problem.label(name), problem.state_label(name, state)) for name, state in found
            )
            probability = drawn.probability * branch.probability
            number = branch.child
            child = _Drawn(policy.nodes[number], number, outcomes, probability, n_paths[number])
            drawn.children.append(child)
            n += 1
            heapq.heappush(heap, (-probability, n, child))
    root.children.sort(key=lambda child: child.node is None)  # the summary last
    return root


def _sentence(policy: Policy, drawn: _Drawn) -> str:
    what, *more = _parts(policy, drawn)
    separator = " " if isinstance(drawn.node, Acquisition) else ", "
    return (separator.join([what, *more[:1]]) + "".join(more[1:])).replace(NO_BREAK, " ")


def _parts(policy: Policy, drawn: _Drawn) -> list[str]:
    """Return what is done at a node, then its price or its risk, then what is not drawn of it."""
    node, problem = drawn.node, policy.problem
    if node is None:
        return ["not drawn"]
    if isinstance(node, Leaf):
        said = problem.state_label(problem.target, node.decision)
        p, likely = max(zip(node.posterior, problem.classes, strict=True), key=lambda pair: pair[0])
        share = f"({problem.state_label(problem.target, likely)} {_percentage(p)})"
        share = share.replace(" ", NO_BREAK)  # a line of its own, if it has no room behind the risk
        parts = [f"decide {said}", f"risk {_amount(policy, node.emc)} {share}"]
        return [*parts, " (not worked out further)"] if node.is_open else parts
    names = ", ".join(map(problem.label, node.features))
    together = "in one round " if problem.counts_rounds and len(node.features) > 1 else ""
    parts = [f"buy {names}", f"{together}for {_amount(policy, node.price)}"]
    if drawn.is_folded:
        parts.append(f", then {count_noun(drawn.n_paths, 'path')} (not drawn)")
    return parts


def _amount(policy: Policy, amount: float) -> str:
    return format_amount(amount, policy.problem.currency)


def _percent(drawn: _Drawn) -> str:
    return _percentage(drawn.probability)


def _percentage(probability: float) -> str:
    percent = 100 * probability
    return f"{percent:.1f} %" if percent >= 0.05 or probability == 0 else "< 0.1 %"
