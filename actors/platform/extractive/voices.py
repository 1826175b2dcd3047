"""Whose words stand in a text without quotation marks: block quotations, what leads and dashes open, claims.

Called by `quotable`, which offers none of them: they are somebody's whose name is not in the sentence, or a
claim that the text goes on to judge. Where the words behind a lead ("Ann Example wrote:") end, no mark says:
they go on to the next heading; those of a mail, whose heading is its own, to one that is marked as such.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from actors.platform.extractive.headings import BARE, BOLD, AnnouncedVoices
from actors.platform.extractive.mail_heads import MailHeads
from actors.platform.extractive.speakers import is_name_line, signs
from actors.platform.text.language import Language
from actors.platform.text.lexicon import phrase_pattern

_FILE = "voices"
_LEADS = ((_FILE, "speech"), (_FILE, "disputes"), (_FILE, "denies"))
_LINE = re.compile(r"([^\n\r]*)(?:\r\n|[\n\r]|\Z)")
_HEADING = re.compile(r"[ \ufeff]{0,3}#{1,6}(?:\s|\Z)")
_BOLD = re.compile(r"[ ]{0,3}(\*\*|__)[^*_\n]{1,80}\1[ \t]*\Z")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})[ \t]*\Z")
_ITEM = re.compile(r"[ \t]{0,40}(?:[-*+•·▪◦‣]|\d{1,3}[.)]|[a-zA-Z][)])[ \t]")
_LABEL = re.compile(
    r"[\s>*_•–-]{0,8}(?P<name>[^\W\d][^:*_\n.!?]{0,40}?)[\s#\d.]{0,6}[*_]{0,3}(?:[:：]|\s[–—-]\s)"
)
_INNER_LABEL = re.compile(
    r"(?<=[.!?…] )[*_]{0,3}(?P<name>[^\W\d_][^:*_\n.!?]{0,30}?)[\s#\d.]{0,6}[*_]{0,3}[:：]"
)
_DASHED = re.compile(r"[ \t]{0,40}[–—―]")
_DASH = re.compile(r"[ \t]{0,40}[–—][ \t]")
_HYPHEN_TURN = re.compile(r"[ \t]{0,40}-[ \t].{1,400}?[ \t][-–—][ \t](?P<rest>[^\n]{0,60})")
_INNER_DASH = re.compile(r"(?<=[.!?…])[ ][–—][ ](?=[„“\"»]?[A-ZÀ-Ž])")
_OPENING = '“„«»"‚‘'
_LOOKED_BACK = 400
_SENTENCE_END = re.compile(r"[.!?…][\"”’»)]?\s")
_SHORT_HEADING = 6


class _Line(NamedTuple):
    start: int
    end: int
    text: str


class Voices:
    """A text's places where somebody else has the word."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._language = language
        self._leads = phrase_pattern(language, *_LEADS)
        self._lists = phrase_pattern(language, *_LEADS, (_FILE, "negation"))
        self._announced = AnnouncedVoices(language)
        spans = list(self._read())
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def are_others(self, place: int) -> bool:
        """Whether what stands at a place is not the text's own."""
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]

    def is_claim(self, label: str) -> bool:
        """Whether a label says that a claim stands behind it or below it: `Myth No. 3`, `False`."""
        return self._announced.is_claim(label)

    def leads_in(self, sentence: str) -> bool:
        """Whether a sentence leads in what somebody says without marks: `She wrote: The works are sold.`"""
        before, colon, after = sentence.partition(": ")
        return bool(colon) and after[:1].isupper() and self._leads.search(before[-_LOOKED_BACK:]) is not None

    def _read(self) -> Iterator[tuple[int, int]]:
        lines = [_Line(one.start(1), one.end(1), one[1]) for one in _LINE.finditer(self._text)]
        told = [one for one in lines if one.text.strip()]
        is_all_quoted = all(one.text.lstrip().startswith(">") for one in told)
        is_listed = is_open = is_turn = is_labelled = is_quoted = is_mail = False
        signed, title, heads = _signed(lines), _title(lines), MailHeads()
        begins = True
        last: _Line | None = None
        for place, line in enumerate(lines):
            bare = line.text.strip()
            if not bare:
                begins = True
                continue
            after = lines[place + 1].text if place + 1 < len(lines) else ""
            if level := _level(line.text, after if begins else ""):
                if place != title:
                    self._announced.read(bare, level)
                is_listed = is_open = is_turn = is_labelled = False
                is_mail, last = is_mail and level == BOLD, None
                continue
            is_mail = heads.ends_at(line.text) or is_mail
            is_short = len(bare.split()) <= _SHORT_HEADING and (bare[-1].isalnum() or bare[-1] in ":*_?)")
            if begins and is_short and (not after.strip() or _ITEM.match(after)):
                self._announced.read(bare, BARE)
            is_quoted = not is_all_quoted and (bare.startswith(">") or (is_quoted and not begins))
            if is_quoted:
                yield line.start, line.end
                begins, last = False, None
                continue
            begins = begins or (last is not None and last.text.rstrip(" \t*_").endswith(":"))
            is_item = _ITEM.match(line.text) is not None
            if begins or is_item:
                is_turn, is_labelled = self._is_turn(line), False
                lead = self._lead(last, line.start, is_item=is_item) if last is not None else ""
                if is_item:
                    is_listed = is_listed or bool(lead and self._lists.search(lead))
                else:
                    is_listed = False
                    if lead and bare[0] not in _OPENING:
                        is_open = is_open or self._leads.search(lead) is not None
                        is_turn = is_turn or is_name_line(lead)
            if (label := _LABEL.match(line.text)) is not None:
                is_labelled = self._is_others(label)
            is_told = self._announced.are_open or is_mail or place in signed
            if is_told or is_listed or is_open or is_turn or is_labelled:
                yield line.start, line.end
            elif (inner := self._inner(line)) is not None:
                is_turn = True
                yield line.start + inner, line.end
            begins, last = False, line

    def _is_others(self, label: re.Match[str]) -> bool:
        """Whether a claim, or what others say, is behind a label: `Myth:`, `**What critics say:**`."""
        name, voices = label["name"], self._announced
        is_strong, is_parted = "**" in label[0] or "__" in label[0], label[0].rstrip().endswith((":", "："))
        is_said = voices.announces(name) if is_strong else is_parted and voices.is_called(name)
        return is_said or voices.is_claim(name)

    def _is_turn(self, line: _Line) -> bool:
        """Whether somebody speaks behind a dash: `– Zamkniemy go – powiedziała Anna Lis.`"""
        if _DASH.match(line.text):
            return True
        turn = _HYPHEN_TURN.match(line.text)
        return turn is not None and self._leads.search(turn["rest"]) is not None

    def _inner(self, line: _Line) -> int | None:
        """From where on in a line somebody speaks behind a dash, or a claim stands."""
        found = [dash.start() for dash in _INNER_DASH.finditer(line.text)]
        is_claim = self._announced.is_claim
        found += [one.start() for one in _INNER_LABEL.finditer(line.text) if is_claim(one["name"])]
        return min(found, default=None)

    def _lead(self, last: _Line, before: int, *, is_item: bool) -> str:
        """The last sentence of the paragraph above, if it ends in a colon; before an item, or in a word."""
        above = self._text[max(0, before - _LOOKED_BACK) : last.end].rstrip(" \t*_")
        if not above.endswith((":", "：")) and not (
            is_item and above[-1:].isalpha() and not _ITEM.match(last.text)
        ):
            return ""
        paragraph = above.rpartition("\n\n")[2]
        return _SENTENCE_END.split(paragraph)[-1].strip(" \t*_\n")


