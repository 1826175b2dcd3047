"""A model's draft of a section: its schema, and what of it is a sentence that cites points.

Called by whoever has a section written. The model writes sentences and the ids of points that it was offered;
each item is read by itself. A bad one goes, a citation of nothing goes, marks that mean nothing go; each is
counted. Nothing that was written becomes a URL, markup or an instruction.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from actors.platform.extractive.self_contained import why_not_quotable
from actors.platform.text.language import Language
from actors.platform.text.links import links
from actors.platform.text.sentences.sentences import as_read, sentences
from models.record import Record
from models.research.synthesis import DraftFault, DraftSentence
from models.text import one_line

# Of what a model answers: items that are looked at, characters of a sentence, and points that it may cite.
_MOST_ITEMS = 200
_LONGEST_TEXT = 4_000
LONGEST_SENTENCE = 600
MOST_POINTS = 6
_POINT_ID = re.compile(r"p?(\d{1,15})\Z", re.IGNORECASE)
# `[12]`, `(p3, p4)`: citations that were written into the sentence, though its points say it.
_CITED = re.compile(r"[ ]?(?:\[p?\d{1,15}(?:[,;] ?p?\d{1,15}){0,9}\]|\(p\d{1,15}(?:[,;] ?p\d{1,15}){0,9}\))")
_LEADING = re.compile(r"\A(?:#{1,6}|[-*+•>]|\d{1,3}[.)])[ ]+")
_MARKUP = re.compile(r"[<>{}|`\\]|\*\*|__|~~|\[|\]|&(?:[a-z]{2,8}|#\d{1,6});", re.IGNORECASE)
# A host without a scheme, which `links` doesn't look for.
_HOST = re.compile(
    r"(?<![\w@.-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,5}\.[a-z]{2,24}/\S|\w@\w|\b(?:javascript|mailto):|\bdata:\w{1,40}/",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|zignoruj\w{0,3}|pomi[nń]\w{0,4}|ignorier\w{0,3}|vergiss|missachte\w{0,2})\b"
    r".{0,60}\b(?:instruction|prompt|rule|polece|instrukcj|zasad|anweisung|vorgabe|regel)"
    r"|\b(?:cite|cytuj|zitiere|zitier)\b.{0,20}\bp ?\d"
    r"|\byou are (?:now )?an? (?:ai|assistant|model|language model)\b"
    r"|\A(?:system|assistant|user|developer)\s?:",
    re.IGNORECASE,
)


class SectionReply(BaseModel):
    """The answer as it came: a list of anything."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    sentences: Any = ()


class SectionDraft(Record):
    """The sentences of a draft, and how much was refused or repaired for which reason."""

    sentences: tuple[DraftSentence, ...]
    refused: Mapping[DraftFault, int] = {}
    repaired: int = 0


def draft_schema(points: Collection[int], *, most: int) -> dict[str, Any]:
    """The JSON schema of a draft: at most so many sentences, and ids of points that there are."""
    cited = {
        "type": "array",
        "items": {"type": "integer", "enum": sorted(points)},
        "minItems": 1,
        "maxItems": MOST_POINTS,
    }
    sentence = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": LONGEST_SENTENCE},
            "points": cited,
        },
        "required": ["text", "points"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": sentence, "maxItems": most}},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def read_draft(
    reply: SectionReply, offered: Collection[int], *, language: Language, most: int
) -> SectionDraft:
    """What of a reply are sentences that cite points `offered`; `most` at most, none of them twice."""
    reading = _Reading(frozenset(offered), language)
    said = reply.sentences if isinstance(reply.sentences, list | tuple) else [reply.sentences]
    reading.refused["too_many"] += max(0, len(said) - _MOST_ITEMS)
    found: dict[str, DraftSentence] = {}
    for item in said[:_MOST_ITEMS]:
        for sentence in reading.sentences(item):
            key = sentence.text.casefold()
            if key in found:
                reading.refused["duplicate"] += 1
            elif len(found) >= most:
                reading.refused["too_many"] += 1
            else:
                found[key] = sentence
    counted = {fault: count for fault, count in reading.refused.items() if count}
    return SectionDraft(sentences=tuple(found.values()), refused=counted, repaired=reading.repaired)


class _Reading:
    """Reads items, and counts."""

    def __init__(self, offered: frozenset[int], language: Language) -> None:
        self._offered = offered
        self._language: Language = language
        self.refused: Counter[DraftFault] = Counter()
        self.repaired = 0

    def sentences(self, item: object) -> Iterator[DraftSentence]:
        """The sentences of an item: of a text of several, each with the points of all."""
        text = item.get("text") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(text, str):
            self.refused["invalid"] += 1
            return
        line = one_line(text[: _LONGEST_TEXT + 1])
        bare = _bare(line)
        points = self._points(item.get("points"))
        if not any(map(str.isalnum, bare)):
            self.refused["invalid"] += 1
        elif not points:
            self.refused["no_points"] += 1
        elif len(text) > _LONGEST_TEXT:
            self.refused["too_long"] += 1
        elif fault := self._smuggled(line) or self._fault(bare):
            self.refused[fault] += 1
        else:
            parts = _parts(bare, self._language)
            self.repaired += bare != line or len(parts) > 1
            for part in parts:
                if fault := self._fault(part):
                    self.refused[fault] += 1
                else:
                    yield DraftSentence(text=part, points=points)

    def _points(self, said: object) -> tuple[int, ...]:
        """The points that are cited and were offered, each once."""
        cited = said if isinstance(said, list | tuple) else [said]
        found: dict[int, None] = {}
        for one in cited[:_MOST_ITEMS]:
            point = _point_id(one)
            if point in self._offered and point is not None:
                found[point] = None
            else:
                self.refused["unknown_point"] += one is not None
        return tuple(found)[:MOST_POINTS]

    def _smuggled(self, text: str) -> DraftFault | None:
        """What no text may bring in, be it in marks that are taken out."""
        if links(text) or _HOST.search(text) or "address" in why_not_quotable(text, self._language):
            return "address"
        return "instruction" if _INSTRUCTION.search(text) else None

    def _fault(self, text: str) -> DraftFault | None:
        """What keeps a text without such marks from being a sentence."""
        if found := self._smuggled(text):
            return found
        if _MARKUP.search(text):
            return "markup"
        if "boilerplate" in why_not_quotable(text, self._language):
            return "instruction"
        return "too_long" if len(text) > LONGEST_SENTENCE and len(_parts(text, self._language)) == 1 else None


def _point_id(said: object) -> int | None:
    if isinstance(said, int) and not isinstance(said, bool):
        return said
    found = _POINT_ID.match(said.strip()) if isinstance(said, str) and len(said) < LONGEST_SENTENCE else None
    return int(found[1]) if found else None


def _bare(line: str) -> str:
    """A line without citations, and without marks of Markdown that mean nothing in a sentence."""
    return one_line(as_read(_CITED.sub("", _LEADING.sub("", line))))


def _parts(line: str, language: Language) -> list[str]:
    """The sentences of a line; the line itself where they don't come to all of it."""
    parts = [one.text for one in sentences(line, language)]
    return parts if " ".join(parts) == line else [line]
