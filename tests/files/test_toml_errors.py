"""What is said of a text that is not TOML."""

import pytest

from voilattice.errors import InputError
from voilattice.files.problems import parse_toml
from voilattice.files.toml_errors import has_decimal_commas


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[network]\ntarget = cause\n",
            'Invalid value (at line 2, column 10): target = cause; text needs quotes: "cause"',
        ),
        (
            'states = ["dim", very bright]\n',
            'Invalid value (at line 1, column 18): states = ["dim", very bright]; '
            'text needs quotes: "very bright"',
        ),
        (
            "lamp = 0,5\n",
            "Expected newline or end of document after a statement (at line 1, column 9): "
            "lamp = 0,5; write a decimal point, not a comma: 0.5",
        ),
        (
            "lamp = 1,000\n",
            "Expected newline or end of document after a statement (at line 1, column 9): "
            "lamp = 1,000; a number has no comma",
        ),
        (
            "table = [[0,05, 0,95]]\n",
            "Unclosed array (at line 1, column 14): table = [[0,05, 0,95]]; "
            "write a decimal point, not a comma",
        ),
        (
            "lamp = 5 EUR\n",
            "Expected newline or end of document after a statement (at line 1, column 10): "
            'lamp = 5 EUR; a number stands alone, and text needs quotes: "5 EUR"',
        ),
        (
            f"table = [{'[0.5, 0.5], ' * 20}[0.5, half]]\n",
            "Invalid value (at line 1, column 256): "
            "...[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, half]]; "
            'text needs quotes: "half"',
        ),
        ("\x1b = 1\n", "Invalid statement (at line 1, column 1): = 1"),
        ("a = [1,\n", "Invalid value (at end of document)"),
    ],
)
def test_the_line_is_shown_with_what_to_write_where_that_is_plain(text, message):
    with pytest.raises(InputError) as caught:
        parse_toml(text)
    assert str(caught.value) == f"not valid TOML: {message}"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("T = { T = 0,5, F = 1 }", "0.5"),
        ("T = {T = 0,5}", "0.5"),
        ("T = { T = 0,5 }", "0.5"),
        ("T = { T = 0, F = 12,5 }", "12.5"),
        ("T = -0,5", "-0.5"),
        ("T = 0,125", "0.125"),
    ],
)
def test_a_decimal_comma_is_recognized(text, number):
    with pytest.raises(InputError, match=f"; write a decimal point, not a comma: {number}$"):
        parse_toml(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1 = {1 = 0,2 = x}", 'text needs quotes: "x"'),
        ("1 = {1 = 0,2 = 5 EUR}", 'a number stands alone, and text needs quotes: "5 EUR"'),
        (r"file = C:\data\net.bif", r"text needs quotes: 'C:\data\net.bif'"),
    ],
)
def test_the_hint_is_about_the_place_where_the_parser_stopped(text, hint):
    with pytest.raises(InputError) as caught:
        parse_toml(text)
    assert str(caught.value).endswith(f": {text}; {hint}")


@pytest.mark.parametrize(
    "text",
    [
        'title = "x = 1,5" oops',
        "1 = {1 = 0,2 x}",
        "title = Bob's car",
        "title = 5 o'clock",
        "title = cause = effect",
        "lamp = 1__000",
    ],
)
def test_where_no_mistake_is_plain_there_is_no_hint(text):
    with pytest.raises(InputError) as caught:
        parse_toml(text)
    assert str(caught.value).endswith(f": {text}")


def test_text_that_is_long_is_not_said_again():
    with pytest.raises(InputError) as caught:
        parse_toml(f"title = {'very ' * 20}long")
    assert "quotes" not in str(caught.value)


@pytest.mark.parametrize(
    ("row", "n", "expected"),
    [
        ([0, 60, 0, 40], 2, True),
        ([0, 9, 0, 1], 2, True),
        ([0, 75, 0.1, 0.15], 3, True),
        ([0, 7.5, 0.1, 0.15], 3, False),
        ([1, 0, 0, 60], 2, True),
        ([1, 0, 0, 1], 2, False),  # two rows in one
        ([60, 30, 10], 2, False),
        ([60, 30, 0, 10], 2, False),
        ([0, 60], 2, False),
        ([], 0, False),
    ],
)
def test_decimals_stand_behind_a_zero(row, n, expected):
    assert has_decimal_commas(row, n) is expected


def test_lines_may_end_as_on_windows():
    with pytest.raises(InputError, match=r"line 2, column 10\): target = cause; text needs quotes"):
        parse_toml("[network]\r\ntarget = cause\r\n")
