"""The agent that gets figures and documents (seed 000 §3.1, DataDownloadAgent).

`answer` is called by `main_chat`, `find` by a research's graph. Which series a person means is told by the
words of the message, without a model; only where those name none may a model look for one. A PDF is fetched
only from an address in the person's own message, and only after a yes that was told of it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel

from actors.chat.agents.market_tables import shown, tool_call
from actors.chat.turn.agent_context import AgentContext
from actors.chat.turn.article_numbers import pdf_addresses
from actors.chat.turn.confirmation import agreed, asks
from actors.chat.turn.links import escaped, link, plain
from actors.chat.turn.reply import Reply
from actors.chat.turn.sources import resource_link
from actors.outside.market.data import find_series
from actors.outside.pdf import read_pdf
from actors.runtime.directory import Directory
from actors.tools.market_data import MarketDataResponse, SeriesSearchResponse
from actors.tools.pdf import DownloadPdfResponse
from models.chat import ChatStatus, Done, Piece, Route, Turn
from models.chat_acts import Act
from models.config import Config
from models.drafting import Finding, Findings, SearchBrief
from models.errors import (
    AddressRefused,
    ArticleNotFound,
    DocumentUnreadable,
    InputInvalid,
    PermissionMissing,
    ProviderFailed,
    ProviderLimited,
    ProviderMissing,
)
from models.outside import DataTable, SeriesInfo
from models.pdf import PdfContents
from models.store import chat_acts

_TOOLS = (
    "search_series",
    "fetch_economic_data",
    "fetch_equity_data",
    "fetch_fx_rates",
    "fetch_treasury_yields",
)
# Series that one message gets.
_MOST = 3
_KNOWN = 8
_QUERY = 500
_FAULT = 500
_NAME = 200
_PDF_SOURCE = "pdf"
# Rows of a table that a model reads.
_READ = 12
# What a provider or a document may be short of; the rest is still answered.
_WANTING = (
    ProviderMissing,
    ProviderFailed,
    ProviderLimited,
    AddressRefused,
    InputInvalid,
    DocumentUnreadable,
)


class DataDownload:
    """Fetches market data, and documents that are named by their address."""

    def __init__(self, *, config: Config, directory: Directory, prompts: dict[str, str]) -> None:
        self._with = AgentContext(agent="data_download", config=config, directory=directory, prompts=prompts)
        self._config = config

    async def answer(self, turn: Turn, route: Route) -> AsyncGenerator[Piece, None]:
        """A short table for each series, or what a document became once a yes was said to it; `Done`."""
        reply = self._with.reply(turn, route.topic)
        if (wanted := _wanted(turn, route)) is not None:
            done = await self._download(turn, route, reply, wanted)
            for used in reply.told():
                yield used
            yield reply.whole()
            yield done
            return
        if series := find_series(turn.message, config=self._config, most=_MOST):
            status, text = await self._figures(reply, series)
        else:
            async with aclosing(self._looked_for(turn, reply)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        for used in reply.told():
            yield used
        yield reply.say(text)
        yield reply.done(status)

    async def find(self, brief: SearchBrief) -> Findings:
        """The tables that a research's query asks for, and the documents that it names; stores nothing."""
        found: list[Finding] = []
        faults: list[str] = []
        for info in find_series(brief.query, config=self._config, most=_MOST):
            name, arguments = tool_call(info)
            try:
                answer = await self._with.tools.call(name, arguments, caller=brief.caller)
            except _WANTING as error:
                faults.append(f"{info.title}: {error}")
                continue
            assert isinstance(answer, MarketDataResponse)
            found.append(table_finding(answer.table))
        # No tool stands between: nothing is stored before the research has chosen.
        brief.caller.require("analyst", brief.topic)
        for address in pdf_addresses(brief.query):
            try:
                found += document_findings(await read_pdf(address, config=self._config))
            except _WANTING as error:
                faults.append(f"{address}: {error}")
        return Findings(branch="data_download", found=tuple(found), note="; ".join(faults) or None)

    async def _figures(self, reply: Reply, series: list[SeriesInfo]) -> tuple[ChatStatus | None, str]:
        tables: list[DataTable] = []
        faults: list[str] = []
        for info in series:
            try:
                answer = await reply.call(*tool_call(info))
            except _WANTING as error:
                faults.append(escaped(f"{info.title}: {error}", _FAULT))
                continue
            assert isinstance(answer, MarketDataResponse)
            tables.append(answer.table)
        text = self._with.text("figures", TABLES=[shown(table) for table in tables], FAULTS=faults)
        return (None if tables else "failed"), text

    async def _looked_for(self, turn: Turn, reply: Reply) -> AsyncGenerator[Piece, None]:
        """A model looks for the series; the figures themselves are shown as the tools gave them."""
        tables: list[DataTable] = []

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            answer = await self._with.tools.call(name, arguments, caller=turn.caller)
            if isinstance(answer, MarketDataResponse):
                tables.append(answer.table)
                newest = answer.table.rows[-_READ:]
                return answer.model_copy(update={"table": answer.table.model_copy(update={"rows": newest})})
            return answer

        spoken = self._with.speak(
            turn,
            reply,
            task="data_download",
            allowance=self._with.allowance(),
            tools=await self._with.tools.permitted(turn.caller, _TOOLS),
            call=call,
        )
        async with aclosing(spoken) as pieces:
            async for piece in pieces:
                yield piece
        if tables:
            told = self._with.text("figures", TABLES=[shown(table) for table in tables], FAULTS=[])
        else:
            told = await self._nothing(reply, turn)
            for used in reply.told():
                yield used
        yield reply.say(f"\n\n{told}" if reply.text else told)
        yield reply.done()

    async def _nothing(self, reply: Reply, turn: Turn) -> str:
        wanted = {"query": plain(turn.message, _QUERY), "limit": _KNOWN}
        try:
            answer = await reply.call("search_series", wanted)
        except (ProviderMissing, InputInvalid):
            return self._with.text("no_series", SERIES=[])
        assert isinstance(answer, SeriesSearchResponse)
        return self._with.text("no_series", SERIES=[escaped(each.title) for each in answer.series])

    async def _download(self, turn: Turn, route: Route, reply: Reply, act: Act) -> Done:
        if act.topic is None and act.article_id is None:
            topics = [each for each in self._config.publishing.topics if turn.caller.has("analyst", each)]
            reply.say(self._with.text("which_topic", TOPICS=topics))
            return reply.done()
        try:
            if (act_id := await agreed(self._with, turn, route, reply, act)) is None:
                return asks(reply)
        except (PermissionMissing, ArticleNotFound) as error:
            reply.say(self._with.text("not_done", REASON=escaped(str(error), _FAULT)))
            return reply.done("refused" if isinstance(error, PermissionMissing) else "failed")
        database = await self._with.tools.database()
        async with database.connection() as connection:
            # A yes that is sent again must not store the documents twice.
            if not await chat_acts.spend(connection, act_id):
                reply.say(self._with.text("asked_too_late"))
                return reply.done("failed")
        return await self._documents(reply, act)

    async def _documents(self, reply: Reply, act: Act) -> Done:
        where = {"topic": act.topic} if act.article_id is None else {"article_id": act.article_id}
        made: list[str] = []
        faults: list[str] = []
        for address in act.urls:
            try:
                answer = await reply.call("download_pdf", {"url": address, **where})
            except (*_WANTING, PermissionMissing, ArticleNotFound) as error:
                faults.append(escaped(str(error), _FAULT))
                continue
            assert isinstance(answer, DownloadPdfResponse)
            for each in answer.resources:
                made.append(link(each.name, resource_link(self._config.publishing, each.resource_id)))
        reply.say(self._with.text("documents", RESOURCES=made, FAULTS=faults))
        return reply.done(None if made else "failed")


