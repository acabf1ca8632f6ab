"""A folder for a learned problem: its network, its problem file, a README of how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from voilattice.errors import InputError, within
from voilattice.files.problems import write_problem
from voilattice.learning.data_tables import DataTable
from voilattice.learning.networks import DECIMALS, MAX_CATEGORIES, Learned
from voilattice.model.problem import Problem

__all__ = ["write_learned"]

README = "README.md"


def write_learned(
    problem: Problem,
    learned: Learned,
    table: DataTable,
    folder: str | Path,
    *,
    source: str,
    notes: Sequence[str] = (),
    stakes: tuple[str, float] | None = None,
) -> Path:
    """Write the problem, with a README of the recipe, and return the path of the problem file.

    Parameters
    ----------
    source
        What the table is and where it came from, in a sentence.
    notes
        What else was decided about the columns, a sentence each.
    stakes
        As in `write_problem`.
    """
    readme = Path(folder) / README
    if readme.exists():
        raise InputError(f"{README} is there already; choose another folder", str(folder))
    path = write_problem(problem, folder, stakes=stakes)
    with within(str(readme)):
        try:
            readme.write_text(_readme(problem, learned, table, source, notes), encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}") from None
    return path


def _readme(
    problem: Problem, learned: Learned, table: DataTable, source: str, notes: Sequence[str]
) -> str:
    import pyagrum

    recipe, network = learned.recipe, learned.network
    left_out = f", {learned.n_left_out} more left out for want of a target"
    lines = [
        f"# {problem.title}",
        "",
        source,
        "",
        f"- Table: {learned.n_rows} rows{left_out if learned.n_left_out else ''}; "
        f"SHA-256 of its content `{table.checksum}`.",
        f"- Bins: a column of numbers with more than {MAX_CATEGORIES} different values is cut "
        + (
            "where a cut pays for its description (Fayyad and Irani, 1993), at the median where "
            "none does."
            if recipe.discretization == "mdl"
            else f"into {recipe.bins} bins of about as many cases."
        ),
        f"- Structure: {recipe.search} on {recipe.score}, at most {recipe.max_parents} parents"
        + (", none for the target" if recipe.target_first else "")
        + "; a missing cell stands at its column's most frequent state.",
        f"- Parameters: counts, plus {recipe.smoothing:g} in each cell"
        + ("; by expectation maximisation, since cells are missing" if learned.missing else "")
        + f"; rounded to {DECIMALS} decimals.",
        f"- Learned by pyAgrum {pyagrum.__version__}.",
        *(f"- {note}" for note in notes),
        *(f"- Arc forbidden: {a} -> {b}." for a, b in recipe.forbidden),
        *(f"- Arc required: {a} -> {b}." for a, b in recipe.required),
        "",
        "| column | states | missing | parents |",
        "| --- | --- | --- | --- |",
    ]
    for node, name in enumerate(network.names):
        cells = (
            f"{name} (target)" if name == learned.target else name,
            ", ".join(network.states[node]),
            str(learned.missing.get(name, 0)),
            ", ".join(network.names[p] for p in network.parents[node]) or "-",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])
