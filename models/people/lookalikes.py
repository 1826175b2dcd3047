"""Names that look like others: what can't be seen, or is another way to write the same. Pure.

Two names that look alike are one person to whoever reads an approval, so a token with such a name is refused.
Letters of different scripts that look alike are not told apart here: an issuer that hands out names in
several scripts has to.
"""

import unicodedata

# What is shown as nothing though it is a letter or a mark (Default_Ignorable_Code_Point, Unicode 16 §5.21).
# Those that are controls or formats, such as bidi marks, are known by their category.
_IGNORABLE = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
_UNSEEN = {
    "Cc": "a control character",
    "Cf": "an invisible or direction mark",
    "Cs": "half of a character",
    "Co": "a character for private use",
    "Cn": "a character that is not assigned",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
# Symbols and letters that are blank have no property but their name, which Unicode never changes.
_BLANK = frozenset(("BLANK", "FILLER", "INVISIBLE", "NULL"))


def fault_of(name: str) -> str | None:
    """Why a name could be taken for another one, or None."""
    for character in name:
        code = f"U+{ord(character):04X}"
        if (told := _UNSEEN.get(unicodedata.category(character))) is not None:
            return f"holds {told}, {code}"
        if any(first <= ord(character) <= last for first, last in _IGNORABLE):
            return f"holds {code}, which can't be seen"
        if _BLANK & set(unicodedata.name(character, "").split()):
            return f"holds {code}, which is shown as nothing"
        if unicodedata.category(character) == "Zs" and character != " ":
            return f"holds {code}, which looks like a space"
    if name != name.strip(" ") or "  " in name:
        return "begins or ends with a space, or holds two in a row"
    if unicodedata.normalize("NFKC", name) != name:
        return "is not in normal form (NFKC): another name looks the same"
    return None