def _wanted(turn: Turn, route: Route) -> Act | None:
    """The download that a message names, or is the yes to."""
    if route.confirmed is not None:
        return route.confirmed.act
    if not (addresses := pdf_addresses(turn.message)):
        return None
    topic = route.topic if turn.article_id is None else None
    return Act(intent="download", article_id=turn.article_id, topic=topic, urls=addresses)


def table_finding(table: DataTable) -> Finding:
    """A table of market data, to become a resource; what is sample data says so."""
    told = [
        f"Source: {table.source}",
        f"series {table.series_id}",
        table.unit and f"unit: {table.unit}",
        table.note,
    ]
    return Finding(
        kind="table",
        name=plain(table.title),
        description="; ".join(part for part in told if part),
        columns=table.columns,
        rows=table.rows,
        source=table.source,
        url=table.url,
    )


def document_findings(document: PdfContents) -> list[Finding]:
    """A PDF's texts and tables, to become resources."""
    where = f"From {document.url}, {document.pages} pages"
    name = plain(document.title, _NAME)
    texts = [
        Finding(
            kind="text",
            name=name if number == 1 else f"{name}, part {number}",
            description=f"{where}. Left out: {document.note}" if document.note else where,
            content=text,
            source=_PDF_SOURCE,
            url=document.url,
        )
        for number, text in enumerate(document.texts, 1)
    ]
    tables = [
        Finding(
            kind="table",
            name=f"{name}, table {number}",
            description=f"From {document.url}, page {table.page}",
            columns=table.columns,
            rows=table.rows,
            source=_PDF_SOURCE,
            url=document.url,
        )
        for number, table in enumerate(document.tables, 1)
    ]
    return [*texts, *tables]
