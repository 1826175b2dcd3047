"""The agent that finds stored sources, texts and tables (seed 000 §3.1, ResourceQueryAgent).

`answer` is for people, who also get what their projects' sources say; `find` for the drafting graph. Readers
find what published articles rest on; the tools see to that.
"""

import asyncio
from typing import Any

from pydantic import BaseModel

from actors.platform.figures.table_figures import table_figures
from actors.platform.text import normal_form
from actors.platform.text.bearing import bears_on
from actors.platform.text.language import Language, language_of
from actors.platform.text.relevance import best_passages
from actors.platform.tools.resources import GetResourceResponse, ResourceSearchResponse, ResourceSummary
from actors.systems.chat.agents.project_passages import TOOLS, add_passages
from actors.systems.chat.agents.queries import search_words
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from actors.systems.chat.turn.sources import CitedSource, Sources, resource_link
from models.chat.messages import Route, Turn
from models.content.articles import Resource
from models.content.drafting import STORED_ROWS, Finding, Findings, SearchBrief
from models.errors import ModelUnavailable, ResourceNotFound
from models.record import Record
from models.text import shortened

_TOOLS = ("search_all_resources", "get_resource", "search_text_resources", "search_table_resources")
_TABLE_WORDS = frozenset(("table", "tables", "tabela", "tabele", "tabelle", "tabellen", "csv", "spreadsheet"))
_QUERY = 1000
# What a research reads of a stored resource at most; the resource itself stays whole.
_CHARACTERS = 20_000
_MOST_FIGURES = 8


class ResourceRead(Record):
    """A resource as the model reads it when it asks for one; it cites it as `source`."""

    source: int
    name: str
    kind: str
    content: str


class ResourceQuery(ChatAgent):
    """Finds resources that the person who asks may see."""

    agent_type = "resource_query"

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """What the resources say, and links to them."""
        budget = self._context.new_budget()
        sources = Sources()
        words = search_words(turn)
        wanted = {"query": words, "topic": route.topic, "limit": 2 * self._config.chat.sources}
        for hit in await self._search(reply, turn.message, wanted):
            if len(sources) >= self._config.chat.sources:
                break
            resource = await self._get(reply, hit.id)
            if resource and await _bears_on(words, resource, hit.similarity_score):
                await self._add(turn, sources, resource)
        if await self._context.tools.permitted(turn.caller, TOOLS):
            most = 2 * self._config.chat.sources
            await add_passages(turn, route, reply, sources, query=words, most=most)
        if not len(sources):
            reply.say(site_text("no_resources", reply.language))
            return

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            answer = await self._context.tools.call(name, arguments, caller=turn.caller)
            if not isinstance(answer, GetResourceResponse):
                return answer
            source = await self._add(turn, sources, answer.resource)
            return ResourceRead(
                source=source.number, name=source.title, kind=answer.resource.kind, content=source.text
            )

        tools = await self._context.tools.permitted(turn.caller, _TOOLS, topic=route.topic)
        await self._context.speak(
            turn, reply, task="resource_query", budget=budget, sources=sources, tools=tools, call=call
        )

    async def find(self, brief: SearchBrief) -> Findings:
        """Resources of the topic that a search for a research's query finds, with their `resource_id`.

        Raises:
            ModelUnavailable: words found nothing, and the search by meaning is away: nobody knows.
        """
        query = shortened(brief.query, _QUERY)
        wanted = {"query": query, "topic": brief.topic, "limit": self._config.drafting.max_resources}
        answer = await self._context.tools.call("search_all_resources", wanted, caller=brief.caller)
        assert isinstance(answer, ResourceSearchResponse)
        if not answer.resources and answer.note is not None:
            reason = f"words find nothing that is stored, and the rest is not known: {answer.note}"
            raise ModelUnavailable(reason, waits_for="search by meaning")
        found = []
        for hit in answer.resources:
            try:
                read = await self._context.tools.call(
                    "get_resource", {"resource_id": hit.id}, caller=brief.caller
                )
            except ResourceNotFound:
                continue
            assert isinstance(read, GetResourceResponse)
            found.append(self._finding(read.resource))
        return Findings(branch="resource_query", found=tuple(found), note=answer.note)

    async def _search(self, reply: Reply, message: str, wanted: dict[str, Any]) -> list[ResourceSummary]:
        """Tables first where tables are asked for; then whatever there is."""
        if not wanted["query"]:
            return []
        names = ["search_all_resources"]
        if _TABLE_WORDS & set(normal_form.words(message).split()):
            names.insert(0, "search_table_resources")
        for name in names:
            answer = await reply.call(name, wanted)
            assert isinstance(answer, ResourceSearchResponse)
            if answer.resources:
                return list(answer.resources)
        return []

    async def _get(self, reply: Reply, resource_id: int) -> Resource | None:
        try:
            answer = await reply.call("get_resource", {"resource_id": resource_id})
        except ResourceNotFound:
            return None
        assert isinstance(answer, GetResourceResponse)
        return answer.resource

    async def _add(self, turn: Turn, sources: Sources, resource: Resource) -> CitedSource:
        most = self._context.source_characters
        told = await asyncio.to_thread(_figures, resource, language_of(turn.message))
        words = "\n\n".join([*told, _words_of(resource)])
        text = await asyncio.to_thread(best_passages, words, turn.message, most)
        return sources.add(
            title=resource.name,
            url=resource_link(self._config.publishing, resource.id),
            text=text,
            about=f"resource:{resource.id}",
            computed=told,
        )

    def _finding(self, resource: Resource) -> Finding:
        table = resource.kind == "table"
        return Finding(
            kind=resource.kind,
            name=resource.name,
            description=resource.description,
            content=None if table else resource.content[:_CHARACTERS],
            columns=resource.columns if table else None,
            rows=(resource.rows or ())[-STORED_ROWS:] if table else None,
            source="signoff",
            url=resource_link(self._config.publishing, resource.id),
            resource_id=resource.id,
        )


def _figures(resource: Resource, language: Language) -> list[str]:
    """What code computed from a resource's table, in sentences."""
    columns, rows = resource.columns or (), resource.rows or ()
    found = table_figures(resource.name, resource.description, columns, rows, language)
    return [figure.sentence for figure in found[:_MOST_FIGURES]]


def _words_of(resource: Resource) -> str:
    return "\n".join(part for part in (resource.name, resource.description, resource.content) if part)


async def _bears_on(question: str, resource: Resource, similarity: float | None) -> bool:
    return await asyncio.to_thread(bears_on, question, _words_of(resource), similarity)
