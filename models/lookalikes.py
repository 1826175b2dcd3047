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
_UNSEEN = {"Cc": "a control character", "Cf": "an invisible or direction mark", "Cs": "half of a character"}


def fault_of(name: str) -> str | None:
    """Why a name could be taken for another one, or None."""
    for character in name:
        code = f"U+{ord(character):04X}"
        if (told := _UNSEEN.get(unicodedata.category(character))) is not None:
            return f"holds {told}, {code}"
        if any(first <= ord(character) <= last for first, last in _IGNORABLE):
            return f"holds {code}, which can't be seen"
    if unicodedata.normalize("NFKC", name) != name:
        return "is not in normal form (NFKC): another name looks the same"
    return None
