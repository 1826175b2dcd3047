"""Which of our three languages a text is in.

Called by whoever reads or writes sentences. Pure; of a long text only the beginning is looked at.
"""

import re
from typing import Literal

from models.text import word_list

Language = Literal["en", "pl", "de"]

_BEGINNING = 2_000
# Letters alone are left to `_ALONE`: the I of English, the W of a name, the O of O'Neill.
_WORD = re.compile(r"[^\W\d_]{2,}")
# Short words of Polish, by themselves and small, or at the very beginning: `Co` is a company, too.
_ALONE = re.compile(r"(?<!\S)(?:[iowz]|co)(?!\S)|\A(?:[OWZ]|Co)(?=\s)")
# Words that no other of the three languages has: neither "to" nor "die", "was", "in", "do" or "on". At the
# end, without a language of ours, words that none of the three has, nor Polish that is typed without accents.
_FUNCTION_WORDS: dict[str, Language | None] = {
    **dict.fromkeys(
        word_list(
            "the of and is that for with by are from has have had it its this were they which would at be "
            "been not will their but who said he she you what how there can about when where why did does we "
            "could should these those them than into if or want me please any get"
        ),
        "en",
    ),
    **dict.fromkeys(
        word_list(
            "na nie jest oraz przez dla od po ale jak są było był była który która które "
            "ze za już tym tego roku także jego jej może czy przed przy ma być został została tak się "
            "że ile kto kiedy gdzie dlaczego czemu jakie jaki jaka czym czego tych tej nad bez więc lub gdy "
            "tylko bardzo będzie były kosztuje napisz pokaż proszę nowe "
            "daj podaj tam teraz coś ktoś"
        ),
        "pl",
    ),
    **dict.fromkeys(
        word_list(
            "der das und ist von den mit zu auf für dem nicht ein eine einen einer einem des sich wird hat "
            "als auch im zum zur bei nach aus sind haben werden wurde wurden dass über oder ich er wir es "
            "noch wie warum wer wen wem welche welcher welches welchen wo wann wieviel wieso woher kostet "
            "mehr gegen kein keine kann muss soll ihr ihre sein seine seit vor durch unter bis wenn weil "
            "diese dieser dieses ohne zwischen nur doch schon zeige bitte gibt kannst dir mir mich hab gib "
            "beim ins vom denn jetzt letzte hast sagt prozent"
        ),
        "de",
    ),
    # French; Spanish, Portuguese; Italian; Dutch; Czech, Slovak; Swedish, Danish; Hungarian and others.
    **dict.fromkeys(
        word_list(
            "le la les et est une dans pour que qui sur aux avec pas cette sont ont été leur "
            "el una con del por para como más pero sus este desde uma dos em não mais pelo pela foi são "
            "il di che della dei gli nel sono anche alla non più lo si "
            "het een van voor niet met op aan ook maar bij door wordt werd naar uit deze heeft zijn "
            "je se jsou podle podľa také který která které ktorý ktoré ako při pri nebo alebo bude mezi však "
            "och att det som är för inte av på med ett till från og ikke af til "
            "az és hogy nem egy și este cu din că bir ve için että ovat myös"
        ),
        None,
    ),
}
_LETTERS: dict[Language, frozenset[str]] = {"pl": frozenset("ąćęłńśźż"), "de": frozenset("äöüß")}
# Letters of no other language than these, and ó, which too many have; with any other a word is of none.
_OURS = frozenset("abcdefghijklmnopqrstuvwxyzó").union(*_LETTERS.values())
# How long words of the three languages end, where only one of them has words that end so.
_LONG = 7
_ENDINGS: dict[Language, tuple[str, ...]] = {
    "pl": (
        *("kowe", "towe", "sowe", "dowe", "mowe", "nowe", "owego", "owej", "owych", "nego", "kiego", "ować"),
        *("acja", "acji", "acje", "ację", "acją", "kcja", "kcji"),
    ),
    "de": ("ung", "ungen", "keit", "keiten", "heit", "schaft", "lich", "liche", "lichen", "ische", "ischen"),
}
_NAMES = frozenset(["samsung"])


def language_of(text: str) -> Language:
    """The language of a text, by its words, their endings and their letters; English if in doubt.

    A text with more words of other languages than of any of the three is read as English, too.
    """
    points = _points_of(text)
    best = max(points.values())
    return next((one for one in ("en", "pl", "de") if points[one] == best), "en")


def is_of_another(text: str) -> bool:
    """Whether a text has more words of other languages than of any of the three."""
    points = _points_of(text)
    return points[None] > max(points["en"], points["pl"], points["de"])


def _points_of(text: str) -> dict[Language | None, int]:
    beginning = text[:_BEGINNING].strip()
    shouted = beginning.isupper()
    beginning = beginning.lower() if shouted else beginning
    words = _WORD.findall(beginning)
    # Each once: Portuguese has an `o` in every line.
    alone = {found.lower() for found in _ALONE.findall(beginning)}
    points: dict[Language | None, int] = {"en": 0, "pl": 2 * len(alone), "de": 0, None: 0}
    named: dict[Language, int] = {"pl": 0, "de": 0}
    for word in words:
        plain = word.lower()
        if plain in _FUNCTION_WORDS:
            # Of capitals alone it is an abbreviation: MIT, WHO.
            points[_FUNCTION_WORDS[plain]] += 0 if word.isupper() else 2
            continue
        points[None] += not _OURS.issuperset(plain)
        for language, letters in _LETTERS.items():
            has_letters = not letters.isdisjoint(plain)
            ends_so = len(plain) >= _LONG and plain.endswith(_ENDINGS[language]) and plain not in _NAMES
            if has_letters and word[0].isupper() and not ends_so:
                named[language] += 1
            else:
                points[language] += has_letters or ends_so
    for language, count in named.items():
        # One name among other words says nothing: `Gdańsk shipyard strike`.
        if count > 1 or 2 * count >= len(words):
            points[language] += count
    return points
