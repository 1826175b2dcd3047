"""Where each sentence of a paragraph begins and ends. The one splitter: of quotations, chunks and mails.

The library `sentencex` finds where sentences may end; which of those places are none, by abbreviations and by
quotation marks, is decided here. It takes time quadratic in quotation marks, and so it sees a text in parts
of bounded length and without them.
"""

import re
from collections.abc import Iterator

import sentencex

from actors.platform.text.language import Language
from actors.platform.text.sentences.sentence_boundaries import abbreviated, goes_on, left_open, may_end

LONGEST = 1_500
# Of a part, what may end beyond it is read again with the next one.
_PART, _MARGIN = 8_000, 1_600
_MOST_JOINED = 6
# A text in none of our languages may be in any of these: it is cut where each of them would.
_OTHERS = ("cs", "sk", "nl", "it", "fr", "es", "pt", "ro", "hu", "sv", "da", "uk", "ru")

# A mark of a footnote. A number in brackets is one where it is glued to a word, or where a sentence pauses.
FOOTNOTE = re.compile(
    r"\s?\[\^[^\[\]\s]{1,40}\](?![\w(])"
    r"|(?<=[^\s(\[])\[\d{1,3}(?:[,–-] ?\d{1,3}){0,8}\](?![\w(])"
    r"|\s\[\d{1,3}(?:[,–-] ?\d{1,3}){0,8}\](?=[.,;:!?\n]|\Z)"
)
EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|(?<!\w)_{1,3}(?=[^\W_])|(?<=[^\s_])_{1,3}(?!\w)"
)
QUOTED_LINE = re.compile(r"[\n\r\u2028\u2029][ \t]{0,3}(?:>[ \t]?){1,9}")
# What the library is not shown: it would skip ends within them, and pair them wrongly where one is missing.
_HIDDEN = str.maketrans(
    {**dict.fromkeys('“”„«»"()[]{}*‘‚`\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029', " "), "…": "."}
)
_LETTER = re.compile(r"[^\W\d_]")
_WORD_SIGN = re.compile(r"[^\W_]")
_HALVES = re.compile(r"[\ud800-\udfff]")
_CLOSING = "”“\"»«’')]"
OPENING = "“„\"«»‘‚'([–—- "
_STOP = re.compile(r"\.\s{1,3}(?=[A-ZĄĆĘŁŃÓŚŹŻÄÖÜ])")
# Nothing stands behind these.
_WIDE_STOPS = ("。", "！", "？", "｡")
LOOKED_AT = 200
# Where it begins and ends.
Span = tuple[int, int]


def sentence_spans(
    text: str, begun: int, done: int, language: Language, *, is_other: bool = False, covers: bool = False
) -> Iterator[Span]:
    """The sentences of a paragraph, part by part; not the rest of one that is longer than a part.

    Args:
        is_other: the text is in none of our languages.
        covers: leave out nothing but blanks: neither a rest, nor marks where a sentence begins or ends.
    """
    is_rest = False
    while begun < done:
        stop = min(done, begun + _PART)
        found = _in_part(text[begun:stop], language, is_other=is_other, covers=covers)
        whole = [span for span in found if stop == done or span[1] <= stop - begun - _MARGIN]
        whole = whole or found[:covers]
        yield from ((begun + start, begun + end) for start, end in whole[is_rest:])
        if stop == done:
            return
        is_rest = is_rest and not whole
        if len(whole) < len(found) and found[len(whole)][0] > 0:
            begun += found[len(whole)][0]
        elif whole:
            begun += whole[-1][1]
        else:
            begun, is_rest = (begun + found[0][1], found[0][1] == stop - begun) if found else (stop, False)


def _in_part(part: str, language: Language, *, is_other: bool, covers: bool) -> list[Span]:
    plain = QUOTED_LINE.sub(_blanks, _HALVES.sub("\ufffd", part))
    plain = EMPHASIS.sub(_blanks, FOOTNOTE.sub(_blanks, plain))
    pieces: list[Span] = []
    begun = 0
    for cut in (*_cuts(plain.translate(_HIDDEN), language, is_other=is_other), len(part)):
        end = cut
        while end < len(part) and part[end] in _CLOSING:
            end += 1
        inner = (part if covers else plain)[begun:end]
        start, end = begun + len(inner) - len(inner.lstrip()), begun + len(inner.rstrip())
        if start < end:
            if pieces and _belong_together(plain, pieces[-1], (start, end), language):
                pieces[-1] = (pieces[-1][0], end)
            else:
                pieces.append((start, end))
        begun = max(begun, end)
    return _with_whole_quotations(plain, pieces)


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _cuts(shown: str, language: Language, *, is_other: bool) -> list[int]:
    """Where a sentence may end: right behind the full stops."""
    ends_found = _ends(shown, language)
    if is_other:
        for other in _OTHERS:
            ends_found &= _ends(shown, other)
        return _behind_stops(shown, ends_found)
    for stop in _STOP.finditer(shown):
        before = shown[max(0, stop.start() - LOOKED_AT) : stop.start() + 1]
        after = shown[stop.end() : stop.end() + LOOKED_AT]
        if may_end(before, after, language):
            ends_found.add(stop.end())
    return _behind_stops(shown, ends_found)


def _ends(shown: str, language: str) -> set[int]:
    return {found["end_index"] for found in sentencex.get_sentence_boundaries(language, shown)}


def _behind_stops(shown: str, ends_found: set[int]) -> list[int]:
    cuts, begun = [], 0
    for end in sorted(ends_found):
        cuts.append(begun + len(shown[begun:end].rstrip()))
        begun = end
    return cuts


def _belong_together(plain: str, before: Span, after: Span, language: Language) -> bool:
    """Whether the second piece goes on with the first one's sentence."""
    told = plain[max(before[0], before[1] - LOOKED_AT) : before[1]]
    if before[1] == after[0] and not told.rstrip(_CLOSING).endswith(_WIDE_STOPS):
        return True  # "Node.js and .NET": nothing parts them
    upcoming = plain[after[0] : min(after[1], after[0] + LOOKED_AT)].lstrip(OPENING)
    if upcoming[:1].islower() or upcoming[:1] in (",", ";", ":", ")") or not _WORD_SIGN.search(upcoming):
        return True
    if plain[after[0]] in "(–—-" and abbreviated(told, language):
        return True
    if not _LETTER.search(told):
        return True
    return told.rstrip(_CLOSING).endswith(".") and goes_on(told, upcoming, language)


def _with_whole_quotations(plain: str, pieces: list[Span]) -> list[Span]:
    """The pieces, those of one quotation or one pair of brackets together, if it ends soon."""
    found: list[Span] = []
    place = 0
    while place < len(pieces):
        start, end = pieces[place]
        last = place
        while left_open(plain[start:end]) > 0:
            last += 1
            if last == min(len(pieces), place + _MOST_JOINED) or pieces[last][1] - start > LONGEST:
                last, end = place, pieces[place][1]
                break
            end = pieces[last][1]
        if left_open(plain[start:end]) < 0:
            last, end = place, pieces[place][1]
        found.append((start, end))
        place = last + 1
    return found
