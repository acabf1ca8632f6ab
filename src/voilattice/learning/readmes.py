"""The README of a learned problem: how it was made, and what its columns became."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voilattice.learning.columns import MAX_CATEGORIES
from voilattice.learning.data_tables import DataTable
from voilattice.learning.networks import DECIMALS, Learned
from voilattice.learning.recipes import Recipe
from voilattice.learning.selection import NONE, Choice
from voilattice.wording import count_noun

__all__ = ["write_readme"]


def write_readme(
    title: str,
    source: str,
    learned: Learned,
    table: DataTable,
    notes: Sequence[str] = (),
    choice: Choice | None = None,
) -> str:
    """Return the README of a problem that was learned.

    Parameters
    ----------
    source
        What the table is and where it came from, in a sentence.
    notes
        What else was decided about the columns, a sentence each.
    choice
        How the recipe was chosen; None: it was given.
    """
    import pyagrum

    recipe, network = learned.recipe, learned.network
    left_out = f", {learned.n_left_out} more left out for want of a target"
    lines = [
        f"# {title or 'A learned problem'}",
        "",
        source,
        "",
        f"- Table: {learned.n_rows} rows{left_out if learned.n_left_out else ''}; "
        f"SHA-256 of its content `{table.checksum}`.",
        f"- Bins: a column of numbers with more than {MAX_CATEGORIES} different values is cut "
        + _bins(learned),
        f"- Structure: {_structure(recipe)}; a missing cell stands at its column's most frequent "
        f"state.",
        f"- Parameters: {_parameters(learned)}; rounded to {DECIMALS} decimals.",
        f"- Learned by pyAgrum {pyagrum.__version__}.",
        *(f"- {note}" for note in notes),
        *(f"- Arc forbidden: {a} -> {b}." for a, b in recipe.forbidden),
        *(f"- Arc required: {a} -> {b}." for a, b in recipe.required),
        "",
        *([] if choice is None else _trials(choice, learned)),
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


def _bins(learned: Learned) -> str:
    recipe = learned.recipe
    if recipe.structure == "decision-tree":
        return "at the thresholds of the tree."
    if recipe.discretization != "mdl":
        return f"into {recipe.bins} bins of about as many cases."
    is_capped = any(len(cuts) + 1 == recipe.max_bins for cuts in learned.cuts.values())
    return (
        "where a cut pays for its description (Fayyad and Irani, 1993), at the median where "
        "none does" + (f"; at most {recipe.max_bins} bins." if is_capped else ".")
    )


def _structure(recipe: Recipe) -> str:
    if recipe.structure == "search":
        first = ", none for the target" if recipe.target_first else ""
        return f"{recipe.search} on {recipe.score}, at most {recipe.max_parents} parents{first}"
    return {
        "naive": "each feature depends on the target alone",
        "tree": "each feature depends on the target and at most one other feature",
        "k-dependence": f"each feature depends on the target and others, at most "
        f"{recipe.max_parents} parents",
        "decision-tree": "the target depends on the features that a pruned decision tree tests",
    }[recipe.structure]


def _parameters(learned: Learned) -> str:
    recipe = learned.recipe
    if recipe.parameters == "counts":
        by_em = "; by expectation maximisation, since cells are missing" if learned.missing else ""
        return f"counts, plus {recipe.smoothing:g} in each cell{by_em}"
    smooth = f"a smooth model that counts for {recipe.strength:g} cases, corrected by counts"
    if recipe.parameters == "smooth":
        return smooth
    return f"{smooth}, then trained to answer from some of the features (pull {recipe.pull:g})"


def _trials(choice: Choice, learned: Learned) -> Iterator[str]:
    """Yield the lines that say which recipe was chosen, and by what."""
    rows = count_noun(choice.n_rows, "row")
    yield f"The recipe `{choice.name}` was chosen by its total cost on {rows} that it had not seen:"
    yield ""
    yield "| recipe | mean cost | standard error |"
    yield "| --- | ---: | ---: |"
    for trial in choice.trials:
        yield f"| {trial.name} | {trial.mean_total_cost:.4f} | {trial.standard_error:.4f} |"
    yield ""
    if choice.name == NONE:
        yield (
            f"`{NONE}` decides at once: no recipe was shown to be worth its features. The network "
            f"here is that of the best recipe ({learned.recipe}) all the same."
        )
        yield ""
