"""Doubts about a quotation that code can find: that its cut, or its age, makes it say something else.

Called by whoever reviews a text of quotations. What cannot be quoted at all is not offered in the first place
(`actors.platform.extractive.self_contained`); these are matters of judgement.
"""

import re
from datetime import date
from itertools import pairwise
from typing import Literal

from actors.platform.extractive.corrections import Corrections
from actors.platform.extractive.quotable import takes_back
from actors.platform.extractive.speakers import names_speaker
from actors.platform.text.language import Language
from actors.platform.text.lexicon import pattern_in
from actors.platform.text.sentences.sentences import Sentence, sentences
from models.record import Record
from models.text import shortened

DoubtKind = Literal["goes_on_otherwise", "set_right", "undated", "stale", "first_person"]

_OLD_DAYS = 365
_NOTE = 200
_FILE, _WORDS = "quoting", r"\b{}\b"
_SPOKEN = re.compile(r"[“„«»\"][^“”„«»\"]{1,400}[”“«»\"]")


class Doubt(Record):
    """A doubt: about which words, of which kind, and in a sentence what it is."""

    excerpt: str
    kind: DoubtKind
    note: str


def doubts(
    quoted: list[Sentence], source: str, language: Language, *, said_on: date | None, written_on: date
) -> list[Doubt]:
    """What code holds against quotations of a source, in their order.

    Args:
        said_on: the source's date, if it is known.
        written_on: the day of the text that quotes it.
    """
    everything = sentences(source, language)
    following, corrections = _following(everything), Corrections(source, everything, language)
    found = []
    for one in quoted:
        after = following.get(one.end)
        if after is not None and takes_back(after.text, language):
            told = f"the source goes on: “{shortened(after.text, _NOTE)}”"
            found.append(Doubt(excerpt=one.text, kind="goes_on_otherwise", note=told))
        if corrections.told and corrections.share_of(one.text):
            told = f"the source sets something right: “{shortened(corrections.told[0].text, _NOTE)}”"
            found.append(Doubt(excerpt=one.text, kind="set_right", note=told))
        bare = _SPOKEN.sub(" ", one.text)
        if when := pattern_in(language, _FILE, "relative", _WORDS).search(bare):
            if said_on is None:
                told = f"it says “{when[0]}”, and the source has no date"
                found.append(Doubt(excerpt=one.text, kind="undated", note=told))
            elif (written_on - said_on).days > _OLD_DAYS:
                told = f"it says “{when[0]}”, and the source is of {said_on.isoformat()}"
                found.append(Doubt(excerpt=one.text, kind="stale", note=told))
        spoken = pattern_in(language, _FILE, "first_person", _WORDS)
        if not names_speaker(one.text) and (who := spoken.search(bare)):
            told = f"it says “{who[0]}”, and not who speaks"
            found.append(Doubt(excerpt=one.text, kind="first_person", note=told))
    return found


def _following(all_of: tuple[Sentence, ...]) -> dict[int, Sentence]:
    """The sentence after each one, by where that one ends."""
    return {one.end: after for one, after in pairwise(all_of)}
