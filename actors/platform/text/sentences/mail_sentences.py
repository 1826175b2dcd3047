"""The sentences of a mail that are its writer's own, and where somebody else's earlier words begin.

Mails are wrapped: a line's end within a sentence parts nothing. What a mail answers, below `On … wrote:` or
behind `>`, says what was.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.platform.text.language import language_of
from actors.platform.text.lexicon import alternatives, pattern
from actors.platform.text.sentences.sentence_boundaries import goes_on

_END = re.compile(r"[!?](?=\s|\Z)|\.(?=\s+[^\Wa-zäöüßąćęłńóśźż_\d]|\s*\Z)|[\n\r]+|;\s")
# A line of so many characters was broken because it was full.
_FULL_LINE = 55
_NEW_LINE = re.compile(r"[>|*•\-–\d]|[^\W\d_]{1,20}:")
_FILE = "mail_heads"
_ANSWERED = pattern(
    _FILE,
    "original",
    r"^[ \t>*_-]{0,12}(?:{}[ \t*_-]{0,12}$"
    rf"|(?:{alternatives(_FILE, 'on')})\s[^\n]{{4,120}}(?:{alternatives(_FILE, 'wrote')})[^\n]{{0,80}}:\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER = pattern(
    _FILE,
    "from",
    rf"^[*_]{{0,2}}{{}}:[^\n]{{1,200}}\n[*_]{{0,2}}(?:{alternatives(_FILE, 'sent')}):",
    re.IGNORECASE | re.MULTILINE,
)
_FORWARDED = pattern(_FILE, "forwarded")
_LOOKED_BACK, _LOOKED_AT = 80, 200


class SentenceSpan(NamedTuple):
    """From where to where a sentence goes, and the mark that ends it."""

    start: int
    end: int
    mark: str


def sentences(text: str) -> Iterator[SentenceSpan]:
    """The sentences that are the writer's own: none of what is answered."""
    whole = own_end(text)
    for one in _sentences(text, whole):
        if not text[one.start : one.end].lstrip().startswith((">", "|")):
            yield one


def own_end(text: str) -> int:
    """Where the mail that a text answers begins; its length where there is none."""
    answered = _ANSWERED.search(text)
    header = _HEADER.search(text)
    ends = [answered.start()] if answered else []
    # What is passed on, with nothing said of it, is what the mail says.
    if header and text[: header.start()].strip():
        passed_on = _FORWARDED.search(text, max(0, header.start() - _LOOKED_BACK), header.start())
        ends += [] if passed_on else [header.start()]
    return min(ends, default=len(text))


def _sentences(text: str, whole: int) -> Iterator[SentenceSpan]:
    start = line = 0
    language = language_of(text[:whole])
    for found in _END.finditer(text, 0, whole):
        if found[0][0] in "\n\r":
            full = found.start() - line >= _FULL_LINE and len(found[0].replace("\r", "")) == 1
            line = found.end()
            if full and not _NEW_LINE.match(text, line) and text[found.start() - 1] not in ".!?:;":
                continue
        elif found[0] == "." and goes_on(
            text[max(start, found.end() - _LOOKED_AT) : found.end()],
            text[found.end() : found.end() + _LOOKED_AT].lstrip(),
            language,
        ):
            continue
        yield SentenceSpan(start, found.start(), found[0][0])
        start = found.end()
    yield SentenceSpan(start, whole, "")
