"""Where a concave, piecewise linear function has its corners, found from its values alone.

Let f be a minimum of finitely many lines. A chord of f through two points lies on or above f
outside of these points. So if a third point of f lies on the chord's line, f is linear over all
three: a concave function with three points on one line is linear between them.

`corners` uses this on an interval [a, b]. A short chord at a and a short chord at b have lines that
meet at some x between the chords. Either f(x) lies on these lines: then f is linear on [a, x] and
on [x, b], and x is the only corner. Or f(x) lies below: then x splits the interval. If x is the end
of a chord, the corner lies inside that chord, which becomes the interval. As f has finitely many
lines, this ends with all corners; no step size limits how precise they are.

`least_gap` bounds g - f for two such functions that do not fall, from few values. On [a, b], g is
on or above its own chord. Between the short chords of f at a and at b, f is on or below both their
lines. The chord of g less the lower of these lines is convex, so it is least at one of the ends or
where the lines meet. In a short chord, f is at most its value at the right end of the chord.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from voilattice.ties import TOLERANCE, tolerance

__all__ = ["corners", "least_gap"]

CHORD = 1e-4  # the length of a chord, as a part of its interval
IN_CHORD = 1.000001  # lines that meet closer to an end than this many chords meet in the chord


class _End(NamedTuple):
    """An end of an interval, with the line of f at this end, on the side of the interval."""

    x: float
    y: float
    slope: float
    chord: float  # the length of the chord that the slope is from

    def at(self, x: float) -> float:
        return self.y + self.slope * (x - self.x)


def corners(f: Callable[[float], float], a: float, b: float) -> list[float]:
    """Return a, the corners of f between a and b, and b, in order; some points between too.

    Parameters
    ----------
    f
        A minimum of finitely many lines. It is called about three times for each corner.

    >>> [round(x, 6) for x in corners(lambda x: min(3 * x, x + 1), 0.0, 100.0)]
    [0.0, 0.5, 100.0]
    """
    found = [a]
    if a < b:
        _refine(f, _end(f, a, b - a), _end(f, b, a - b), found)
        found.append(b)
    return found


def least_gap(
    f: Callable[[float], float], g: Callable[[float], float], a: float, b: float
) -> float:
    """Return a lower bound of g(x) - f(x) for all x between a and b.

    Parameters
    ----------
    f, g
        Minima of finitely many lines that do not fall. f is called four times and g twice.

    >>> round(least_gap(lambda x: min(x, 2.0), lambda x: min(2 * x + 1, 8.0), 0.0, 4.0), 3)
    1.0
    """
    left, right = _end(f, a, b - a), _end(f, b, a - b)
    start, slope = g(a), (g(b) - g(a)) / (b - a)
    first, last = a + left.chord, b - right.chord
    points = [first, last]
    if left.slope > right.slope:
        meeting = a + (right.at(a) - left.y) / (left.slope - right.slope)
        points.append(min(max(meeting, first), last))
    gaps = [start + slope * (x - a) - min(left.at(x), right.at(x)) for x in points]
    return min(*gaps, start - left.at(first), start + slope * (last - a) - right.y)


def _end(f: Callable[[float], float], x: float, length: float) -> _End:
    """Return an end with a chord towards the other end, which is at `x + length`."""
    y, step = f(x), CHORD * length
    return _End(x, y, (f(x + step) - y) / step, abs(step))


def _is_line(a: _End, b: _End) -> bool:
    return abs(a.at(b.x) - b.y) <= tolerance(abs(a.y))


def _refine(f: Callable[[float], float], a: _End, b: _End, found: list[float]) -> None:
    """Append the corners between two ends."""
    while True:
        if _is_line(a, b) or b.x - a.x <= TOLERANCE * max(1.0, abs(b.x)):
            return
        x = (a.x + b.x) / 2
        if a.slope > b.slope:
            x = a.x + (b.at(a.x) - a.y) / (a.slope - b.slope)
        if x <= a.x + a.chord * IN_CHORD:
            # All is one line from the end of the chord on; that end may be a corner itself.
            end = a.x + a.chord
            _refine(f, _end(f, a.x, a.chord), _end(f, end, -a.chord), found)
            found.append(end)
            return
        if x >= b.x - b.chord * IN_CHORD:
            end = b.x - b.chord
            found.append(end)
            a, b = _end(f, end, b.chord), _end(f, b.x, -b.chord)
        else:
            break
    y = f(x)
    if y < a.at(x) - tolerance(abs(y)):
        _refine(f, a, _end(f, x, a.x - x), found)
        found.append(x)
        _refine(f, _end(f, x, b.x - x), b, found)
    else:
        found.append(x)
