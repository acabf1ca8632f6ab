"""What is said of a text that is not TOML."""

import pytest

from voilattice.errors import InputError
from voilattice.files.problems import parse_toml


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


def test_a_decimal_comma_in_an_inline_table_is_recognized():
    with pytest.raises(InputError, match="write a decimal point, not a comma: 0.5$"):
        parse_toml("T = { T = 0,5, F = 1 }\n")


def test_lines_may_end_as_on_windows():
    with pytest.raises(InputError, match=r"line 2, column 10\): target = cause; text needs quotes"):
        parse_toml("[network]\r\ntarget = cause\r\n")
