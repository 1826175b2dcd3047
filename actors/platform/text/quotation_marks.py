"""Quotation marks around somebody's words: titles, names of tables, sentences.

Called where these are shown beside words of code's own. The marks are of a kind that the words themselves
don't have, so that nobody's words can close them.
"""

import re

from actors.platform.text.language import Language
from actors.platform.text.lexicon import ENGLISH, words_listed

_HOLE = "\ufffc"
_CURLY, _ANGLED = re.compile("[“”„‟❝❞〝〞〟＂]"), re.compile("[«»‹›《》]")
# A straight mark opens before a word and closes behind one.
_STRAIGHT = re.compile(r"\"")


def quoted(words: str, language: Language) -> str:
    """The words in quotation marks of the language. Those that have marks of all kinds lose them."""
    if not can_be_quoted(words):
        words = _STRAIGHT.sub("", _ANGLED.sub("", _CURLY.sub("", words)))
    *first, opening, closing = _marks(language)
    if not _CURLY.search(words):
        opening, closing = first
    return f"{opening}{words}{closing}"


def _marks(language: Language) -> list[str]:
    """A pair, and another for words that have such marks; those of English where the language lists none."""
    key = ("language", "quotation_marks")
    return words_listed(language, *key) or words_listed(ENGLISH, *key)


def can_be_quoted(words: str) -> bool:
    """Whether marks are left to put around the words, whose straight ones open and close as a pair does.

    Words with a hole, U+FFFC, where a formula or a picture stood can't be.
    """
    if _HOLE in words:
        return False
    if _CURLY.search(words) and _ANGLED.search(words):
        return False
    marks = [found.start() for found in _STRAIGHT.finditer(words)]
    opening, closing = marks[::2], marks[1::2]
    return (
        len(opening) == len(closing)
        and all(not words[place + 1 : place + 2].isspace() for place in opening)
        and all(place == 0 or not words[place - 1].isalnum() for place in opening)
        and all(not words[place - 1].isspace() for place in closing)
        and all(not words[place + 1 : place + 2].isalnum() for place in closing)
    )
