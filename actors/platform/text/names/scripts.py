"""The scripts that names are written in, as far as comparing them goes.

Latin, Greek and Cyrillic words can be misspelt by a letter, and
embedding models know words in them. Of other scripts, a small model knows single signs, or none.
"""

import unicodedata

_ALPHABETS = ("LATIN", "GREEK", "CYRILLIC")
_BY_SYLLABLES = ("CJK", "HANGUL")


def is_alphabetic(text: str) -> bool:
    """Whether a text has letters, and all of them are Latin, Greek or Cyrillic."""
    letters = [char for char in text if char.isalpha()]
    return bool(letters) and (
        text.isascii() or all(unicodedata.name(char, "").startswith(_ALPHABETS) for char in letters)
    )


def syllables(text: str) -> int:
    """How many Chinese characters or Korean syllables a text has; of kana, which only spell, none."""
    return 0 if text.isascii() else sum(unicodedata.name(c, "").startswith(_BY_SYLLABLES) for c in text)
