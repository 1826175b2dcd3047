"""A model's words reach people as they are seen, whole or cut anywhere on their way."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from actors.platform.llm.chat_model import read_object
from actors.platform.llm.shown import ShownPieces, shown_json
from models.text import seen

# Letters, and all that is seen in some places and in others not.
PARTS = (
    *("a", "Ż", " ", "\n", ".", "1", "#", "漢", "क", "न", "\u0301", "\u094d", "سلام", "\U0001f468"),
    *("\U0001f3fd", "\u2764", "\u200d", "\u200c", "\ufe0f", "\u20e3", "\u202e", "\x1b", "\x00", "\u2028"),
    *("\u200b", "\u3164", "\xad", "\u180b", "ᠮ", "\U0001f3f4", "\U000e0067", "\U000e0062", "\U000e0065"),
    *("\U000e006e", "\U000e007f", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
)
texts = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


@given(texts, st.lists(st.integers(1, 4), max_size=80))
@example("\U0001f468\u200d\U0001f468 1\ufe0f\u20e3 \U0001f3f4\U000e0067\U000e0062\U000e007f", [1] * 80)
@example("a" + "\u0301" * 30, [1] * 80)
@example("पढ़\u200dना\u202e", [1] * 80)
def test_pieces_together_are_what_is_seen_of_the_whole(text: str, sizes: list[int]) -> None:
    pieces, given_out, at = ShownPieces(), "", 0
    for size in sizes:
        given_out += pieces.feed(text[at : at + size])
        at += size
    given_out += pieces.feed(text[at:]) + pieces.finish()
    assert given_out == seen(text)


def test_words_are_given_as_they_come() -> None:
    pieces = ShownPieces()
    assert pieces.feed("Rates") == "Rates"
    assert pieces.feed(" were held\u202e") == " were held"
    assert pieces.feed(" at 5.") == " at 5."
    assert pieces.finish() == ""


def test_an_end_without_end_is_not_kept() -> None:
    """What never becomes a word is given out in parts, each looked at once."""
    pieces = ShownPieces()
    given_out = sum(len(pieces.feed("\u2764")) for _ in range(20_000))
    assert given_out > 19_000


def test_json_holds_what_is_seen_however_it_was_escaped() -> None:
    said = '{"title": "Rates\\u202e \\u001b[2Jheld\u200b", "n": 1.50, "of": ["a\\u3164", {"k\\u200b": null}]}'
    assert json.loads(shown_json(said)) == {"title": "Rates  [2Jheld", "n": 1.5, "of": ["a", {"k": None}]}
    assert read_object(said)["title"] == "Rates  [2Jheld"
    for untouched in ('{"n": 1.50}', "no JSON\u200b", '{"a": 1, "a": 2}', "[" * 100_000):
        assert shown_json(untouched) == untouched
