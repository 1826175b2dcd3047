"""A research's result as an article: its sentences with footnotes, and a resource for each document.

Called by `write_article_from_research`. Each footnote names the exact words that a sentence rests on, and
each resource the document's digests and whoever let it in: a reader of what is published can walk it back.
Texts are of pages and models; nothing of them becomes Markdown. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from actors.platform.extractive.places import as_given, resource, span, unverified
from actors.platform.text.language import Language, language_of
from actors.platform.text.markdown import opening, unlinked, web_address
from actors.platform.text.quotation_marks import quoted
from models.research.following import LineagePoint, LineageSource, ResearchLineage, ResultSentence
from models.text import one_line, shortened

_TITLE, _QUOTE, _ADDRESS = 200, 2_000, 2_000
# The address of a text that a person gave: it is its digest.
_GIVEN = "urn:sha256:"


class EvidenceText(NamedTuple):
    """A document that an article rests on, as a resource's text. `source` is its place in the lineage."""

    source: int
    name: str
    description: str
    content: str


def evidence_texts(lineage: ResearchLineage) -> list[EvidenceText]:
    """The documents that sentences rest on, in the order in which they are first cited."""
    cited = _cited(lineage)
    order = list(dict.fromkeys(point.source for point in cited))
    return [_evidence(lineage, place, [one for one in cited if one.source == place]) for place in order]


def article_text(lineage: ResearchLineage, resource_ids: Mapping[int, int]) -> str:
    """The article's Markdown: a part for each category, and a footnote for each point that is cited.

    What is not a sentence's or a page's own words is in the language of the sentences.

    Args:
        resource_ids: of the documents, by their places in the lineage.
    """
    cited = _cited(lineage)
    numbers = {point.point_id: number for number, point in enumerate(cited, start=1)}
    language = language_of(" ".join(sentence.text for sentence in lineage.sentences))
    blocks: list[str] = []
    heading: str | None = None
    paragraph: list[str] = []
    for sentence in lineage.sentences:
        if sentence.heading != heading:
            blocks += [" ".join(paragraph)] if paragraph else []
            heading, paragraph = sentence.heading, []
            blocks.append(f"## {unlinked(shortened(heading, _TITLE)) or '…'}")
        paragraph.append(_sentence(sentence, numbers, language, is_first=not paragraph))
    blocks += [" ".join(paragraph)] if paragraph else []
    notes = [
        f"[^{numbers[point.point_id]}]: {_note(point, lineage.sources[point.source], resource_ids, language)}"
        for point in cited
    ]
    return "\n\n".join([*blocks, *notes]) + "\n"


def desk_note(lineage: ResearchLineage) -> str:
    """What the article's desk has to know of how it came about."""
    return (
        f"From deep research {lineage.workflow_id}. Each footnote names the exact words that a sentence "
        "rests on; its resource names the document and whoever approved that it be read."
    )


def _cited(lineage: ResearchLineage) -> list[LineagePoint]:
    """The points that sentences cite, in the order in which they first are."""
    points = {point.point_id: point for point in lineage.points}
    ids = dict.fromkeys(id_ for sentence in lineage.sentences for id_ in sentence.points if id_ in points)
    return [points[id_] for id_ in ids]


def _sentence(
    sentence: ResultSentence, numbers: Mapping[int, int], language: Language, *, is_first: bool
) -> str:
    text = unlinked(sentence.text)
    marks = "".join(f"[^{numbers[id_]}]" for id_ in sentence.points if id_ in numbers)
    doubt = f" ({unverified(language)})" if sentence.outcome == "unverified" else ""
    return (opening(text) if is_first else text) + marks + doubt


def _note(
    point: LineagePoint, source: LineageSource, resource_ids: Mapping[int, int], language: Language
) -> str:
    title = opening(unlinked(shortened(source.title or source.url, _TITLE))) or "Untitled"
    address = web_address(source.final_url or source.url)
    where = f" — <{address}>" if address is not None and len(address) <= _ADDRESS else ""
    quote = unlinked(shortened(point.quote, _QUOTE))
    given = f", {as_given(language)}" if source.url.startswith(_GIVEN) else ""
    return (
        f"{title}{given}{where}, {span(point.start, point.end, language)}: {quoted(quote, language)} "
        f"({resource(resource_ids[point.source], language)})"
    )


def _evidence(lineage: ResearchLineage, place: int, points: Sequence[LineagePoint]) -> EvidenceText:
    source = lineage.sources[place]
    is_given = source.url.startswith(_GIVEN)
    lines = ["A text that somebody gave; nobody has read it at an address"] if is_given else []
    lines += [] if is_given else [f"Read at {source.final_url or source.url}"]
    if source.final_url not in (None, source.url):
        lines.append(f"Asked for at {source.url}")
    if source.sha256 is not None:
        lines.append(f"SHA-256 of its bytes: {source.sha256}")
    lines += [f"SHA-256 of its text: {source.text_sha256}", _let_in(source), "", "What the article rests on:"]
    lines += [f"- characters {one.start} to {one.end}: “{one_line(one.quote)}”" for one in points]
    return EvidenceText(
        source=place,
        name=shortened(source.title or source.url, _TITLE) or "Untitled",
        description=f"A document of deep research {lineage.workflow_id}",
        content="\n".join(lines),
    )


def _let_in(source: LineageSource) -> str:
    if source.let_in is None:
        return "Nobody of a research let it in: it was in the project before"
    who = source.let_in.by or "nobody who is known"
    at = f" at {source.let_in.at.isoformat()}" if source.let_in.at is not None else ""
    if source.let_in.approval_id is None:
        return f"Read on the word of {who}, who asked for deep research {source.let_in.workflow_id}"
    given = f"Given by {source.let_in.given_by}; let in" if source.let_in.given_by is not None else "Let in"
    return (
        f"{given} by {who}{at}: approval {source.let_in.approval_id} of {source.let_in.digest}, "
        f"number {source.let_in.number} in deep research {source.let_in.workflow_id}"
    )
