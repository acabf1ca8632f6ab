"""How names, counts and amounts are written."""

import pytest

from voilattice.wording import (
    count_noun,
    format_amount,
    format_bytes,
    format_mean,
    in_currency,
    join_names,
    nearest,
    quote,
    round_count,
)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "0.00"),
        (1e-12, "0.00"),
        (-1e-12, "0.00"),
        (-9.6, "-9.60"),
        (1234.5, "1,234.50"),
        (0.00123456, "0.001235"),
        (2e20, "2e+20"),
    ],
)
def test_an_amount_has_two_decimals_or_four_digits(amount, shown):
    assert format_amount(amount) == shown


def test_a_mean_has_its_standard_error_if_that_is_known():
    assert (format_mean(12.5, 0.4), format_mean(12.5, None)) == ("12.50 ± 0.40", "12.50")


def test_counts_have_the_right_number():
    assert [count_noun(n, "node") for n in (0, 1, 2, 1000)] == [
        "0 nodes", "1 node", "2 nodes", "1,000 nodes",
    ]  # fmt: skip
    assert [count_noun(n, "policy") for n in (1, 2)] == ["1 policy", "2 policies"]
    assert round_count(12_345) == "12,345"
    assert round_count(10**15) == "10^15"


def test_names_are_joined_in_order():
    assert join_names(["b"], "and") == "b"
    assert join_names({"b", "a"}, "or") == "a or b"
    assert join_names({"c", "b", "a"}, "and") == "a, b and c"
    assert join_names([], "and") == ""


def test_the_nearest_name_is_suggested_and_few_names_are_listed():
    assert nearest("chool", ["chol", "fbs"]) == " (nearest: 'chol')"
    assert nearest("zzz", ["chol", "fbs"]) == " (there are: chol, fbs)"
    assert nearest("zzz", [f"name{k}" for k in range(9)]) == (
        " (there are: name0, name1, name2, name3, name4, name5, name6, name7 and 1 more)"
    )
    assert nearest("zzz", {"b", "a"}) == " (there are: a, b)"
    assert nearest("zzz", []) == ""
    assert nearest(3, ["chol"]) == " (there are: chol)"


def test_names_that_are_not_text_are_listed_and_never_near():
    assert nearest("abc", [1, 2]) == " (there are: 1, 2)"
    assert nearest("chool", [1, "chol"]) == " (nearest: 'chol')"
    assert nearest("zzz", {"b", 1}) == " (there are: 1, b)"


def test_a_name_that_holds_what_was_typed_is_nearer_than_one_spelled_like_it():
    names = ["single", "rent_or_housing", "housing_to_income", "Loan"]
    assert nearest("housing", names) == " (nearest: 'housing_to_income')"
    assert nearest("rent", names) == " (nearest: 'rent_or_housing')"
    assert nearest("income", names) == " (nearest: 'housing_to_income')"
    assert nearest("loan", names) == " (nearest: 'Loan')"
    assert nearest("in", names).startswith(" (there are: ")  # a part of most names


def test_long_values_are_cut():
    assert quote("x") == "'x'"
    assert len(quote("x" * 500)) == 60
    assert quote("x" * 500).endswith("...")


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1, "1 byte"), (512, "512 bytes"), (1536, "1.5 KiB"), (2 << 20, "2.0 MiB"),
        (4 << 30, "4,096 MiB"), (1 << 80, "10^18 MiB"),
    ],
)  # fmt: skip
def test_memory_has_a_unit_that_shows_it(number, shown):
    assert format_bytes(number) == shown


def test_an_amount_in_a_sentence_has_its_currency_and_a_table_has_it_in_the_heading():
    assert format_amount(12.5, "CAD") == "12.50 CAD"
    assert format_amount(0, "CAD") == "0.00 CAD"
    assert format_amount(12.5) == "12.50"
    assert in_currency("cost", "CAD") == "cost (CAD)"
    assert in_currency("cost", "") == "cost"
    assert in_currency("", "CAD") == "CAD"
    assert in_currency("", "") == ""
