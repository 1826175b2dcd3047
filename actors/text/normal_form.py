"""Texts in the form in which messages, examples and topics' words are compared.

Case, accents and punctuation don't count, because people type without them. Used by everything that routes.
"""

import re
import unicodedata
from functools import lru_cache

# Letters that Unicode does not take apart.
_FOLDED = str.maketrans({"ł": "l", "ß": "ss", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"})
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
# A long message says what it wants where it begins or where it ends.
_HEAD, _TAIL = 1000, 500


def clipped(text: str, head: int = _HEAD, tail: int = _TAIL) -> str:
    """The first `head` and the last `tail` characters; all of a text that has no more."""
    return text if len(text) <= head + tail else f"{text[:head]} {text[-tail:]}"


def words(text: str) -> str:
    """The words of a text, lower-case and without accents, with single spaces between them."""
    # Taken apart twice: a letter's plain form may be a capital (`ℌ`), and folding a capital may make accents.
    folded = _apart(text).casefold().translate(_FOLDED)
    decomposed = _apart(folded)
    if not decomposed.isascii():
        decomposed = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(_WORD.findall(decomposed))


def _apart(text: str) -> str:
    """Its letters and accents, each character by itself.

    Of a whole text the accents are put in order as well. That takes time quadratic in their number, and
    here they only go.
    """
    return text if text.isascii() else "".join(map(_decomposed, text))


@lru_cache(maxsize=4096)
def _decomposed(character: str) -> str:
    return unicodedata.normalize("NFKD", character)


def normal_form(message: str) -> str:
    """The words of a message's ends, every number written `0`: an article is as good as any other.

    Empty where it has neither a word nor a number (`???`, `👍`).
    """
    return _DIGITS.sub("0", words(clipped(message)))


def has_letters(text: str) -> bool:
    """Whether there is a letter, of whatever script."""
    return any(character.isalpha() for character in text)
