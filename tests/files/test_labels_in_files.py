"""Labels, state labels and the currency in problem files."""

import pytest
from helpers.labels import LABELLED
from helpers.worlds import examples
from hypothesis import given
from hypothesis import strategies as st

from voilattice import VoilatticeError, load_problem, write_problem


def load_text(tmp_path, text):
    path = tmp_path / "p.toml"
    path.write_text(text)
    return load_problem(path)


def test_labels_and_currency_are_read_and_written(tmp_path):
    problem = load_text(tmp_path, LABELLED)
    assert problem.currency == "CAD"
    assert problem.labels == {"cp": "Chest pain", "ecg": "Resting ECG", "ill": "Heart disease"}
    assert problem.state_labels["cp"] == {"asym": "no pain at all", "typ": "typical angina"}
    again = load_problem(write_problem(problem, tmp_path / "again"))
    assert again == problem
    assert (again.labels, again.currency) == (problem.labels, problem.currency)


PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)


@examples(40)
@given(label=PRINTABLE, state=PRINTABLE, currency=PRINTABLE)
def test_any_label_is_written_and_read(tmp_path_factory, label, state, currency):
    folder = tmp_path_factory.mktemp("p")
    problem = load_text(folder, LABELLED)
    labels = {"cp": f"{label} of cp"}  # no other node is read so
    changed = type(problem).create(
        problem.network, problem.target, problem.costs, problem.misclassification,
        labels=labels, state_labels={"ecg": {"+": f"{state} of +"}}, currency=currency,
    )  # fmt: skip
    assert load_problem(write_problem(changed, folder / "again")) == changed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'cp = "Chest',
            'cpp = "Chest',
            "labels.cpp: the network has no node 'cpp' (nearest: 'cp')",
        ),
        ('"Chest pain"', "3", "labels.cp: must be text, got 3"),
        ('"Chest pain"', '""', "labels.cp: must not be empty, got ''"),
        ('"Chest pain"', '" "', "labels.cp: must not be empty, got ' '"),
        ('"Chest pain"', '"a\\nb"', "labels.cp: must be printable text in one line, got 'a\\nb'"),
        (
            '"Chest pain"',
            '"Resting ECG"',
            "labels.ecg: 'Resting ECG' is what people read for 'cp' too; the two must",
        ),
        (
            '"Chest pain"',
            '"age"',
            "labels.cp: 'age' is what people read for 'age' too; the two must",
        ),
        ("[labels]", "[label]", "label: unknown key (nearest: 'labels')"),
        ("asym = ", "asymp = ", "state_labels.cp.asymp: 'cp' has no state 'asymp'; its states are"),
        ("[state_labels.cp]", "[state_labels.cq]", "state_labels.cq: the network has no node 'cq'"),
        ('"typical angina"', "7", "state_labels.cp.typ: must be text, got 7"),
        ('"typical angina"', '""', "state_labels.cp.typ: must not be empty, got ''"),
        (
            '"typical angina"',
            '"no pain at all"',
            "state_labels.cp.asym: 'no pain at all' is what people read for 'typ' too;",
        ),
        ('currency = "CAD"', "currency = 3", "currency: must be text, got 3"),
        ('currency = "CAD"', 'currency = " "', "currency: must not be empty, got ' '"),
        (
            "[state_labels.cp]\nasym",
            "[state_labels]\ncp = 1\nasym",
            "state_labels.cp: must be a table",
        ),
    ],
)
def test_a_mistake_in_labels_ends_with_status_2_and_its_place(run, tmp_path, old, new, message):
    assert old in LABELLED
    path = tmp_path / "p.toml"
    path.write_text(LABELLED.replace(old, new, 1))
    status, out, err = run("show", str(path))
    assert (status, out) == (2, "")
    assert err.startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[costs]\ncp",
            '[costs]\n"Chest pain"',
            "'Chest pain': this is the label of 'cp'",
        ),
        (
            'target = "ill"',
            'target = "Heart disease"',
            "this is the label of 'ill'; write",
        ),
        ("[costs]", '[evidence]\ncp = "no pain at all"\n[costs]', "this is the label of 'asym'"),
        (
            "[costs]",
            '[[conditional_costs]]\nfeature = "ecg"\nwhen = { cp = "No pain at all" }\ncost = 1\n'
            "[costs]",
            "conditional_costs[0].when.cp: 'cp' has no state 'No pain at all'; its states are "
            "'typ', 'asym': this is the label of 'asym'; write the name",
        ),
    ],
)
def test_a_label_in_place_of_a_name_is_recognized(tmp_path, old, new, message):
    assert old in LABELLED
    with pytest.raises(VoilatticeError) as caught:
        load_text(tmp_path, LABELLED.replace(old, new, 1))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("threshold", "--feature", "chest pain"), "--feature: no feature 'chest pain': this is"),
        (("advise", "--evidence", "Chest pain=typ"), "--evidence Chest pain=typ: no feature"),
        (("advise", "--evidence", "cp=no pain at all"), "this is the label of 'asym'; write the"),
    ],
)
def test_the_command_line_recognizes_labels_too(run, tmp_path, arguments, message):
    (tmp_path / "p.toml").write_text(LABELLED)
    command, *options = arguments
    status, out, err = run(command, tmp_path / "p.toml", *options)
    assert (status, out) == (2, "")
    assert message in err
    assert "this is the label of" in err
