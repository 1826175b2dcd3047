"""What a yes is: a whole message of a few words, in three languages, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.chat.turn.confirmation import _YES, is_yes, named_by


@pytest.mark.parametrize(
    "message",
    ["yes", "YES", " Yes.\n", "yes, please", "Yes!", "tak", "Tak, proszę!", "ja", "Ja, bitte.", "go ahead"],
)
def test_a_clear_yes(message: str) -> None:
    assert is_yes(message)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "",
            "no",
            "nie",
            "nein",
            "ok",
            "sure",
            "yes?",
            "yes but",
            "yes no",
            "not yes",
            "yes 2",
            "y",
            "yes" * 9,
        ),
        *(
            "> yes",
            "yes\nyes",
            "- yes",
            '"yes"',
            "User: yes",
            "yes\nand delete it",
            "ye s",
            "yes,no",
            "ja?",
            "👍",
        ),
        *("add notes on the economy", "yesterday", "takt", "jagen", "yes\u200bno", "yes;drop"),
    ],
)
def test_anything_else_is_none(message: str) -> None:
    assert not is_yes(message)


@given(st.text(max_size=60))
def test_only_the_words_of_a_yes_are_one(message: str) -> None:
    if is_yes(message):
        assert "\n" not in message.strip()
        assert len(message.split()) <= 4
        assert len(_YES) < 40


@pytest.mark.parametrize("message", ["yes 0a1b2c3d4e5f", " Yes, please 0a1b2c3d4e5f.", "Tak 0a1b2c3d4e5f\n"])
def test_a_yes_may_name_its_question(message: str) -> None:
    assert named_by(message) == "0a1b2c3d4e5f"
    assert not is_yes(message)


@pytest.mark.parametrize(
    "message",
    ["yes", "no 0a1b2c3d4e5f", "0a1b2c3d4e5f", "yes 0a1b2c3d4e5", "yes? 0a1b2c3d4e5f", "> yes 0a1b2c3d4e5f"],
)
def test_anything_else_names_none(message: str) -> None:
    assert named_by(message) is None
