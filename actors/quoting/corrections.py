"""What a text takes back elsewhere: corrections, updates, retractions, and verdicts on what stands above.

Called by `quotable`, which offers nothing that was set right, and by whoever doubts a quotation. Which
sentence a correction is about is told by the words they share: by half of them, or where none has so many, by
a few.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from actors.quoting.sentences import Sentence
from actors.text.language import Language
from actors.text.lexicon import phrase_pattern
from actors.text.relevance import content_words

_FILE = "voices"
_LABEL = re.compile(
    r"[\W_]{0,8}(?P<name>[^\W\d_][^:*_\n!?–—(,]{0,40}?)(?:\s?[,(][^:\n]{0,40}|\s\d[^:\n]{0,20})?[*_]{0,3}\s?[:：–—]"
)
# A heading, or a line of its own.
_LINE = re.compile(r"^[ \t#*_]{0,8}(?P<name>[^\n:*_]{3,40}?)[ \t*_:]{0,6}$", re.MULTILINE)
_POINTS = re.compile(r"(?:this|that|it|these|those|das|dies\w*|es|to|temu|tego|te|ten|ta)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
# Inflected words share their beginning.
_BEGINNING = 5
# The share of a sentence's words from which on a correction is about it; where it is about none, from which.
_SAME, _LIKE = 0.5, 0.25
_FEWEST = 2
_MOST_WORDS = 10


class Corrections:
    """The sentences with which a text sets something right (`told`), and those that they are about."""

    def __init__(self, text: str, everything: Sequence[Sentence], language: Language) -> None:
        retracts = phrase_pattern(language, (_FILE, "retractions"))
        self.is_retracted = any(retracts.search(one.text) for one in everything)
        self.told = list(_told(text, everything, language))
        paragraphs = {one.paragraph for one in self.told}
        self._words = {
            word for one in everything if one.paragraph in paragraphs for word in _beginnings(one.text)
        }
        shares = {one.start: self.share_of(one.text) for one in everything if one.paragraph not in paragraphs}
        least = _SAME if max(shares.values(), default=0.0) >= _SAME else _LIKE
        self._withheld = {start for start, share in shares.items() if share >= least}
        self._withheld |= {one.start for one in self.told}

    def withhold(self, one: Sentence) -> bool:
        """Whether a sentence was set right elsewhere, or only says that something was."""
        return self.is_retracted or one.start in self._withheld

    def share_of(self, sentence: str) -> float:
        """The share of a sentence's words that the corrections have, 0 to 1."""
        mine = _beginnings(sentence)
        same = len(mine & self._words)
        return same / len(mine) if same >= _FEWEST else 0.0


def _told(text: str, everything: Sequence[Sentence], language: Language) -> Iterator[Sentence]:
    label = phrase_pattern(language, (_FILE, "correction_labels"))
    says_so = phrase_pattern(language, (_FILE, "corrections"))
    starts = [one.start for one in everything]
    headed = {
        bisect_left(starts, line.end())
        for line in _LINE.finditer(text)
        if label.fullmatch(line["name"].strip())
    }
    for place, one in enumerate(everything):
        called = _LABEL.match(one.text)
        is_labelled = called is not None and label.fullmatch(called["name"].strip())
        if place in headed or is_labelled or says_so.search(one.text):
            yield one


def is_verdict(sentence: str, language: Language) -> bool:
    """Whether a sentence only says that what stands before it does not hold, or that somebody denies it.

    `False.`, `That is not true.`, `The mayor denied this on Monday.`
    """
    bare = sentence.rpartition(":")[2].strip()
    count = len(_WORD.findall(bare))
    found = phrase_pattern(language, (_FILE, "verdicts")).search(bare)
    if found is None:
        denied = phrase_pattern(language, (_FILE, "denies")).search(bare)
        return (
            denied is not None
            and count <= _MOST_WORDS
            and _POINTS.match(bare[denied.end() :].lstrip()) is not None
        )
    points = _POINTS.match(bare) is not None and count <= _MOST_WORDS
    return points or 2 * len(_WORD.findall(found[0])) >= count


def _beginnings(text: str) -> set[str]:
    return {word[:_BEGINNING] for word in content_words(text)}
