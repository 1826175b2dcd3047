"""Whether an article is made of its source's words: read as its reader reads it, rendered from Markdown.

None of the code that put the article together is used here, but for the fixed list of headings.
"""

import html
import re
import unicodedata
from dataclasses import dataclass

from markdown_it import MarkdownIt

from actors.platform.extractive.sections import headings
from actors.platform.text.lexicon import languages
from models.content.editorial import ArticleResponse, TopicInput

_NOTES = "\n\n## Footnotes\n"
_MARK = re.compile(r"\[\^(\d+)\]")
_PLACE = re.compile(r"\A\[\^(\d+)\]: .* (\d+)–(\d+)\Z")
_PAIRS = frozenset(("“”", "„”", "„“", "«»", "»«"))
# “Title”, 1 March 2026: …
_SOURCE = re.compile(r"[“„«»](?P<title>.+?)[”“»«](?:, \d{1,2}\.? \w+ (?P<year>\d{4}))?: (?=[“„«»])")
_TAGS = re.compile(r"<[^<>]*>")
_WORDS = re.compile(r"\w+")
# What a reader is not shown of a source: marks of emphasis, and marks of footnotes.
_NOT_SHOWN = re.compile(r"\[\^?\d{1,3}\]|[*_`]|[^\S\n]*\n[^\S\n]*>?")
_SAME = 0.8
_MARKDOWN = MarkdownIt("commonmark")
_HEADINGS = frozenset(f"## {heading}" for each in languages() for heading in headings(each).values())


@dataclass(frozen=True)
class Reading:
    """What an article holds.

    `invented` are quotations that do not stand where their footnotes say, and whatever else is in the body
    that is no heading of the list and not the source's title and date.
    """

    quotations: tuple[str, ...]
    invented: tuple[str, ...]
    duplicates: int
    words: int


def read_article(article: ArticleResponse, topic: TopicInput) -> Reading:
    """Read an article of quotations beside its topic."""
    body, _, below = article.articleBody.rpartition(_NOTES)
    places = {int(n): (int(a), int(b)) for n, a, b in map(_place, filter(None, below.splitlines()))}
    quotations: list[str] = []
    invented: list[str] = []
    for block in filter(None, (block.strip() for block in body.split("\n\n"))):
        if block in _HEADINGS:
            continue
        parts = _MARK.split(block)
        for said, number in zip(parts[::2], parts[1::2], strict=False):
            before, words = _quotation(_as_read(said), topic)
            start, end = places.pop(int(number), (0, 0))
            if before:
                invented.append(before)
            if words and _plain(words) == _plain(_NOT_SHOWN.sub(" ", topic.source_text[start:end])):
                quotations.append(words)
            else:
                invented.append(words or said)
        invented += [rest for rest in parts[-1:] if rest.strip()]
    invented += [f"a footnote that nothing has: {n}" for n in places]
    known = _plain(" ".join((topic.source_text, *_titles(topic))))
    for told in (article.headline, article.alternativeHeadline, article.description):
        if _plain(_NOT_SHOWN.sub(" ", told).strip("“„«»”")) not in known:
            invented.append(told)
    words_of = [frozenset(_WORDS.findall(one.casefold())) for one in quotations]
    return Reading(
        quotations=tuple(quotations),
        invented=tuple(invented),
        duplicates=sum(
            len(one & other) >= _SAME * len(one | other)
            for n, one in enumerate(words_of)
            for other in words_of[:n]
        ),
        words=sum(len(one.split()) for one in quotations),
    )


def _place(line: str) -> tuple[str, str, str]:
    found = _PLACE.match(line)
    if found is None:
        raise ValueError(f"no footnote with a place in its source: {line!r}")
    return found[1], found[2], found[3]


def _as_read(markdown: str) -> str:
    return html.unescape(_TAGS.sub("", _MARKDOWN.renderInline(markdown))).strip()


def _quotation(shown: str, topic: TopicInput) -> tuple[str, str]:
    """What stands before a quotation and is not the source's name, and what is quoted.

    Nothing is quoted where the marks are not right: the outer ones may not stand in the words.
    """
    before, words = "", shown
    if (named := _SOURCE.match(shown)) and _plain(named["title"]) in map(_plain, _titles(topic)):
        words = shown[named.end() :]
        if named["year"] and named["year"] != (topic.source_metadata.publish_date or "")[:4]:
            before = named[0]
    opening, closing = words[:1], words[-1:]
    if f"{opening}{closing}" not in _PAIRS or any(mark in words[1:-1] for mark in (opening, closing)):
        return shown, ""
    return before, words[1:-1]


def _titles(topic: TopicInput) -> tuple[str, str, str]:
    told = topic.source_metadata
    return told.video_title, told.topic_title, told.source_file


def _plain(text: str) -> str:
    """Letters, digits and the marks that change a number: what has to be the same, to the character."""
    one = unicodedata.normalize("NFC", text)
    return "".join(mark for mark in one if mark.isalnum() or mark in "%$€£+−.,").rstrip(".,")
