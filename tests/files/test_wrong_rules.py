"""Mistakes in constraints, limits, rounds, discounts, decisions and bins: one line for each."""

import pytest
from helpers.ward import WARD

# The problem, with a node more that is hidden, and every table that a rule can stand in.
GOOD = (
    WARD.replace(
        '[network]\ntarget = "ill"',
        '[network]\ntarget = "ill"\nfeatures = ["age", "xray", "blood", "consent", "biopsy"]',
    )
    .replace(
        "[costs]\n",
        '[[network.nodes]]\nname = "smoke"\nstates = ["no", "some", "much"]\n'
        "table = [[0.5, 0.3, 0.2]]\n[costs]\n",
    )
    .replace("[limits]", '[[discounts]]\nname = "lab"\noff = { blood = 3, biopsy = 5 }\n[limits]')
    + "[bins]\nage = [54.5]\n"
)

AFTER, ONLY_IF = 'after = ["xray"]', 'only_if = { consent = "given" }'
NOT_IF = 'not_if = { age = "old" }'


def more(**entry):
    """Return one more constraint."""
    return "[[constraints]]\n" + "".join(f"{key} = {value}\n" for key, value in entry.items())


WRONG = [
    # circles
    (
        "[limits]",
        more(feature='"xray"', after='["biopsy"]') + "[limits]",
        "constraints: go round in a circle that no order can meet: biopsy needs xray needs biopsy",
    ),
    (
        "[limits]",
        more(feature='"xray"', only_if='{ biopsy = "clean" }') + "[limits]",
        "constraints: go round in a circle that no order can meet: biopsy needs xray needs biopsy",
    ),
    (
        "[limits]",
        more(feature='"xray"', after='["blood"]')
        + more(feature='"blood"', after='["biopsy"]')
        + "[limits]",
        "constraints: go round in a circle that no order can meet: "
        "biopsy needs xray needs blood needs biopsy",
    ),
    (AFTER, 'after = ["xray", "biopsy"]', "constraints[0].after: 'biopsy' cannot be known before"),
    (
        ONLY_IF,
        'only_if = { biopsy = "clean" }',
        "constraints[0].only_if: 'biopsy' cannot be known before it is acquired",
    ),
    (
        NOT_IF,
        'not_if = { biopsy = "clean" }',
        "constraints[0].not_if: 'biopsy' cannot be known before it is acquired",
    ),
    # states and features that do not exist, or cannot be acquired
    (ONLY_IF, 'only_if = { consent = "gven" }', "constraints[0].only_if.consent: 'consent' has no"),
    (NOT_IF, 'not_if = { age = "olde" }', "constraints[0].not_if.age: 'age' has no state 'olde'"),
    (
        'feature = "biopsy"',
        'feature = "biopsi"',
        "constraints[0].feature: no feature 'biopsi' (nearest: 'biopsy')",
    ),
    (
        AFTER,
        'after = ["x-ray"]',
        "constraints[0].after: no feature 'x-ray': this is the label of 'xray'",
    ),
    (
        ONLY_IF,
        'only_if = { consnt = "given" }',
        "constraints[0].only_if.consnt: no feature 'consnt' (nearest: 'consent')",
    ),
    (
        NOT_IF,
        'not_if = { aged = "old" }',
        "constraints[0].not_if.aged: no feature 'aged' (nearest: 'age')",
    ),
    ('feature = "biopsy"', 'feature = "ill"', "constraints[0].feature: 'ill' is the target"),
    (AFTER, 'after = ["ill"]', "constraints[0].after: 'ill' is the target, not a feature"),
    (AFTER, 'after = ["smoke"]', "constraints[0].after: 'smoke' is hidden: it is not one of"),
    (
        ONLY_IF,
        'only_if = { ill = "yes" }',
        "constraints[0].only_if.ill: 'ill' is the target, not a feature",
    ),
    (
        NOT_IF,
        'not_if = { smoke = "much" }',
        "constraints[0].not_if.smoke: 'smoke' is hidden: it is not one of the features",
    ),
    # constraints of another form
    (
        f"{AFTER}\n{ONLY_IF}\n{NOT_IF}",
        "",
        "constraints[0]: needs at least one of after, only_if and not_if to constrain 'biopsy'",
    ),
    (
        f"{AFTER}\n{ONLY_IF}\n{NOT_IF}",
        "after = []\nonly_if = {}",
        "constraints[0]: needs at least one of after, only_if and not_if to constrain 'biopsy'",
    ),
    ('feature = "biopsy"\n', "", "constraints[0].feature: is missing"),
    ('feature = "biopsy"', "feature = 3", "constraints[0].feature: must be text, got 3"),
    (AFTER, 'after = "xray"', "constraints[0].after: must be a list, got 'xray'"),
    (AFTER, 'after = ["xray", "xray"]', "constraints[0].after: 'xray' appears twice"),
    (AFTER, "after = [1]", "constraints[0].after[0]: must be text, got 1"),
    (ONLY_IF, 'only_if = ["consent"]', "constraints[0].only_if: must be a table, got ['consent']"),
    (ONLY_IF, "only_if = { consent = 1 }", "constraints[0].only_if.consent: must be text, got 1"),
    (NOT_IF, "not_if = { age = true }", "constraints[0].not_if.age: must be text, got true"),
    (AFTER, 'afte = ["xray"]', "constraints[0].afte: unknown key (nearest: 'after')"),
    (
        "[[constraints]]",
        "[constraints]",
        "constraints: must be a list of tables: write [[constraints]]",
    ),
    # limits
    ("features = 4", "features = true", "limits.features: must be a number, got true"),
    ("spend = 120", "spend = -1", "limits.spend: must be a number >= 0, got -1"),
    ("spend = 120", 'spend = "120"', "limits.spend: must be a number >= 0, got '120'"),
    ("spend = 120", "spend = true", "limits.spend: must be a number, got true"),
    ("spend = 120", "spend = nan", "limits.spend: must be a number >= 0, got nan"),
    ("spend = 120", "spend = inf", "limits.spend: must be a number >= 0, got inf"),
    ("features = 4", "features = -4", "limits.features: must be a whole number >= 0, got -4"),
    ("features = 4", "features = 2.5", "limits.features: must be a whole number >= 0, got 2.5"),
    ("features = 4", 'features = ["age"]', "limits.features: must be a whole number >= 0, got"),
    ("rounds = 3", "rounds = false", "limits.rounds: must be a number, got false"),
    ("rounds = 3", "rounds = -1", "limits.rounds: must be a whole number >= 0, got -1"),
    ("spend = 120", "spends = 120", "limits.spends: unknown key (nearest: 'spend')"),
    ("[limits]", "[[limits]]", "limits: must be a table, got "),
    # rounds
    ("cost = 5", "cost = -5", "rounds.cost: must be >= 0, got -5"),
    ("cost = 5", 'cost = "5"', "rounds.cost: must be a number >= 0, got '5'"),
    ("cost = 5", "cost = true", "rounds.cost: must be a number, got true"),
    ("cost = 5", "cost = nan", "rounds.cost: must be "),
    ("cost = 5", "price = 5", "rounds.price: unknown key"),
    ("cost = 5", "cost = 5\nlimit = 3", "rounds.limit: unknown key"),
    ("[rounds]\ncost = 5\n", "[[rounds]]\ncost = 5\n", "rounds: must be a table, got "),
    # discounts on features with constraints
    (
        "blood = 3, biopsy = 5",
        "blood = 9",
        "discounts[0].off.blood: must be at most the price 8, got 9",
    ),
    ("blood = 3, biopsy = 5", "smoke = 0", "discounts[0].off: 'smoke' is hidden: it is not one"),
    # decisions
    (
        "treat = { yes = 0, no = 400 }",
        "treat = { yes = 0 }",
        "misclassification.treat: the cost for",
    ),
    (
        "refer = { yes = 250, no = 250 }",
        "refer = { yes = 250, no = 250, maybe = 1 }",
        "misclassification.refer.maybe: ",
    ),
    ("refer = { yes = 250, no = 250 }", "refer = 250", "misclassification.refer: "),
    (
        "refer = { yes = 250, no = 250 }",
        "refer = { yes = -250, no = 250 }",
        "misclassification.refer.yes: must be >= 0, got -250",
    ),
    # bins
    ("age = [54.5]", "age = [54.5, 40]", "bins.age: "),
    ("age = [54.5]", "age = []", "bins.age: 2 states need 1 cut between them, got 0"),
    ("age = [54.5]", "age = [true]", "bins.age[0]: must be a number, got true"),
    ("age = [54.5]", "smoke = [1, 2]", "bins.smoke: 'smoke' is hidden: it is not one of"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_a_wrong_rule_ends_with_status_2_and_its_place(run, tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "p.toml"
    path.write_text(GOOD.replace(old, new, 1))
    status, out, err = run("show", str(path), "--json")
    assert (status, out) == (2, "")
    assert err.startswith(f"{path}: {message}")
    assert err.count("\n") == 1


def test_the_same_file_without_a_mistake_loads(run, tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(GOOD)
    status, _, err = run("show", str(path))
    assert (status, err) == (0, "")


def test_cuts_out_of_order_are_refused(run, tmp_path):
    path = tmp_path / "p.toml"
    text = GOOD.replace('["age", "xray"', '["smoke", "age", "xray"')
    path.write_text(text.replace("age = 0", "age = 0\nsmoke = 1") + "smoke = [20, 5]\n")
    status, out, err = run("show", str(path), "--json")
    assert (status, out) == (2, "")
    assert err == f"{path}: bins.smoke: the cuts must increase, got [20.0, 5.0]\n"
