"""Texts in the form in which messages, examples and topics' words are compared.

Case, accents and punctuation don't count, because people type without them.
A long text is worked on in parts: each call into C holds up all other threads, and so for one part only.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

# Letters that Unicode does not take apart.
_FOLDED = str.maketrans({"ł": "l", "ß": "ss", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
# Up to a blank; a run of more letters than this is no word, and may be cut.
_PART = re.compile(r"(?s:.{1,10000}(?!\S)|.{1,10000})")
# One character may stand for 18, a whole sentence (U+FDFA): such a one stays as it is.
_LONGEST_APART = 8
# A long message says what it wants where it begins or where it ends.
_HEAD, _TAIL = 1000, 500


def clipped(text: str, head: int = _HEAD, tail: int = _TAIL) -> str:
    """The first `head` and the last `tail` characters; all of a text that has no more."""
    return text if len(text) <= head + tail else f"{text[:head]} {text[-tail:]}"


def words(text: str) -> str:
    """The words of a text, lower-case and without accents, with single spaces between them."""
    return " ".join(part for part in words_in_parts(text) if part)


def words_in_parts(text: str) -> Iterator[str]:
    """The same, part by part, for who needs them only once: never more than a part is held in memory."""
    return (_words(part[0]) for part in _PART.finditer(text))


def _words(text: str) -> str:
    # Each character by itself: of a whole text Unicode would put the accents in order as well. That takes
    # time quadratic in their number, and here they only go.
    return " ".join(_WORD.findall(_plain(text)))


@lru_cache(maxsize=65536)
def without_accents(word: str) -> str:
    """A word in small letters without its accents."""
    return _plain(word)


def _plain(text: str) -> str:
    return text.casefold() if text.isascii() else "".join(map(_plain_letters, text))


@lru_cache(maxsize=4096)
def _plain_letters(character: str) -> str:
    """The letters of a character, lower-case and without accents."""
    # Taken apart twice: a letter's plain form may be a capital (`ℌ`), and folding a capital may make accents.
    folded = _apart(character).casefold().translate(_FOLDED)
    return "".join(c for c in "".join(map(_apart, folded)) if not unicodedata.combining(c))


def _apart(character: str) -> str:
    apart = unicodedata.normalize("NFKD", character)
    return apart if len(apart) <= _LONGEST_APART else character


def normal_form(message: str) -> str:
    """The words of a message's ends, every number written `0`: an article is as good as any other.

    Empty where it has neither a word nor a number (`???`, `👍`).
    """
    return _DIGITS.sub("0", words(clipped(message)))


def has_letters(text: str) -> bool:
    """Whether there is a letter, of whatever script."""
    return any(character.isalpha() for character in text)
