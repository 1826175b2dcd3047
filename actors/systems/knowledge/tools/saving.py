"""The tool `save_to_database`: a document, a category or a knowledge point into a project. Seed 002 §6.2.

A document becomes a source like any page, without its personal data. A point or a category rests on a quote
of a source, word for word; what its source does not say is refused.
"""

import hashlib
import re
import unicodedata
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from actors.platform.runtime.batch_lease import batch_lease
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.web.page_urls import page_url
from actors.systems.knowledge.extraction.spans import stands_whole
from actors.systems.knowledge.parsing.page_reading import PageReading
from actors.systems.knowledge.tools.indexing import index_now
from actors.systems.knowledge.tools.projects import ANALYST, ProjectId, SourceId, topic_of_project
from models.errors import InputInvalid, PageFailed, SourceBusy
from models.knowledge.known import KeptPoint
from models.knowledge.pages import PageText, ScrapedPage
from models.knowledge.points import SourceSpan
from models.record import Record
from models.store.knowledge import points, sources
from models.tools import Label, PlainText

_LEASE_SECONDS = 15.0
_LONGEST = 1_000_000

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Letters and symbols that nothing is seen of: fillers of Hangul, and the empty sign of Braille.
_BLANK_SIGNS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
# Places of a quote that are looked at: one that is in so many other words says too little.
_MOST_PLACES = 500

R = TypeVar("R", bound=Record)


def _readable(text: str) -> str:
    for character in text:
        if unicodedata.category(character)[0] in "LNPS" and character not in _BLANK_SIGNS:
            return text
    raise ValueError("nothing in it can be seen: give letters, digits or signs")


def _real_date(text: str) -> str:
    fault = f"{text[:20]!r} is no day: give one as YYYY-MM-DD, such as 2024-02-29"
    if not _DATE.fullmatch(text):
        raise ValueError(fault)
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise ValueError(fault) from error
    return text


Said = Annotated[PlainText, Field(min_length=1, max_length=1000), AfterValidator(_readable)]


class DocumentData(Record):
    """A text that somebody has. `url` is where it is from; without it, the text's digest is its address."""

    text: Annotated[PlainText, Field(min_length=1, max_length=_LONGEST), AfterValidator(_readable)]
    title: Annotated[Label, Field(max_length=500)] | None = None
    url: Annotated[PlainText, Field(max_length=2000)] | None = None
    author: Annotated[Label, Field(max_length=500)] | None = None
    date: Annotated[str, AfterValidator(_real_date)] | None = None


class QuotedData(Record):
    """What a quote rests on. `start` says which, where the source has the quote more than once."""

    source_id: SourceId
    quote: Annotated[PlainText, Field(min_length=1, max_length=5000)]
    start: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


class CategoryData(QuotedData):
    """What a source is about, and the quote that shows it."""

    label: Said


class KnowledgePointData(QuotedData):
    """A statement, and the quote that it rests on."""

    statement: Said
    kind: Literal["fact", "insight"] = "fact"


class SaveToDatabaseRequest(Input):
    """What to save: `data` is a document's, a category's or a knowledge point's, as `entity_type` says."""

    entity_type: Literal["document", "category", "knowledge_point"]
    data: dict[str, Any] = Field(
        description="document: text, title, url, author, date. category: label, source_id, quote, start. "
        "knowledge_point: statement, kind, source_id, quote, start",
        examples=[{"text": "The mill turns when the water is high.", "title": "Mills"}],
    )
    project_id: ProjectId


class SaveToDatabaseResponse(Output):
    """The id of what was saved: of a source, or of a point. `note` says why search does not find it yet."""

    id: int
    type: Literal["document", "category", "knowledge_point"]
    status: Literal["saved"] = "saved"
    note: str | None = None


