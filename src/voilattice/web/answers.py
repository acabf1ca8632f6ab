"""Answers that were given already, kept until there are too many bytes of them.

An answer depends on its question alone: a problem is never changed, and an upload is named by its
content. So an answer can be given again as it is.
"""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["Answers"]


class Answers:
    """The answers that were asked for last, by question.

    Parameters
    ----------
    max_bytes
        How much all of them may take. An answer that alone takes a sixteenth of it is not kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self.n_bytes = 0

    def find(self, question: str) -> bytes | None:
        """Return a kept answer, which is now the last one asked for."""
        if (answer := self._kept.get(question)) is not None:
            self._kept.move_to_end(question)
        return answer

    def keep(self, question: str, answer: bytes) -> None:
        """Keep an answer, and drop those that were asked for longest ago if there is no room."""
        size = len(question) + len(answer)
        if 16 * size > self._max_bytes or question in self._kept:
            return
        self._kept[question] = answer
        self.n_bytes += size
        while self.n_bytes > self._max_bytes:
            old, dropped = self._kept.popitem(last=False)
            self.n_bytes -= len(old) + len(dropped)
