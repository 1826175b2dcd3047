"""The agent that searches the web and the news (seed 000 §3.1, WebSearchAgent).

`answer` is called by `main_chat`, `find` by a research's graph. The person's own words are searched for;
which tool is used is told by those words, and what it found is read as data.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel

from actors.chat.agents.queries import search_words
from actors.chat.turn.agent_context import AgentContext
from actors.chat.turn.links import plain
from actors.chat.turn.sources import Source, Sources, stored_link
from actors.runtime.directory import Directory
from actors.text.normal_form import words
from actors.tools.web import WebSearchResponse
from models.articles import Record
from models.chat import Piece, Route, Turn
from models.config import Config
from models.drafting import Finding, Findings, SearchBrief
from models.errors import AddressRefused, ProviderFailed, ProviderLimited, ProviderMissing
from models.outside import SearchHit

_TOOLS = ("web_search", "search_news", "search_financial_news")
_QUERY = 1000
# Beginnings of words, in English, Polish and German.
_NEWS = re.compile(r"\b(?:news|headline|latest|wiadomosc|aktualnosc|najnowsz|nachricht|schlagzeile|neueste)")
_FINANCE = re.compile(
    r"\b(?:stock|share|market|bond|yield|equit|earning|financ|rates?\b|inflation|fed\b|ecb\b|ezb\b|ebc\b"
    r"|gield|akcj|obligac|rynek|rynk|finans|stop[ay]\b|inflacj|borse|aktie|anleihe|zins)"
)


class HitRead(Record):
    """A hit as the model reads it when it searches once more; it cites it as `source`."""

    source: int
    text: str


class HitsRead(Record):
    """The hits of a search."""

    hits: tuple[HitRead, ...]
    note: str | None


class WebSearch:
    """Looks things up with the providers that are configured."""

    def __init__(self, *, config: Config, directory: Directory, prompts: dict[str, str]) -> None:
        self._with = AgentContext(agent="web_search", config=config, directory=directory, prompts=prompts)
        self._config = config

    async def answer(self, turn: Turn, route: Route) -> AsyncGenerator[Piece, None]:
        """What was found, summed up, links to it, and `Done`."""
        reply = self._with.reply(turn, route.topic)
        allowance = self._with.allowance()
        sources = Sources()
        try:
            answer = await reply.call(
                tool_for(turn.message), {"query": search_words(turn) or turn.message[:_QUERY]}
            )
        except (ProviderMissing, ProviderFailed, ProviderLimited, AddressRefused) as error:
            for used in reply.told():
                yield used
            yield reply.say(self._with.text("not_done", REASON=str(error)))
            yield reply.done("failed")
            return
        assert isinstance(answer, WebSearchResponse)
        self._add(sources, answer.results)
        for used in reply.told():
            yield used
        if not len(sources):
            yield reply.say(self._with.text("no_hits", PROVIDER=answer.provider, NOTE=answer.note))
            yield reply.done()
            return

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            again = await self._with.tools.call(name, arguments, caller=turn.caller)
            if not isinstance(again, WebSearchResponse):
                return again
            added = self._add(sources, again.results)
            hits = tuple(HitRead(source=each.number, text=f"{each.title}\n{each.text}") for each in added)
            return HitsRead(hits=hits, note=again.note)

        tools = await self._with.tools.permitted(turn.caller, _TOOLS)
        spoken = self._with.speak(
            turn, reply, task="web_search", allowance=allowance, sources=sources, tools=tools, call=call
        )
        async with aclosing(spoken) as pieces:
            async for piece in pieces:
                yield piece
        yield reply.done()

    async def find(self, brief: SearchBrief) -> Findings:
        """What a search finds on a research's query: each hit a text, or the resource it is stored as."""
        answer = await self._with.tools.call(
            tool_for(brief.query), {"query": plain(brief.query, _QUERY)}, caller=brief.caller
        )
        assert isinstance(answer, WebSearchResponse)
        hits = answer.results[: self._config.outside.results]
        found = [self._finding(hit) for hit in hits if hit.snippet.strip()]
        return Findings(branch="web_search", found=tuple(found), note=answer.note)

    def _add(self, sources: Sources, hits: tuple[SearchHit, ...]) -> list[Source]:
        return [
            sources.add(
                title=hit.title,
                url=self._where(hit),
                text="\n".join(part for part in (hit.published_at, hit.snippet) if part),
                about=hit.stored_as or hit.url or hit.title,
            )
            for hit in hits[: self._config.outside.results]
        ]

    def _where(self, hit: SearchHit) -> str | None:
        return hit.url or (stored_link(self._config.publishing, hit.stored_as) if hit.stored_as else None)

    def _finding(self, hit: SearchHit) -> Finding:
        noun, _, number = (hit.stored_as or "").partition(":")
        said = [
            f"Found by {hit.source}",
            hit.published_at,
            hit.stored_as and f"stored here as {hit.stored_as}",
        ]
        return Finding(
            kind="text",
            name=plain(hit.title),
            description=", ".join(part for part in said if part),
            content=hit.snippet,
            source=hit.source,
            url=self._where(hit),
            resource_id=int(number) if noun == "resource" and number.isdigit() else None,
        )


def tool_for(text: str) -> str:
    """The search tool that a text asks for: of news where it speaks of news, of finance where of both."""
    said = words(text)
    if not _NEWS.search(said):
        return "web_search"
    return "search_financial_news" if _FINANCE.search(said) else "search_news"
