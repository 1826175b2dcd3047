"""How articles stand: published or not, their last request, who decided that and why.

Called by `main_chat` and `editor`, where a message asks what became of articles: of those that it names by
number, or else of the person's own that got a no. An article is read by the tool, as whoever asks may see it:
readers are told of what is published, and of no request.
"""

from datetime import datetime
from typing import Any, Literal

from actors.platform.text.markdown import escaped
from actors.platform.tools.articles import ArticleDetails, GetArticleResponse, PublicationRequest
from actors.platform.tools.visibility import sees_drafts
from actors.systems.chat.turn.article_numbers import articles_named
from actors.systems.chat.turn.chat_agent import AgentContext
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from models.chat.messages import Turn
from models.errors import ArticleNotFound
from models.store import approval_inbox
from models.webhooks.payloads import article_link

_MOST = 3
_MOST_REFUSED = 5
_NOTES = 1000  # characters


async def tell_of_articles(
    context: AgentContext, turn: Turn, reply: Reply
) -> Literal["none", "told", "waits"]:
    """Say how the articles stand that a message names; whether it names any, and one waits for a decision."""
    named = articles_named(turn.message, bare=False)
    waits = False
    for place, article_id in enumerate(named[:_MOST]):
        article = await _seen(reply, article_id)
        told = _told(context, turn, reply, article_id, article)
        reply.say(f"\n\n{told}" if place else told)
        request = article and article.last_request
        waits |= request is not None and request.status == "pending"
    if not named:
        return "none"
    return "waits" if waits else "told"


async def tell_of_refused(context: AgentContext, turn: Turn, reply: Reply) -> bool:
    """Say which requests for this person's articles got a no, by whom and why; whether there are any."""
    database = await context.tools.database()
    async with database.connection() as connection:
        found = await approval_inbox.refused_articles(connection, turn.caller.subject, limit=_MOST_REFUSED)
    shown = [
        {
            "about": (one.about or "").removeprefix("article:"),
            "title": escaped(one.title),
            "reason": escaped(one.reason or "", _NOTES),
        }
        for one in found
        if one.topic is not None and sees_drafts(turn.caller, one.topic)
    ]
    if shown:
        reply.say(site_text("articles_refused", reply.language, REFUSED=shown))
    return bool(shown)


async def _seen(reply: Reply, article_id: int) -> ArticleDetails | None:
    try:
        answer = await reply.call("get_article", {"article_id": article_id})
    except ArticleNotFound:
        return None
    assert isinstance(answer, GetArticleResponse)
    return answer.article


def _told(
    context: AgentContext, turn: Turn, reply: Reply, article_id: int, article: ArticleDetails | None
) -> str:
    if article is None:
        nothing: dict[str, Any] = {"ARTICLE": None, "REQUEST": None, "CHANGES": None}
        return site_text("article_stands", reply.language, ARTICLE_ID=article_id, **nothing)
    return site_text(
        "article_stands",
        reply.language,
        ARTICLE_ID=article_id,
        ARTICLE=_article(article)
        | {
            "sees_requests": sees_drafts(turn.caller, article.topic),
            "link": article_link(context.config.publishing, article_id),
        },
        REQUEST=None if article.last_request is None else _request(article.last_request),
        CHANGES=changes_asked(article),
    )


def _article(article: ArticleDetails) -> dict[str, Any]:
    return {
        "headline": escaped(article.headline),
        "status": article.status,
        "version": article.version,
        "published_version": article.published_version,
        "published_at": _at(article.published_at),
    }


def _request(request: PublicationRequest) -> dict[str, Any]:
    return {
        "approval_id": request.approval_id,
        "status": request.status,
        "requested_by": escaped(request.requested_by),
        "decided_by": escaped(request.decided_by) if request.decided_by else None,
        "decided_at": _at(request.decided_at),
        "notes": escaped((request.notes or "").strip(), _NOTES) or None,
    }


def changes_asked(article: ArticleDetails) -> dict[str, str] | None:
    """Who sent a draft back, when, and what is to be changed, for a prompt."""
    asked = article.changes_asked
    if asked is None:
        return None
    return {"by": escaped(asked.by), "at": _at(asked.at), "notes": escaped(asked.notes.strip(), _NOTES)}


def _at(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"
