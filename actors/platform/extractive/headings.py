"""Headings under which others speak, or a claim stands: `What the critics say`, `Letters`, `Myth No. 3`.

Asked by `voices`, line by line. What stands under such a heading is not the text's own, up to the next one of
the same level or a higher one; what answers a claim (`Fact`) ends it too. A title announces nothing, and what
is a heading by its looks alone does not end at what may be a name.
"""

import re

from actors.platform.text.language import Language
from actors.platform.text.lexicon import phrase_pattern, phrase_set

_FILE = "voices"
# Levels of what is a heading by its looks alone: a line in bold, and a short line of its own.
BOLD, BARE = 7, 8
_BESIDE = re.compile(r"[^\w\s'’-]|\d")
_NUMBER_WORD = re.compile(r"\s(?:no|nr|num|number|nummer|numer)\Z")
_PARTED = re.compile(r"[:：]|\s[–—-]\s|\?\s")
_NAME = re.compile(r"[\s*_#]{0,6}(?:[A-ZÀ-Ž][\w.'’-]{0,30}(?:[ ,]+|\b)){2,4}[\s*_,:]{0,6}\Z")
_LONGEST = 120


class AnnouncedVoices:
    """Whether the place under the headings so far is somebody else's."""

    def __init__(self, language: Language) -> None:
        self._claims = phrase_set(language, _FILE, "claim_labels")
        self._facts = phrase_set(language, _FILE, "facts")
        self._whole = phrase_pattern(language, (_FILE, "others_headings"))
        self._openings = phrase_pattern(language, (_FILE, "others_openings"))
        self._people = phrase_pattern(language, (_FILE, "others_people"))
        self._endings = tuple(phrase_set(language, _FILE, "others_endings"))
        self._asks = phrase_pattern(language, (_FILE, "others_ask"))
        self._tells = phrase_pattern(language, (_FILE, "others_tell"))
        self._nobody = phrase_pattern(language, (_FILE, "others_nobody"))
        self._articles = phrase_pattern(language, (_FILE, "articles"))
        self._level: int | None = None
        self._is_claim = False

    @property
    def are_open(self) -> bool:
        """Whether what comes next is under such a heading."""
        return self._level is not None

    def read(self, heading: str, level: int) -> None:
        """Go on by a heading; 1 is the highest level."""
        is_claim = self.is_claim(heading)
        is_fact = self._is_claim and any(part in self._facts for part in _labels(heading))
        if self._level is not None and (
            (level <= self._level and not self._may_be_a_name(heading, level)) or (is_fact and not is_claim)
        ):
            self._level = None
        if self._level is None and (is_claim or self._announces(heading, level)):
            self._level, self._is_claim = level, is_claim

    def is_claim(self, label: str) -> bool:
        """Whether a label says that a claim stands behind it: `Myth No. 3`."""
        return any(part in self._claims for part in _labels(label))

    def announces(self, heading: str) -> bool:
        """Whether others speak under a heading, or behind it in its line."""
        return self._announces(heading, 1)

    def is_called(self, label: str) -> bool:
        """Whether a label is no more than a word for what others say: `Reactions`."""
        return self._whole.fullmatch(self._bare(_plain(label))) is not None

    def _announces(self, heading: str, level: int) -> bool:
        if self.is_called(heading):
            return True
        # A line like "Critics say this:" leads in what is right below it; one of people may be a caption.
        if level == BARE and heading.rstrip("*_").endswith(":"):
            return False
        whole = _plain(heading)
        bare = self._bare(whole)
        if self._openings.match(bare) or bare.endswith(self._endings):
            return True
        if level != BARE and self._people.match(bare):
            return True
        asks = self._asks.match(whole)
        return asks is not None and self._is_told_by_somebody(whole[asks.end() :].strip())

    def _is_told_by_somebody(self, rest: str) -> bool:
        """Whether a verb of saying follows, and who says it is not a thing: `the critics say`."""
        tells = self._tells.search(rest)
        if tells is None:
            return False
        subject = rest[: tells.start()].strip() or rest[tells.end() :].strip()
        return self._nobody.match(self._bare(subject)) is None

    def _bare(self, told: str) -> str:
        """Without its article."""
        article = self._articles.match(told)
        return told[article.end() :].strip() if article else told

    def _may_be_a_name(self, heading: str, level: int) -> bool:
        looks = level >= BOLD and (_NAME.match(heading) is not None or any(map(str.isdigit, heading)))
        return looks and self._articles.match(_plain(heading)) is None


def _labels(heading: str) -> tuple[str, ...]:
    """A heading without its number, and what stands before a colon or a dash in it."""
    parts = (heading, _PARTED.split(heading[:_LONGEST], maxsplit=1)[0])
    return tuple(_NUMBER_WORD.sub("", _plain(part)) for part in parts)


def _plain(text: str) -> str:
    return " ".join(_BESIDE.sub(" ", text[:_LONGEST]).split()).casefold().replace("’", "'")