def _level(line: str, after: str) -> int | None:
    """The level of a heading; None where a line is none."""
    if heading := _HEADING.match(line):
        return heading[0].count("#")
    if _BOLD.match(line):
        return BOLD
    underline = _UNDERLINE.match(after)
    return (1 if after[0] == "=" else 2) if underline else None


def _title(lines: list[_Line]) -> int | None:
    """Which line is the title of a text: it begins with it, and has no other heading of that level."""
    highest = [place for place, line in enumerate(lines) if _level(line.text, "") == 1]
    first = next((place for place, line in enumerate(lines) if line.text.strip()), None)
    return first if highest == [first] else None


def _signed(lines: list[_Line]) -> set[int]:
    """The lines of paragraphs that somebody signs in a line behind them: `— Ann Example, spokeswoman`."""
    found: set[int] = set()
    for place, line in enumerate(lines):
        if not signs(line.text):
            continue
        above = place - 1
        while above >= 0 and not lines[above].text.strip():
            above -= 1
        after = next((one.text for one in lines[place + 1 :][:2] if one.text.strip()), "")
        if above < 0 or _DASHED.match(after) or _DASHED.match(lines[above].text):
            continue
        while above >= 0 and lines[above].text.strip():
            found.add(above)
            above -= 1
    return found
