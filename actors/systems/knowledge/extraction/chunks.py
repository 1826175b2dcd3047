"""Chunks of a source, as a model is shown one at a time, and the sentences in a chunk.

Chunks cover a source to its end: nothing is left out, not even headings and tables. They end where a
paragraph ends, else a sentence, else wherever they must; in the middle of a paragraph the next chunk begins
with the last sentence once more, so that what joins the two is seen.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.platform.llm.client import BYTES_PER_TOKEN
from actors.platform.text.language import is_of_another, language_of
from actors.platform.text.sentences.sentence_spans import sentence_spans
from actors.systems.knowledge.extraction.aligned_text import may_join
from actors.systems.knowledge.extraction.graphemes import clusters

# Where a chunk is cut rather than where it is full: not before this part of it.
_LEAST_FILLED = 0.6
# The greatest part of a chunk that says again what the last one said.
_MOST_REPEATED = 1 / 8
# Shorter ones are shown together, or their numbers would take more room than they.
_SHORTEST_BYTES = 16

_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_ROW = re.compile(r"[ \t]{0,40}(?:\||```|~~~)")
_ITEM = re.compile(r"[ \t]{0,40}(?:[-*+•▪◦‣>]|\d{1,3}[.)])[ \t]")


class _Piece(NamedTuple):
    """A sentence, or what is cut off one. `ends`: how good a place its end is to end a chunk at."""

    start: int
    end: int
    ends: int


_HEADLESS, _CUT, _SENTENCE, _PARAGRAPH = -1, 0, 1, 2


def chunk_spans(text: str, *, max_tokens: int) -> list[tuple[int, int]]:
    """Where each chunk of a source begins and ends: none over `max_tokens`, with nothing but blanks between.

    Tokens are counted as `actors.platform.llm.client.text_tokens` does. ValueError where `max_tokens` is
    below 1.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}: a chunk has room for 1 token at least")
    room = max_tokens * BYTES_PER_TOKEN + BYTES_PER_TOKEN - 1
    pieces = [part for piece in _sentences(text, 0, len(text)) for part in _fitting(text, piece, room)]
    # How many bytes come before each piece's begin and end, the blanks between counted.
    before, behind, at, size = [], [], 0, 0
    for piece in pieces:
        size += _bytes(text, at, piece.start)
        before.append(size)
        size += _bytes(text, piece.start, piece.end)
        behind.append(size)
        at = piece.end
    spans, first, done = list[tuple[int, int]](), 0, 0
    while done < len(pieces):
        last = done
        while last + 1 < len(pieces) and behind[last + 1] - before[first] <= room:
            last += 1
        if last + 1 < len(pieces):
            least = before[first] + room * _LEAST_FILLED
            last = max(
                (place for place in range(last, done - 1, -1) if place == last or behind[place] >= least),
                key=lambda place: (pieces[place].ends, place),
            )
        spans.append((pieces[first].start, pieces[last].end))
        done = last + 1
        repeats = (
            done < len(pieces)
            and last > first
            and pieces[last].ends == _SENTENCE
            and behind[last] - before[last] <= room * _MOST_REPEATED
            and behind[done] - before[last] <= room
        )
        first = last if repeats else done
    return spans


def chunk_sentences(text: str, chunk: tuple[int, int]) -> list[tuple[int, int]]:
    """Where each sentence of a chunk begins and ends: all of it but blanks; very short ones are together."""
    found: list[tuple[int, int]] = []
    begun: int | None = None
    for piece in _sentences(text, *chunk):
        begun = piece.start if begun is None else begun
        if _bytes(text, begun, piece.end) >= _SHORTEST_BYTES:
            found.append((begun, piece.end))
            begun = None
        end = piece.end
    if begun is not None:
        found.append((begun, end))
    return found


def _sentences(text: str, start: int, end: int) -> Iterator[_Piece]:
    """The sentences of all blocks, headings and rows of tables among them, without the blanks around them."""
    language = language_of(text[start:end])
    is_other = is_of_another(text[start:end])
    for begun, done, ends in _blocks(text, start, end):
        spans = [(begun, done)]
        if ends != _HEADLESS:
            spans = list(sentence_spans(text, begun, done, language, is_other=is_other, covers=True))
        for place, span in enumerate(spans):
            yield _Piece(*span, ends if place == len(spans) - 1 else _SENTENCE)


def _blocks(text: str, start: int, end: int) -> Iterator[_Piece]:
    """Lines that belong together: a paragraph, an item of a list, a heading, a row of a table."""
    block: list[int] = []
    alone, at = False, start
    for line in _LINE.finditer(text, start, end):
        inner = line[0].strip()
        if not inner:
            continue
        begun = line.start() + line[0].index(inner[0])
        apart = len(_BREAK.findall(text, at, line.start())) > 1
        heading, row = _HEADING.match(line[0]), _ROW.match(line[0])
        if block and (apart or alone or heading or row or _ITEM.match(line[0])):
            yield _Piece(block[0], block[1], _block_ends(alone, apart))
            block = []
        alone = bool(heading or row)
        at = line.end() - (len(line[0]) - len(line[0].rstrip()))
        block = [block[0] if block else begun, at]
        if heading:
            yield _Piece(block[0], block[1], _HEADLESS)
            block, alone = [], False
    if block:
        yield _Piece(block[0], block[1], _PARAGRAPH)


def _block_ends(alone: bool, apart: bool) -> int:
    # Rows of a table, and items of a list, belong together: as good a place as between two sentences.
    return _PARAGRAPH if apart or not alone else _SENTENCE


def _fitting(text: str, piece: _Piece, room: int) -> Iterator[_Piece]:
    """A sentence in pieces of at most `room` bytes, cut between words, else where no word or number goes on.

    Where none of these is near, it is cut between characters.
    """
    if _bytes(text, piece.start, piece.end) <= room:
        yield piece
        return
    blank: tuple[int, int] | None = None
    loose: tuple[int, int] | None = None
    begun, size, sizes = piece.start, 0, list[int]()
    for start, end in _places(text, piece.start, piece.end, room):
        width = _bytes(text, start, end)
        if start > begun:
            if text[start - 1].isspace():
                blank = blank if _parts_digits(text, start) else (start, len(sizes))
            elif not may_join(text[start - 1], text[start]):
                loose = start, len(sizes)
        while size + width > room:  # twice, where what is kept leaves a wide character no room
            cut, kept = start, list[int]()
            for place in (blank, loose):
                if place is not None and sum(sizes[place[1] :]) * 2 <= room:
                    cut, kept = place[0], sizes[place[1] :]
                    break
            yield from _trimmed(text, begun, cut, _CUT)
            begun, size, blank, loose, sizes = cut, sum(kept), None, None, kept
        size += width
        sizes.append(width)
    yield from _trimmed(text, begun, piece.end, piece.ends)


def _parts_digits(text: str, behind: int) -> bool:
    """Whether the blank before `behind` stands between two digits: it may part thousands."""
    return text[behind].isdigit() and behind > 1 and text[behind - 2].isdigit()


def _places(text: str, start: int, end: int, room: int) -> Iterator[tuple[int, int]]:
    """Clusters; of one that has no room in a whole chunk, its characters."""
    for begun, done in clusters(text, start, end):
        if done - begun > 1 and _bytes(text, begun, done) > room:
            yield from ((place, place + 1) for place in range(begun, done))
        else:
            yield begun, done


def _trimmed(text: str, start: int, end: int, ends: int) -> Iterator[_Piece]:
    inner = text[start:end].strip()
    if inner:
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        yield _Piece(first, first + len(inner), ends)


def _bytes(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8", "replace"))
