"""Answers that are kept."""

from voilattice.web.answers import Answers


def test_the_answers_asked_for_longest_ago_make_room():
    answers = Answers(400)
    for name in "abcd":
        answers.keep(name, b"x" * 20)
    assert answers.n_bytes == 84
    assert answers.find("a") == b"x" * 20
    for k in range(16):
        answers.keep(f"{k:02}", b"y" * 20)
    assert answers.n_bytes <= 400
    assert answers.find("b") is None
    assert answers.find("a") == b"x" * 20
    answers.keep("a", b"other")  # an answer does not change
    assert answers.find("a") == b"x" * 20


def test_a_large_answer_is_not_kept():
    answers = Answers(1600)
    answers.keep("large", b"x" * 100)
    assert (answers.find("large"), answers.n_bytes) == (None, 0)
