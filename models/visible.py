r"""Which characters of a text people can see: one table, by Unicode's own properties. Pure, in linear time.

`models.text` refuses what can't be seen or takes it out, `cluster.plain_text` writes it out as `\u…`, and
`models.people.lookalikes` refuses it in names. Joiners and variation selectors count as seen only where a
script or an emoji is written with them: anywhere else whole messages can hide in them.
"""

from collections.abc import Callable

import regex

MOST_MARKS = 8  # on one letter: Tibetan, pointed Hebrew and Vietnamese need fewer
# Symbols and marks that are blank though no property says so: Braille, music, Khitan, hieroglyphs.
_BLANK = r"\u2800\U0001D159\U00016FE4\U00013441\U00013442"
# Formats that stand under digits (U+0600) are seen; so are pictographs that are newer than the tables.
_UNSEEN = (
    r"[[\p{C}--\p{Prepended_Concatenation_Mark}--\p{Extended_Pictographic}]"
    rf"\p{{Default_Ignorable_Code_Point}}\p{{Zl}}\p{{Zp}}{_BLANK}]"
)
# Scripts in which U+200C and U+200D say how letters are joined.
_JOINED = "".join(
    rf"\p{{Script={name}}}"
    for name in (
        *("Arabic", "Syriac", "Mandaic", "Nko", "Mongolian", "Adlam", "Devanagari", "Bengali", "Gurmukhi"),
        *("Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Tibetan", "Myanmar"),
        *("Khmer", "Balinese", "Javanese", "Newa", "Chakma", "Grantha"),
    )
)
_AFTER_JOINED = rf"(?<=[[{_JOINED}]&&\p{{L}}]\p{{M}}{{0,{MOST_MARKS}}})[\u200C\u200D]"
_JOINED_EMOJI = (
    r"(?<=\p{Extended_Pictographic}\uFE0F?|\p{Extended_Pictographic}\p{Emoji_Modifier})"
    r"\u200D(?=\p{Extended_Pictographic})"
)
_SELECTED = (
    r"(?<=[\p{Extended_Pictographic}])[\uFE0E\uFE0F]|(?<=[#*0-9])\uFE0F(?=\u20E3)"
    r"|(?<=[\p{Script=Mongolian}&&\p{L}])[\u180B-\u180D\u180F]"
)
# The flags of England, Scotland and Wales: the only ones that are written with tags.
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_KEPT = rf"(?:{_FLAGS}|{_AFTER_JOINED}|{_JOINED_EMOJI}|{_SELECTED})(*SKIP)(*FAIL)"
_HIDDEN = regex.compile(rf"{_KEPT}|[{_UNSEEN}--[\t\n\r]]", regex.V1)
_TOO_MANY_MARKS = regex.compile(rf"(?<=\p{{M}}{{{MOST_MARKS}}})\p{{M}}", regex.V1)
_STEERING = regex.compile(r"[\p{Cc}\p{Zl}\p{Zp}]", regex.V1)
_UNSEEN_ONE = regex.compile(_UNSEEN, regex.V1)
_SHOWN = regex.compile(rf"[[\p{{L}}\p{{N}}\p{{P}}\p{{S}}\p{{Extended_Pictographic}}]--{_UNSEEN}]", regex.V1)
_OTHER_SPACE = regex.compile(r"[\p{Zs}--[ ]]", regex.V1)


def unseen(character: str) -> bool:
    """Whether a character is not seen by itself, wherever it stands."""
    return _UNSEEN_ONE.match(character) is not None


def steers(character: str) -> bool:
    """Whether it is a control character or ends a line or a paragraph."""
    return _STEERING.match(character) is not None


def first_hidden(text: str) -> str | None:
    """The first character that is not seen where it stands; tabs and line ends count as seen."""
    found = _HIDDEN.search(text) or _TOO_MANY_MARKS.search(text)
    return None if found is None else found[0]


def without_hidden(text: str, instead: Callable[[str], str]) -> str:
    """The text with something else for each character that `first_hidden` would find."""
    if text.isascii() and text.isprintable():
        return text
    return str(_TOO_MANY_MARKS.sub(_put(instead), _HIDDEN.sub(_put(instead), text)))


def with_spaces_told(text: str, instead: Callable[[str], str]) -> str:
    """The text with something else for each space that is not the common one."""
    return str(_OTHER_SPACE.sub(_put(instead), text))


def shows_something(text: str) -> bool:
    """Whether there is a letter, digit or sign to be seen: spaces, marks and fillers alone are nothing."""
    return _SHOWN.search(text) is not None


def _put(instead: Callable[[str], str]) -> "Callable[[regex.Match[str]], str]":
    return lambda found: instead(found[0])