@tool(
    ANALYST,
    rest="POST /projects/{project_id}/save",
    effect="writes",
    idempotent=True,
    topic=topic_of_project,
    own_transactions=True,
)
async def save_to_database(context: ToolContext, request: SaveToDatabaseRequest) -> SaveToDatabaseResponse:
    """Save a document, a category or a knowledge point in a project."""
    if request.entity_type == "document":
        return await _save_document(context, request.project_id, _read(DocumentData, request.data))
    quoted: CategoryData | KnowledgePointData
    if request.entity_type == "category":
        quoted = _read(CategoryData, request.data)
        kind, said = "category", quoted.label
    else:
        quoted = _read(KnowledgePointData, request.data)
        kind, said = quoted.kind, quoted.statement
    async with context.database.transaction() as connection:
        # Its text stays what the quote is looked for in, until the point is kept.
        source = await sources.get(connection, request.project_id, quoted.source_id, lock=True)
        point = KeptPoint.model_validate(
            {"kind": kind, "score": 1.0, "span": _span(source.text or "", quoted), "said": said.strip()}
        )
        id_ = await points.save(
            connection, request.project_id, source.id, point, saved_by=context.caller.subject
        )
        answer = SaveToDatabaseResponse(id=id_, type=request.entity_type)
        await context.record(connection, answer)
    return answer


async def _save_document(
    context: ToolContext, project_id: int, document: DocumentData
) -> SaveToDatabaseResponse:
    url = _address(context, document)
    text = PageText(
        text=document.text,
        title=document.title,
        author=document.author,
        date=document.date,
        language=None,
        links=(),
    )
    reading: PageReading = await context.agent("scraper").read_text(text)
    page = ScrapedPage(
        url=url,
        fetched_at=datetime.now(UTC),
        sha256=hashlib.sha256(document.text.encode()).hexdigest(),
        bytes=len(document.text.encode()),
        page=reading.page,
        redacted=reading.redacted,
    )
    async with (
        batch_lease(
            database=context.database, requested_by=context.caller.subject, lease_seconds=_LEASE_SECONDS
        ) as batch_id,
        context.database.transaction() as connection,
    ):
        claims = await sources.claim(
            connection, project_id=project_id, urls=[url], batch_id=batch_id, again=True
        )
        if not claims.ours:
            raise SourceBusy(f"{url} is being fetched by a batch: save it again when that has ended")
        await sources.settle(connection, project_id=project_id, batch_id=batch_id, pages=[page])
        source = (await sources.by_urls(connection, project_id, [url]))[url]
        answer = SaveToDatabaseResponse(id=source.id, type="document")
        await context.record(connection, answer)
    return answer.model_copy(update={"note": await index_now(context, [answer.id])})


def _address(context: ToolContext, document: DocumentData) -> str:
    if document.url is None:
        return f"urn:sha256:{hashlib.sha256(document.text.encode()).hexdigest()}"
    try:
        return page_url(document.url, allow_internal=context.config.outgoing.allow_internal)
    except PageFailed as failed:
        raise InputInvalid(f"data.url: {failed}") from failed


def _span(text: str, quoted: QuotedData) -> SourceSpan:
    """Where the quote stands in the source, as whole words and numbers; InputInvalid where it does not.

    So it is where it stands twice, and `start` does not say which is meant.
    """
    quote, source = quoted.quote, f"data.quote: source {quoted.source_id}"
    if quoted.start is None:
        places, at = list[int](), text.find(quote)
        while at >= 0 and len(places) < _MOST_PLACES:
            places.append(at)
            at = text.find(quote, at + 1)
    else:
        places = [quoted.start] if text.startswith(quote, quoted.start) else []
    if not places:
        where = "" if quoted.start is None else f" at character {quoted.start}"
        raise InputInvalid(f"{source} does not say that{where}: copy it from its text")
    whole = list[int]()
    for place in places:
        if len(whole) < 2 and stands_whole(text, place, place + len(quote)):
            whole.append(place)
    if not whole:
        raise InputInvalid(f"{source} says that only within a word or a number: quote all of that")
    if len(whole) > 1:
        raise InputInvalid(f"{source} says that more than once: say where, in data.start")
    return SourceSpan(start=whole[0], end=whole[0] + len(quote), quote=quote)


def _read(type_: type[R], data: dict[str, Any]) -> R:
    try:
        return type_.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        told = "; ".join(f"data.{'.'.join(map(str, f['loc'])) or 'data'}: {f['msg']}" for f in faults[:5])
        raise InputInvalid(told) from error
