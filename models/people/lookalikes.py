"""Names that look like others: what can't be seen, or is another way to write the same. Pure.

Two names that look alike are one person to whoever reads an approval, so a token with such a name is refused.
Letters of different scripts that look alike are not told apart here: an issuer that hands out names in
several scripts has to.
"""

import unicodedata

from models.visible import unseen

_UNSEEN = {
    "Cc": "a control character",
    "Cf": "an invisible or direction mark",
    "Cs": "half of a character",
    "Co": "a character for private use",
    "Cn": "a character that is not assigned",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}


def fault_of(name: str) -> str | None:
    """Why a name could be taken for another one, or None."""
    for character in name:
        code = f"U+{ord(character):04X}"
        if (told := _UNSEEN.get(unicodedata.category(character))) is not None:
            return f"holds {told}, {code}"
        if unseen(character):
            return f"holds {code}, which can't be seen"
        if unicodedata.category(character) == "Zs" and character != " ":
            return f"holds {code}, which looks like a space"
    if name != name.strip(" ") or "  " in name:
        return "begins or ends with a space, or holds two in a row"
    if unicodedata.normalize("NFKC", name) != name:
        return "is not in normal form (NFKC): another name looks the same"
    return None
