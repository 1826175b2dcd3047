"""Whether something may be paid: it is held back, disputed, approved, or a hold was lifted.

Called by `claims`. By the value of a status and by what a sentence says, in three languages; what is asked,
denied or might be says nothing.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from actors.platform.text.lexicon import WHOLE, pattern, phrases_of_all, words_of_all
from actors.platform.text.normal_form import without_accents
from actors.platform.text.sentences.mail_sentences import SentenceSpan, sentences

Release = Literal["hold", "disputed", "approved", "cleared"]

_FILE = "payment_holds"
_BEGINS = r"(?<![^\W_]){}"
_LIFTED, _DISPUTED = pattern(_FILE, "lifted", _BEGINS), pattern(_FILE, "disputed", WHOLE)
_HELD, _APPROVED = pattern(_FILE, "held", WHOLE), pattern(_FILE, "approved", WHOLE)
# What stands before it takes it back, or leaves it open.
_UNSURE = words_of_all(_FILE, "unsure")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ANEW = re.compile(rf",\s(?=(?:{'|'.join(sorted(words_of_all(_FILE, 'anew')))})\s)")
_LOOKED_BACK = 45
_MOST = 20


class SaidRelease(NamedTuple):
    """What a sentence says, and where the words stand."""

    release: Release
    start: int
    end: int
    sentence: SentenceSpan


def release_of(value: str) -> Release | None:
    """What the value of a status says."""
    plain = " ".join(without_accents(word) for word in value[:80].replace("_", " ").replace("-", " ").split())
    releases: tuple[Release, ...] = ("hold", "disputed", "approved")
    return next((one for one in releases if plain in phrases_of_all(_FILE, f"value_{one}")), None)


def releases_in(text: str) -> Iterator[SaidRelease]:
    """What the sentences of a text say of whether it may be paid, one each; a lifted hold before a hold."""
    for sentence in sentences(text):
        if sentence.mark != "?" and (found := _said(text, sentence)):
            yield found


def _said(text: str, sentence: SentenceSpan) -> SaidRelease | None:
    found = _LIFTED.search(text, sentence.start, sentence.end)
    if found:
        return SaidRelease("cleared", found.start(), found.end(), sentence)
    if (disputed := _last(_DISPUTED, text, sentence)) is not None:
        return SaidRelease("disputed", *disputed, sentence)
    held, approved = _last(_HELD, text, sentence), _last(_APPROVED, text, sentence)
    # `was on hold, now released for payment`: what is said last.
    if held is not None and (approved is None or held > approved):
        return SaidRelease("hold", *held, sentence)
    return SaidRelease("approved", *approved, sentence) if approved is not None else None


def _last(pattern: re.Pattern[str], text: str, sentence: SentenceSpan) -> tuple[int, int] | None:
    found = islice(pattern.finditer(text, sentence.start, sentence.end), _MOST)
    sure = [one.span() for one in found if not _is_unsure(text, sentence.start, one.start())]
    return sure[-1] if sure else None


def _is_unsure(text: str, start: int, at: int) -> bool:
    before = _ANEW.split(text[max(start, at - _LOOKED_BACK) : at].casefold())[-1]
    return any(word in _UNSURE for word in _WORD.findall(before)[-4:])
