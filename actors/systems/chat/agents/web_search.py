"""The agent that searches the web and the news (seed 000 §3.1, WebSearchAgent).

`answer` is for people, `find` for the drafting graph. The person's own words are searched for;
which tool is used is told by those words, and what it found is read as data.
"""

from typing import Any

from pydantic import BaseModel

from actors.platform.text.footnotes import without_footnotes
from actors.platform.text.lexicon import pattern
from actors.platform.text.normal_form import words
from actors.platform.tools.articles import ArticleDetails
from actors.platform.tools.web import WebSearchResponse
from actors.systems.chat.agents.published_article import published_article
from actors.systems.chat.agents.queries import search_words
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from actors.systems.chat.turn.sources import CitedSource, Sources, stored_link, stored_thing
from models.chat.messages import Route, Turn
from models.content.drafting import Finding, Findings, SearchBrief
from models.content.outside import SearchHit
from models.errors import AddressRefused, ProviderFailed, ProviderLimited, ProviderMissing
from models.record import Record
from models.text import shortened

_TOOLS = ("web_search", "search_news", "search_financial_news")
_QUERY = 1000
_QUOTES = "article {number} is put together of quotations: its own sources are to be quoted"
# Beginnings of words.
_NEWS, _FINANCE = (pattern("searches", key, r"\b{}", flags=0) for key in ("news", "finance"))


class HitRead(Record):
    """A hit as the model reads it when it searches once more; it cites it as `source`."""

    source: int
    text: str


class HitsRead(Record):
    """The hits of a search."""

    hits: tuple[HitRead, ...]
    note: str | None


class WebSearch(ChatAgent):
    """Looks things up with the providers that are configured."""

    agent_type = "web_search"

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """What was found, summed up, and links to it."""
        budget = self._context.new_budget()
        sources = Sources()
        try:
            answer = await reply.call(
                tool_for(turn.message), {"query": search_words(turn) or turn.message[:_QUERY]}
            )
        except (ProviderMissing, ProviderFailed, ProviderLimited, AddressRefused) as error:
            reply.say(site_text("not_done", reply.language, REASON=str(error)))
            reply.ends("failed")
            return
        assert isinstance(answer, WebSearchResponse)
        self._add(sources, answer.results)
        if not len(sources):
            reply.say(site_text("no_hits", reply.language, PROVIDER=answer.provider, NOTE=answer.note))
            return

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            again = await self._context.tools.call(name, arguments, caller=turn.caller)
            if not isinstance(again, WebSearchResponse):
                return again
            added = self._add(sources, again.results)
            hits = tuple(HitRead(source=each.number, text=f"{each.title}\n{each.text}") for each in added)
            return HitsRead(hits=hits, note=again.note)

        tools = await self._context.tools.permitted(turn.caller, _TOOLS)
        await self._context.speak(
            turn, reply, task="web_search", budget=budget, sources=sources, tools=tools, call=call
        )

    async def find(self, brief: SearchBrief) -> Findings:
        """What a search finds on a research's query: each hit a text, or the resource it is stored as."""
        answer = await self._context.tools.call(
            tool_for(brief.query), {"query": shortened(brief.query, _QUERY)}, caller=brief.caller
        )
        assert isinstance(answer, WebSearchResponse)
        hits = answer.results[: self._config.outside.results]
        found, notes = [], [answer.note] if answer.note else []
        for hit in hits:
            noun, number = stored_thing(hit.stored_as)
            if noun == "article":
                article = await self._own_article(brief, number)
                if article is not None and article.written == "quotes":
                    notes.append(_QUOTES.format(number=number))
                elif article is not None:
                    found.append(self._own(hit, article))
            elif hit.snippet.strip():
                found.append(self._finding(hit))
        return Findings(branch="web_search", found=tuple(found), note="; ".join(notes) or None)

    async def _own_article(self, brief: SearchBrief, number: int) -> ArticleDetails | None:
        """What readers have of it; None where it was withdrawn meanwhile."""

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            return await self._context.tools.call(name, arguments, caller=brief.caller)

        article = await published_article(call, number)
        return None if article is None or article.published_version is None else article

    def _own(self, hit: SearchHit, article: ArticleDetails) -> Finding:
        """An article of this site, whole: its words without its footnotes."""
        return self._finding(hit).model_copy(
            update={
                "name": shortened(article.headline),
                "content": without_footnotes(article.content),
                "article_id": article.id,
            }
        )

    def _add(self, sources: Sources, hits: tuple[SearchHit, ...]) -> list[CitedSource]:
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
        noun, number = stored_thing(hit.stored_as)
        said = [
            f"Found by {hit.source}",
            hit.published_at,
            hit.stored_as and f"stored here as {hit.stored_as}",
        ]
        return Finding(
            kind="text",
            name=shortened(hit.title),
            description=", ".join(part for part in said if part),
            content=hit.snippet,
            source=hit.source,
            url=self._where(hit),
            resource_id=number if noun == "resource" else None,
        )


def tool_for(text: str) -> str:
    """The search tool that a text asks for: of news where it speaks of news, of finance where of both."""
    said = words(text)
    if not _NEWS.search(said):
        return "web_search"
    return "search_financial_news" if _FINANCE.search(said) else "search_news"
