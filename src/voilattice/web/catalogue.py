"""The problems that can be asked about: those of the start, and the latest uploads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from voilattice.documents import Json
from voilattice.documents.problems import ProblemEntry
from voilattice.model.problem import Problem
from voilattice.web.refusals import UnknownProblem
from voilattice.web.uploads import is_upload
from voilattice.wording import nearest

__all__ = ["Catalogue"]

MAX_UPLOADS = 20


class Catalogue:
    """Problems by name. Used from one event loop alone."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self._fixed = dict(problems)
        self._uploads: OrderedDict[str, Problem] = OrderedDict()

    def entries(self) -> list[Json]:
        """Return the problems of the start, as a list."""
        return [ProblemEntry.json_of(problem, name=name) for name, problem in self._fixed.items()]

    def __contains__(self, name: str) -> bool:
        return name in self._fixed or name in self._uploads

    def find(self, name: str) -> Problem:
        """Return a problem.

        Raises
        ------
        UnknownProblem
            There is none of that name, or it was uploaded too long ago.
        """
        if (problem := self._fixed.get(name)) is not None:
            return problem
        if name in self._uploads:
            self._uploads.move_to_end(name)
            return self._uploads[name]
        if is_upload(name):
            raise UnknownProblem(
                f"the server no longer has the upload {name!r}: upload its files again"
            )
        raise UnknownProblem(f"no problem {name!r}{nearest(name, self._fixed)}")

    def add(self, name: str, problem: Problem) -> None:
        """Add an upload; the ones that were asked for longest ago make room."""
        self._uploads[name] = problem
        self._uploads.move_to_end(name)
        while len(self._uploads) > MAX_UPLOADS:
            self._uploads.popitem(last=False)
