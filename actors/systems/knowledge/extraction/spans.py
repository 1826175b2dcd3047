"""Where in a source a quotation stands: exactly, or nowhere.

Called by the extractor. A quotation and a source are compared in their normal forms (see `normal`), character
for character; what is found is a slice of the source itself. Of several places, the one in the sentence that
was named is meant, else the nearest to it; where no sentence was named, there must be one place alone.
"""

import re
from collections.abc import Iterator

from actors.platform.text.numbers.number_spans import AROUND, UNSPACED
from actors.systems.knowledge.extraction.aligned_text import NormalizedText, normal_form
from models.knowledge.points import SourceSpan

# Places of one quotation that are looked at. A letter may have more in a chunk; what is named has not.
_MOST_PLACES = 2_000
# What explains a name, and how much may stand there before an acronym: `(hereinafter the ECB)`.
_BRACKETS = re.compile(r"[\"']? ?[(\[]([^()\[\]]{1,300})[)\]]")
_PARTS = re.compile("[,;:，；：、]")
_NEAR = 20
_UNSPACED = re.compile(f"[{UNSPACED}]")


class ChunkText:
    """A chunk of a source, in which quotations are looked for. Making one takes time linear in the chunk."""

    def __init__(self, text: str, chunk: tuple[int, int]) -> None:
        self._text = text
        self._normal = NormalizedText(text, *chunk)

    def find(self, quote: str, near: tuple[int, int] | None = None) -> SourceSpan | None:
        """The span of a quotation; `near` is the sentence that it should be in, as offsets in the source."""
        places = list(self._places(normal_form(quote)))
        if not places or (near is None and len(places) > 1):
            return None
        start, end = min(places, key=lambda place: _distance(place, near or place))
        return SourceSpan(start=start, end=end, quote=self._text[start:end])

    def holds(self, name: str) -> bool:
        """Whether a name stands somewhere in the chunk."""
        return next(self._places(normal_form(name)), None) is not None

    def explains(self, name: str, acronym: str) -> bool:
        """Whether the chunk says what an acronym stands for: `Name (ACR)`, or `ACR (Name)`."""
        full, short = normal_form(name), normal_form(acronym)
        return self._in_brackets(full, short) or self._in_brackets(short, full)

    def shown(self, start: int, end: int) -> str:
        """A sentence of the chunk as a reader sees it, on one line."""
        return self._normal.shown(self._text, start, end)

    def _in_brackets(self, before: str, inside: str) -> bool:
        for first, end in self._found(before):
            if self._normal.source(first, end) is None:
                continue
            opened = _BRACKETS.match(self._normal.form, end)
            for part in _PARTS.split(opened[1]) if opened else ():
                said = part.replace('"', "").strip(" '")
                if said == inside or (said.endswith(inside) and self._introduces(said[: -len(inside)])):
                    return True
        return False

    @staticmethod
    def _introduces(words: str) -> bool:
        return len(words) < _NEAR and (words[-1:] == " " or bool(_UNSPACED.match(words[-1:])))

    def _places(self, quote: str) -> Iterator[tuple[int, int]]:
        return (place for first, last in self._found(quote) if (place := self._normal.source(first, last)))

    def _found(self, quote: str) -> Iterator[tuple[int, int]]:
        """Where it stands in the normal form, also within words."""
        form, at = self._normal.form, -1
        for _ in range(_MOST_PLACES):
            at = form.find(quote, at + 1) if quote else -1
            if at < 0:
                return
            yield at, at + len(quote)


def find_span(
    text: str, chunk: tuple[int, int], quote: str, *, near: tuple[int, int] | None = None
) -> SourceSpan | None:
    """The span of a quotation in `text[chunk[0]:chunk[1]]`, or None. See `ChunkText.find`, for many."""
    return ChunkText(text, chunk).find(quote, near)


def stands_whole(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` says something, and its ends cut no character, word or number."""
    begun, done = max(start - AROUND, 0), min(end + AROUND, len(text))
    return NormalizedText(text, begun, done).is_whole(start, end)


def _distance(place: tuple[int, int], sentence: tuple[int, int]) -> tuple[bool, int, int]:
    """How far a place is from a sentence: whether it is outside, by how many characters, and where."""
    outside = not (sentence[0] <= place[0] and place[1] <= sentence[1])
    return outside, max(0, sentence[0] - place[1], place[0] - sentence[1]), place[0]
