"""A clinic for tired people: 10 tests, 4 decisions, constraints, limits, rounds, labels, bins.

It is what a person would bring: nothing in it is tuned to the page.
"""

from __future__ import annotations

__all__ = ["FATIGUE"]

CAUSES = ("anaemia", "thyroid", "depression", "none")

# name: (label, states, price, one row of probabilities for each cause, cuts of a number)
TESTS = {
    "sleep": ("Hours of sleep", ("<6", "6-8", ">8"), 0,
              ((0.2, 0.6, 0.2), (0.1, 0.4, 0.5), (0.5, 0.3, 0.2), (0.3, 0.6, 0.1)), (6, 8)),
    "mood": ("Mood questionnaire", ("low", "fair", "good"), 5,
             ((0.3, 0.4, 0.3), (0.4, 0.4, 0.2), (0.8, 0.15, 0.05), (0.1, 0.4, 0.5)), ()),
    "pallor": ("Pale eyelids", ("yes", "no"), 0,
               ((0.6, 0.4), (0.2, 0.8), (0.1, 0.9), (0.08, 0.92)), ()),
    "pulse": ("Resting pulse", ("<60", "60-90", ">90"), 1,
              ((0.05, 0.45, 0.5), (0.5, 0.45, 0.05), (0.15, 0.7, 0.15), (0.2, 0.7, 0.1)), (60, 90)),
    "draw": ("Blood drawn", ("done", "refused"), 3,
             ((0.95, 0.05),) * 4, ()),
    "haemoglobin": ("Haemoglobin (g/dl)", ("<10", "10-12", ">=12"), 6,
                    ((0.5, 0.4, 0.1), (0.05, 0.25, 0.7), (0.02, 0.13, 0.85), (0.01, 0.09, 0.9)),
                    (10, 12)),
    "ferritin": ("Ferritin", ("low", "normal"), 14,
                 ((0.85, 0.15), (0.15, 0.85), (0.12, 0.88), (0.1, 0.9)), ()),
    "tsh": ("TSH (mU/l)", ("<4", "4-10", ">=10"), 12,
            ((0.9, 0.08, 0.02), (0.05, 0.4, 0.55), (0.9, 0.08, 0.02), (0.94, 0.05, 0.01)), (4, 10)),
    "t4": ("Free T4", ("low", "normal"), 16,
           ((0.04, 0.96), (0.8, 0.2), (0.04, 0.96), (0.02, 0.98)), ()),
    "marrow": ("Bone marrow", ("abnormal", "normal"), 180,
               ((0.7, 0.3), (0.03, 0.97), (0.02, 0.98), (0.02, 0.98)), ()),
}  # fmt: skip


def _node(name: str, states: tuple[str, ...], rows: tuple[tuple[float, ...], ...]) -> str:
    parents = "" if name == "cause" else 'parents = ["cause"]\n'
    table = ", ".join(str(list(row)) for row in rows)
    return (
        f'[[network.nodes]]\nname = "{name}"\nstates = {list(states)}\n{parents}table = [{table}]\n'
    )


FATIGUE = "\n".join(
    [
        'title = "Always tired"\ncurrency = "EUR"',
        '[network]\ntarget = "cause"',
        _node("cause", CAUSES, ((0.18, 0.12, 0.3, 0.4),)),
        *(_node(name, states, rows) for name, (_, states, _, rows, _) in TESTS.items()),
        "[costs]",
        *(f"{name} = {price}" for name, (_, _, price, _, _) in TESTS.items()),
        '[[groups]]\nname = "visit"\noverhead = 8\nfeatures = ["pallor", "pulse"]',
        '[[discounts]]\nname = "thyroid panel"\noff = { tsh = 4, t4 = 6 }',
        *(
            f'[[constraints]]\nfeature = "{name}"\nafter = ["draw"]\nonly_if = {{ draw = "done" }}'
            for name in ("haemoglobin", "ferritin", "tsh", "t4")
        ),
        '[[constraints]]\nfeature = "marrow"\nafter = ["ferritin"]\n'
        'not_if = { haemoglobin = ">=12" }',
        "[limits]\nspend = 260\nfeatures = 7\nrounds = 4",
        "[rounds]\ncost = 4",
        "[misclassification]",
        "iron = { anaemia = 20, thyroid = 500, depression = 420, none = 160 }",
        "thyroxine = { anaemia = 520, thyroid = 25, depression = 450, none = 300 }",
        "therapy = { anaemia = 400, thyroid = 420, depression = 60, none = 220 }",
        "wait = { anaemia = 900, thyroid = 1100, depression = 700, none = 0 }",
        '[labels]\ncause = "Cause of the fatigue"',
        *(f'{name} = "{label}"' for name, (label, *_) in TESTS.items()),
        "[state_labels.cause]",
        'anaemia = "Anaemia"\nthyroid = "Underactive thyroid"',
        'depression = "Depression"\nnone = "Nothing found"',
        "[bins]",
        *(f"{name} = {list(cuts)}" for name, (*_, cuts) in TESTS.items() if cuts),
    ]
)
