"""A draft: what it is written from, what a model that writes prose answers, and what is refused of that.

The drafter writes it, the graph keeps it, `actors.systems.drafting.markdown` renders it. Every statement
names its sources by number, counted from 1; the schema allows no number that there is not. A draft that is
written in quotations comes from `actors.systems.drafting.quoted_draft`: there a model answers with numbers
alone.
"""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from actors.platform.text.language import Language
from actors.platform.text.links import link_key, links, offered_links
from models.content.drafting import Finding
from models.content.quoting import ChosenBy, SourcePlace, Written
from models.record import Record
from models.text import one_line, shortened

_MOST_SOURCES_OF_STATEMENT = 3
# Characters of a headline at most.
HEADLINE = 200
# Marks that models put into texts though they are told not to: the footnotes are set by code.
# A run of spaces is tried from its start only, so that a long one is not read again from each of them.
_MARKS = re.compile(r"(?:(?<!\s)\s+|\A\s*)?\[\^?\d{1,3}(?:\s*,\s*\^?\d{1,3})*\]")


class Source(Record):
    """A resource to write from, with what was found out about it."""

    resource_id: int
    finding: Finding


class DraftBrief(Record):
    """What to write, and from what. `tonality` and `topic_prompt` are the site's own texts.

    Source number n is `sources[n - 1]`.
    """

    topic: str
    query: str
    topic_prompt: str
    tonality: str | None
    sources: tuple[Source, ...] = Field(min_length=1)


class DraftPossible(Record):
    """Whether the sources of a brief hold something to write from."""

    to_write_from: bool


class StatementReply(Record):
    """A sentence or two of a model, and the numbers of the sources that say so."""

    text: str
    sources: tuple[int, ...]
    new_paragraph: bool = False


class DraftReply(Record):
    """What a model that writes prose answers."""

    headline: str
    statements: tuple[StatementReply, ...]


class Statement(Record):
    """A sentence or two, and the numbers of the sources that say so.

    In a draft of quotations it is one sentence: of a text, word for word, or about figures that were computed
    from a table; `place` is where in its source.
    """

    text: str
    sources: tuple[int, ...]
    new_paragraph: bool = False
    place: SourcePlace | None = None


class Draft(Record):
    """A draft, not yet Markdown.

    `chosen_by` says who chose its quotations; `unsupported` are numbers of a prose that no source has.
    """

    headline: str
    statements: tuple[Statement, ...]
    written: Written = "prose"
    chosen_by: ChosenBy | None = None
    language: Language = "en"
    unsupported: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[int, ...]:
        """The numbers of the sources that footnotes name, in order."""
        return tuple(sorted({number for statement in self.statements for number in statement.sources}))


def draft_schema(sources: int) -> dict[str, Any]:
    """The JSON schema of a draft from `sources` sources; short, so that a small model keeps to it."""
    statement = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "sources": {
                "type": "array",
                "items": {"type": "integer", "enum": list(range(1, sources + 1))},
                "minItems": 1,
                "maxItems": min(sources, _MOST_SOURCES_OF_STATEMENT),
            },
            "new_paragraph": {"type": "boolean"},
        },
        "required": ["text", "sources", "new_paragraph"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "headline": {"type": "string"},
            "statements": {"type": "array", "items": statement, "minItems": 1},
        },
        "required": ["headline", "statements"],
        "additionalProperties": False,
    }


def tidy(reply: DraftReply) -> Draft:
    """A reply's draft with one-line texts, without footnote marks, and each source of a statement once."""
    return Draft(
        headline=shortened(reply.headline, HEADLINE),
        statements=tuple(
            Statement(
                text=_MARKS.sub("", one_line(statement.text)).strip(),
                sources=tuple(dict.fromkeys(statement.sources)),
                new_paragraph=statement.new_paragraph,
            )
            for statement in reply.statements
        ),
    )


def draft_faults(draft: Draft, sources: Sequence[Source]) -> list[str]:
    """What keeps a tidy draft from being one, as sentences for the model; empty when it is fine."""
    faults = []
    if not _says_something(draft.headline):
        faults.append("headline is blank.")
    if not draft.statements:
        faults.append("statements is empty.")
    offered = {key for source in sources for key in _offered(source.finding)}
    for number, statement in enumerate(draft.statements, start=1):
        if not _says_something(statement.text):
            faults.append(f"Statement {number} is blank.")
        if not statement.sources:
            faults.append(f"Statement {number} names no source.")
        if missing := sorted({n for n in statement.sources if not 1 <= n <= len(sources)}):
            faults.append(f"Statement {number} names source {missing[0]}, and there is none.")
    texts = {"headline": draft.headline}
    texts |= {f"statement {number}": s.text for number, s in enumerate(draft.statements, start=1)}
    faults.extend(
        f"{name} holds {link[:200]}, which is in none of the sources: remove it."
        for name, text in texts.items()
        for link in sorted(links(text) - offered)
    )
    return faults[:5]


def _offered(finding: Finding) -> set[str]:
    rows = " ".join(str(cell) for row in finding.rows or () for cell in row if isinstance(cell, str))
    told = " ".join((finding.name, finding.description or "", finding.content or "", rows))
    return offered_links(told) | ({link_key(finding.url)} if finding.url else set())


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
