"""Words in single quotation marks, which close with what is an apostrophe elsewhere: `‘We lost. We left.’`

Asked by `quotable`. A mark behind the end of a sentence or a comma closes; behind a word it does where no
sentence ended since it was opened, but may be a plural's there (`the fishermens’ nets`): then another that is
certain counts. What is not closed in its paragraph goes on to the one that closes it, or ends with it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?![ \t]*\n)[^\n]+)*")
_OPENS = re.compile(
    r"(?<![^\s(\[“„«»\"—–-])['‘‚‹›](?=[^\W\d_]|[“\"„«])"
    r"(?!(?i:tis|twas|em|til|till|cause|round|bout|n)\b)"
)
_CLOSES = re.compile(r"(?<=\S)['’‘›‹](?![^\W_])")
_BY = {"‘": "’", "'": "'", "‚": "‘’'", "‹": "›", "›": "‹"}
_STOPS = frozenset('.,!?…;:—–-)”"“«»')
_ENDS = tuple(".!?")
_SENTENCE_ENDS = re.compile(r"[.!?…]\s")
_BEGINS = re.compile(r"[\s>*_]*")
_MOST_PARAGRAPHS = 8


class SingleQuotations:
    """A text's places within single quotation marks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._paragraphs = [found.span() for found in _PARAGRAPH.finditer(text)]
        spans = list(self._read()) if any(mark in text for mark in _BY) else []
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def hold(self, start: int, end: int) -> bool:
        """Whether a sentence is within such marks, or a part of what they hold: nobody is named beside it."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end) - 1
        if first > last:
            return False
        if start > self._starts[first] or end < self._ends[last]:
            return True
        return first == last and not any(map(str.isalnum, self._beside(first, start, end)))

    def _beside(self, span: int, start: int, end: int) -> str:
        return self._text[start : self._starts[span]] + self._text[self._ends[span] : end]

    def _read(self) -> Iterator[tuple[int, int]]:
        done = 0
        for number, (start, end) in enumerate(self._paragraphs):
            place, alone = max(done, start), ""
            while place < end and (found := _OPENS.search(self._text, place, end)) is not None:
                mark, begun = found[0], found.start()
                if mark in alone:
                    place = found.end()
                    continue
                closed = self._close(mark, begun + 1, end)
                if closed is None:
                    closed = self._goes_on(mark, self._paragraphs[number + 1 :][:_MOST_PARAGRAPHS])
                if closed is None and mark not in "‘‚":
                    place, alone = found.end(), alone + mark
                    continue
                place = done = end if closed is None else closed
                yield begun, place

    def _goes_on(self, mark: str, paragraphs: Sequence[tuple[int, int]]) -> int | None:
        """Where a quotation ends in the paragraphs behind its own, if it does."""
        reached = None
        for start, end in paragraphs:
            begins = _BEGINS.match(self._text, start, end)
            at = begins.end() if begins else start
            if self._text[at : at + 1] == mark:
                closed = self._close(mark, at + 1, end)
                if closed is not None:
                    return closed
                reached = end
                continue
            opened = _OPENS.search(self._text, at, end)
            closed = self._certain(mark, at, opened.start() if opened else end)
            if closed is not None and mark != "'":
                return closed
            if opened or reached or mark == "'":
                break
        return reached

    def _close(self, mark: str, start: int, end: int) -> int | None:
        """Where the quotation closes in its paragraph."""
        opened = _OPENS.search(self._text, start, end)
        certain = self._certain(mark, start, opened.start() if opened else end)
        stop = end if certain is None else certain
        for found in _CLOSES.finditer(self._text, start, stop):
            at = found.start()
            if found[0] not in _BY[mark] or self._text[at - 1] in _STOPS:
                continue
            is_plural = self._text[at - 1] in "sS" and certain is not None
            if not is_plural and (certain is None or not _SENTENCE_ENDS.search(self._text, start, at)):
                return at + 1
        return certain

    def _certain(self, mark: str, start: int, end: int) -> int | None:
        for found in _CLOSES.finditer(self._text, start, end):
            beside = (
                self._text[found.start() - 1] in _STOPS or self._text[found.end() : found.end() + 1] in _ENDS
            )
            if found[0] in _BY[mark] and beside:
                return found.end()
        return None
