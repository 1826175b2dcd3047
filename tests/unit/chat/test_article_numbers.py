"""Which articles a message names: only what is plainly an article's number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.chat.turn.article_numbers import articles_named


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("submit article 12", (12,)),
        ("Submit ARTICLE no. 12, please", (12,)),
        ("hand draft #5 to the editors", (5,)),
        ("submit #12", (12,)),
        ("artykuł 12 do redakcji", (12,)),
        ("wyślij artykuł nr 7", (7,)),
        ("oddaj szkic 8 do redakcji", (8,)),
        ("Artikel 12 einreichen", (12,)),
        ("reiche den Entwurf 3 ein", (3,)),
        ("version 2 of article 12", (12,)),
        ("submit 12", (12,)),
        ("please submit it: 12!", (12,)),
        ("12", (12,)),
        ("articles 12, 13 and 14", (12, 13, 14)),
        ("Artikel 4 und 5", (4, 5)),
        ("#3 or #4?", (3, 4)),
        ("article 9, again article 9", (9,)),
        ("submit it", ()),
        ("submit 3 articles", ()),
        ("what is the outlook for 2026", ()),
        ("outlook for 2026", ()),
        ("publish 2026", ()),
        ("submit the one with 12 charts", ()),
        ("hand what we spoke of to group 12", ()),
        ("submit 12.5", ()),
        ("article 12,13", ()),
        ("up 12 %", ()),
        ("article 0", ()),
        ("see C#12 and https://e.org/#12", ()),
        ("article 99999999999999999999", ()),
        ("", ()),
    ],
)
def test_articles_are_named_by_their_numbers(message: str, named: tuple[int, ...]) -> None:
    assert articles_named(message) == named


@given(st.text())
def test_any_text_names_positive_numbers_that_stand_in_it(message: str) -> None:
    named = articles_named(message)
    assert len(set(named)) == len(named)
    assert all(number > 0 and str(number) in message for number in named)
