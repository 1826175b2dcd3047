"""The agent that gets figures and documents (seed 000 §3.1, DataDownloadAgent).

`answer` is for people, `find` for the drafting graph. Which series a person means is told by the
words of the message, without a model; only where those name none may a model look for one. A PDF is fetched
only from an address in the person's own message, and only after a yes that was told of it.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from actors.platform.pdf.pdf import read_pdf
from actors.platform.text.markdown import escaped, link
from actors.platform.tools.pdf import DownloadPdfResponse
from actors.systems.chat.agents.market_tables import shown, tool_call
from actors.systems.chat.turn.article_numbers import pdf_addresses
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.confirmation import agreed
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from actors.systems.chat.turn.sources import resource_link
from actors.systems.market.data import find_series
from actors.systems.market.tools import MarketDataResponse, SeriesSearchResponse
from models.chat.acts import Act
from models.chat.messages import Route, Turn
from models.content.drafting import Finding, Findings, SearchBrief
from models.content.outside import DataTable, SeriesInfo
from models.content.pdf import PdfContents
from models.errors import (
    AddressRefused,
    ArticleConflict,
    ArticleNotFound,
    DocumentUnreadable,
    InputInvalid,
    PermissionMissing,
    ProviderFailed,
    ProviderLimited,
    ProviderMissing,
)
from models.store.people import chat_acts
from models.text import shortened

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


class DataDownload(ChatAgent):
    """Fetches market data, and documents that are named by their address."""

    agent_type = "data_download"

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """A short table for each series, or what a document became once a yes was said to it."""
        if (wanted := _wanted(turn, route)) is not None:
            await self._download(turn, route, reply, wanted)
        elif series := find_series(turn.message, config=self._config, most=_MOST):
            await self._figures(turn, reply, series)
        else:
            await self._look_for(turn, reply)

    async def find(self, brief: SearchBrief) -> Findings:
        """The tables that a research's query asks for, and the documents that it names; stores nothing."""
        found: list[Finding] = []
        faults: list[str] = []
        for info in find_series(brief.query, config=self._config, most=_MOST):
            name, arguments = tool_call(info)
            try:
                answer = await self._context.tools.call(name, arguments, caller=brief.caller)
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

    async def _figures(self, turn: Turn, reply: Reply, series: list[SeriesInfo]) -> None:
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
        reply.say(self._told(reply, tables, faults))
        if not tables:
            reply.ends("failed")

    def _told(self, reply: Reply, tables: Sequence[DataTable], faults: Sequence[str]) -> str:
        """Tables and what was computed from them, in the language of the message."""
        return site_text(
            "figures",
            reply.language,
            TABLES=[shown(table, reply.language) for table in tables],
            FAULTS=faults,
        )

    async def _look_for(self, turn: Turn, reply: Reply) -> None:
        """A model looks for the series; the figures themselves are shown as the tools gave them."""
        tables: list[DataTable] = []

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            answer = await self._context.tools.call(name, arguments, caller=turn.caller)
            if isinstance(answer, MarketDataResponse):
                tables.append(answer.table)
                newest = answer.table.rows[-_READ:]
                return answer.model_copy(update={"table": answer.table.model_copy(update={"rows": newest})})
            return answer

        await self._context.speak(
            turn,
            reply,
            task="data_download",
            budget=self._context.new_budget(),
            tools=await self._context.tools.permitted(turn.caller, _TOOLS),
            call=call,
        )
        if tables:
            told = self._told(reply, tables, [])
        else:
            told = await self._nothing(reply, turn)
        reply.say(f"\n\n{told}" if reply.text else told)

    async def _nothing(self, reply: Reply, turn: Turn) -> str:
        wanted = {"query": shortened(turn.message, _QUERY), "limit": _KNOWN}
        try:
            answer = await reply.call("search_series", wanted)
        except (ProviderMissing, InputInvalid):
            return site_text("no_series", reply.language, SERIES=[])
        assert isinstance(answer, SeriesSearchResponse)
        return site_text("no_series", reply.language, SERIES=[escaped(each.title) for each in answer.series])

    async def _download(self, turn: Turn, route: Route, reply: Reply, act: Act) -> None:
        if act.topic is None and act.article_id is None:
            topics = [each for each in self._config.publishing.topics if turn.caller.has("analyst", each)]
            reply.say(site_text("which_topic", reply.language, TOPICS=topics))
            return
        try:
            if (yes := await agreed(self._context, turn, route, reply, act)) is None:
                return
        except (PermissionMissing, ArticleNotFound, ArticleConflict) as error:
            reply.say(site_text("not_done", reply.language, REASON=escaped(str(error), _FAULT)))
            reply.ends("refused" if isinstance(error, PermissionMissing) else "failed")
            return
        database = await self._context.tools.database()
        async with database.connection() as connection:
            # A yes that is sent again must not store the documents twice.
            if not await chat_acts.spend(connection, yes.act_id):
                reply.say(site_text("asked_too_late", reply.language))
                reply.ends("failed")
                return
        await self._documents(reply, act)

    async def _documents(self, reply: Reply, act: Act) -> None:
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
        reply.say(site_text("documents", reply.language, RESOURCES=made, FAULTS=faults))
        if not made:
            reply.ends("failed")


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
        name=shortened(table.title),
        description="; ".join(part for part in told if part),
        columns=table.columns,
        rows=table.rows,
        source=table.source,
        url=table.url,
    )


def document_findings(document: PdfContents) -> list[Finding]:
    """A PDF's texts and tables, to become resources."""
    where = f"From {document.url}, {document.pages} pages"
    name = shortened(document.title, _NAME)
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
