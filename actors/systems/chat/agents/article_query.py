"""The agent that answers readers from published articles, with links to them (seed 000 §3.2).

Asked by a replica, once `main_chat` has named it. It searches with the person's own words before any model is
asked; where nothing bears on them it says so, and no model is asked at all.
"""

import asyncio
from typing import Any

from pydantic import BaseModel

from actors.platform.text.bearing import bears_on
from actors.platform.text.relevance import best_passages
from actors.platform.tools.articles import (
    ArticleDetails,
    ArticleSearchResponse,
    ArticleSummary,
    GetArticleResponse,
)
from actors.systems.chat.agents.published_article import published_article
from actors.systems.chat.agents.queries import best_of, search_words
from actors.systems.chat.turn.article_numbers import articles_named
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from actors.systems.chat.turn.sources import CitedSource, Sources
from models.chat.messages import Route, Turn
from models.people.scopes import on_topics
from models.record import Record
from models.webhooks.payloads import article_link

_TOOLS = ("search_articles", "get_article")


class ArticleRead(Record):
    """An article as the model reads it when it asks for one; it cites it as `source`."""

    source: int
    headline: str
    content: str


class ArticleQuery(ChatAgent):
    """Answers questions from the articles that the person who asks may read."""

    agent_type = "article_query"

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """Text as the model writes it, and links to the articles it rests on."""
        budget = self._context.new_budget()
        sources = Sources()
        await self._look_up(turn, reply, sources)
        if not len(sources):
            reply.say(self._nothing(turn, reply, route.topic))
            return

        async def call(name: str, arguments: dict[str, Any]) -> BaseModel:
            answer = await self._context.tools.call(name, arguments, caller=turn.caller)
            if not isinstance(answer, GetArticleResponse):
                return answer
            source = await self._add(turn, sources, answer.article)
            return ArticleRead(source=source.number, headline=source.title, content=source.text)

        tools = await self._context.tools.permitted(turn.caller, _TOOLS, topic=route.topic)
        await self._context.speak(
            turn, reply, task="article_query", budget=budget, sources=sources, tools=tools, call=call
        )

    async def _look_up(self, turn: Turn, reply: Reply, sources: Sources) -> None:
        """Read the articles that are named, and those that are found, up to `chat.sources`."""
        most = self._config.chat.sources
        named = ([turn.article_id] if turn.article_id else []) + list(articles_named(turn.message))
        for article_id in dict.fromkeys(named[:most]):
            if (article := await published_article(reply.call, article_id)) is not None:
                await self._add(turn, sources, article)
        if len(sources) and articles_named(turn.message):
            return
        words = search_words(turn)
        hits = await self._search(turn, reply, words)
        for hit in hits:
            if len(sources) >= most:
                return
            article = await published_article(reply.call, hit.id)
            if article is None:
                continue
            text = f"{article.headline}\n{article.keywords or ''}\n{article.content}"
            if await asyncio.to_thread(bears_on, words, text, hit.similarity_score):
                await self._add(turn, sources, article)

    async def _search(self, turn: Turn, reply: Reply, words: str) -> list[ArticleSummary]:
        if not words:
            return []
        most = self._config.chat.sources
        found = await asyncio.gather(
            *(
                reply.call("search_articles", {"query": words, "topic": topic, "limit": 2 * most})
                for topic in self._context.readable(turn, reply.topic)
            )
        )
        ranked = [list(each.articles) for each in found if isinstance(each, ArticleSearchResponse)]
        return best_of(ranked)[: 2 * most]

    async def _add(self, turn: Turn, sources: Sources, article: ArticleDetails) -> CitedSource:
        draft = "" if article.version == article.published_version else " (unpublished draft)"
        most = self._context.source_characters
        text = await asyncio.to_thread(best_passages, article.content, turn.message, most)
        return sources.add(
            title=f"{article.headline}{draft}",
            url=article_link(self._config.publishing, article.id),
            text=text,
            about=f"article:{article.id}",
        )

    def _nothing(self, turn: Turn, reply: Reply, topic: str | None) -> str:
        topics = self._context.readable(turn, topic)
        known = [topic] if topic is not None else self._config.publishing.topics
        return site_text(
            "nothing_found",
            reply.language,
            TOPICS=topics,
            ANALYST=any(turn.caller.has("analyst", each) for each in topics),
            SCOPE=on_topics("{topic}:reader", known),
        )
