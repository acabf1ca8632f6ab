"""Pages that commands save, in a real browser: on screen and on paper."""

import re

import pytest

from voilattice import build_policy, load_problem
from voilattice.drawing.flow import flow_svg
from voilattice.drawing.policy import policy_html, policy_svg
from voilattice.drawing.report import report_html

pytestmark = pytest.mark.slow

# Each text that leaves the picture, or that covers another text.
COLLISIONS = """() => {
  const svg = document.querySelector('svg'), { width, height } = svg.viewBox.baseVal;
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBBox()]);
  const out = texts.filter(([, b]) =>
    b.x < 0 || b.y < 0 || b.x + b.width > width || b.y + b.height > height).map(([t]) => t);
  const apart = (a, b) => a.x + a.width <= b.x + 1 || a.y + a.height <= b.y + 5;
  texts.forEach(([one, a], k) => texts.slice(k + 1).forEach(([other, b]) => {
    if (!apart(a, b) && !apart(b, a)) out.push(`${one} / ${other}`);
  }));
  return out;
}"""


def test_a_printed_policy_has_each_branch_and_folds_again(page):
    policy = build_policy(load_problem("car"), "optimal")
    page.set_content(policy_html(policy))
    folded = page.locator("details:not([open])")
    before = folded.count()
    assert before > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folded.count() == 0
    assert page.get_by_text(re.compile("^decide ")).count() == policy.n_paths
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.count() == before


@pytest.mark.parametrize("draw", [flow_svg, policy_svg])
@pytest.mark.parametrize("name", ["asia", "car", "heart-treadmill"])
def test_no_text_of_a_picture_leaves_it_or_covers_another(page, draw, name):
    policy = build_policy(load_problem(name), "greedy-la")
    drawn = draw(policy)
    page.set_content(drawn[drawn.index("<svg") :])
    assert page.evaluate(COLLISIONS) == []


def test_a_report_is_as_wide_as_its_paper(page):
    page.set_content(report_html(build_policy(load_problem("asia"), "optimal")))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1045})  # A4 inside its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
