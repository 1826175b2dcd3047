"""Which of our three languages a text is in.

Called by whoever reads or writes sentences. Pure; of a long text only the beginning is looked at.
"""

import re
from typing import Literal

Language = Literal["en", "pl", "de"]

_BEGINNING = 2_000
_WORD = re.compile(r"[^\W\d_]+")
# Words that no other of the three languages has: neither "to" nor "die", "was", "in", "do" or "on".
_FUNCTION_WORDS: dict[str, Language] = {
    **dict.fromkeys(
        "the of and is that for with by are from has have had it its this were they which "  # noqa: SIM905
        "would at be been not will their but who said he she you what how there can".split(),
        "en",
    ),
    **dict.fromkeys(
        "w z na i nie jest oraz przez dla od po ale jak są było był była który która które "  # noqa: SIM905
        "ze za już tym tego roku także jego jej ich może czy przed przy ma być został została tak się "
        "że".split(),
        "pl",
    ),
    **dict.fromkeys(
        "der das und ist von den mit zu auf für dem nicht ein eine einen einer einem des "  # noqa: SIM905
        "sich wird hat als auch im zum zur bei nach aus sind haben werden wurde wurden dass über oder ich er "
        "wir es noch".split(),
        "de",
    ),
}
_LETTERS: tuple[tuple[Language, frozenset[str]], ...] = (
    ("pl", frozenset("ąćęłńśźż")),
    ("de", frozenset("äöüß")),
)


def language_of(text: str) -> Language:
    """The language of a text, by the function words and the letters it begins with; English if in doubt."""
    points: dict[Language, int] = {"en": 0, "pl": 0, "de": 0}
    for word in _WORD.findall(text[:_BEGINNING]):
        plain = word.lower()
        if (language := _FUNCTION_WORDS.get(plain)) is not None:
            points[language] += 2
        for other, letters in _LETTERS:
            points[other] += not letters.isdisjoint(plain)
    best = max(points.values())
    return next((one for one in points if points[one] == best), "en")
