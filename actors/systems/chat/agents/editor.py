"""The agent that does what editors ask: review, send back, ask for publication, list what waits.

Seed 000 §3.2, EditorSubAgent. Asked by a replica, once `main_chat` has named it. It asks no model: only the
person's own words choose the article and what is done with it, after a yes of their own, so no text that
anybody wrote into an article, a source or a message that was pasted can. Approving is never done here.
"""

import re
from contextlib import suppress
from typing import Any

from actors.platform import systems
from actors.platform.text.markdown import escaped
from actors.platform.tools.articles import PublicationRequest, StatusResponse
from actors.platform.tools.editor import (
    PendingApprovalsResponse,
    PublishArticleResponse,
    ReviewArticleResponse,
)
from actors.systems.chat.agents.article_standing import changes_asked, tell_of_articles, tell_of_refused
from actors.systems.chat.turn.article_numbers import articles_named
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.confirmation import agreed
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from models.chat.acts import Act
from models.chat.messages import Route, Turn, WorkflowState
from models.errors import (
    ArticleConflict,
    ArticleNotFound,
    FeatureOff,
    InputInvalid,
    PermissionMissing,
    RateLimited,
    TaskNotFound,
)
from models.store.content import articles
from models.store.runtime import tasks
from models.text import shortened
from models.webhooks.payloads import article_link

# What is told in the conversation; anything else is for whoever runs the site.
_TOLD = (ArticleConflict, ArticleNotFound, FeatureOff, InputInvalid, PermissionMissing, RateLimited)
_NOTES = 5000
_EVENTS = 10
_SHOWN = 20
# Words of a message that only name the article and say "send it back" tell a writer nothing.
_LEAST_NOTES = 4


class Editor(ChatAgent):
    """Answers the intents `review`, `changes`, `publish` and `approvals`."""

    agent_type = "editor"

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """What was done, or what is lacking for it; the end names the task where one was begun."""
        try:
            await self._act(turn, route, reply)
        except _TOLD as error:
            reply.say(site_text("not_done", reply.language, REASON=shortened(str(error), 1000)))
            if isinstance(error, ArticleConflict):
                # It may have been a question: what was to be done is done, or was refused.
                reply.say("\n\n")
                await tell_of_articles(self._context, turn, reply)
            reply.ends("refused" if isinstance(error, PermissionMissing) else "failed")

    async def _act(self, turn: Turn, route: Route, reply: Reply) -> None:
        if route.intent == "approvals":
            named = await tell_of_articles(self._context, turn, reply)
            if named == "none" and await tell_of_refused(self._context, turn, reply):
                named = "waits"
            if named == "waits":
                reply.say("\n\n")
            if named != "told":
                await self._approvals(route, reply)
            return
        articles = article_spoken_of(turn)
        if route.confirmed is not None and route.confirmed.act.article_id is not None:
            articles = (route.confirmed.act.article_id,)
        if len(articles) != 1:
            reply.say(site_text("which_article", reply.language, ARTICLES=articles))
        elif route.intent == "review":
            await self._review(reply, articles[0])
        elif route.intent == "changes":
            await self._changes(turn, route, reply, articles[0])
        else:
            assert route.intent == "publish", f"the editor does not answer {route.intent}"
            await self._publish(turn, route, reply, articles[0])

    async def _review(self, reply: Reply, article_id: int) -> None:
        review = await reply.call("review_article", {"article_id": article_id})
        assert isinstance(review, ReviewArticleResponse)
        article = review.article
        reply.topic = article.topic
        reply.say(
            site_text(
                "reviewed",
                reply.language,
                ARTICLE_ID=article_id,
                HEADLINE=escaped(article.headline),
                STATUS=article.status,
                VERSION=article.version,
                AUTHOR=escaped(article.author),
                WORDS=review.word_count,
                SOURCES=len(article.resources),
                OPEN_REQUEST=review.open_request,
                LAST_REQUEST=_told(article.last_request),
                CHANGES=changes_asked(article),
                NOTES=[escaped(note) for note in article.desk_notes],
                IN_THE_WAY=[escaped(each) for each in review.in_the_way],
                HISTORY=[
                    f"{event.type} ({event.at:%Y-%m-%d %H:%M} UTC)" for event in review.history[-_EVENTS:]
                ],
                LINK=article_link(self._config.publishing, article_id),
            )
        )

    async def _changes(self, turn: Turn, route: Route, reply: Reply, article_id: int) -> None:
        notes = (route.confirmed.act.words if route.confirmed else None) or turn.message.strip()
        if len(notes) > _NOTES:
            raise InputInvalid(f"message: notes take {_NOTES} characters at most: say it in fewer")
        if len(re.findall(r"[^\W\d_]{2,}", notes)) < _LEAST_NOTES:
            reply.say(site_text("which_changes", reply.language, ARTICLE_ID=article_id))
            return
        act = Act(intent="changes", article_id=article_id, words=notes)
        if (yes := await agreed(self._context, turn, route, reply, act)) is None:
            return
        asked = {"article_id": article_id, "notes": notes}
        answer = await reply.call("request_changes", asked, first=yes.carry_out)
        assert isinstance(answer, StatusResponse)
        reply.say(site_text("changes_requested", reply.language, ARTICLE_ID=article_id, NOTES=escaped(notes)))

    async def _publish(self, turn: Turn, route: Route, reply: Reply, article_id: int) -> None:
        if not self._config.features.enable_hitl_workflow:
            raise FeatureOff("publishing is switched off here: features.enable_hitl_workflow is false")
        try:
            act = Act(intent="publish", article_id=article_id)
            if (yes := await agreed(self._context, turn, route, reply, act)) is None:
                return
            answer = await reply.call("publish_article", {"article_id": article_id}, first=yes.carry_out)
        except ArticleConflict:
            if not await self._waits(turn, reply, article_id):
                raise
            return
        assert isinstance(answer, PublishArticleResponse)
        task_id, state = await self._task(turn, article_id)
        reply.say(
            site_text(
                "publication_asked",
                reply.language,
                ARTICLE_ID=article_id,
                APPROVAL_ID=answer.approval_request_id,
            )
        )
        reply.ends("processing", task_id=task_id, workflow_state=state)

    async def _waits(self, turn: Turn, reply: Reply, article_id: int) -> bool:
        """Tell of a request that is open already, as this person's own whose answer was lost on its way."""
        review = await reply.call("review_article", {"article_id": article_id})
        assert isinstance(review, ReviewArticleResponse)
        if review.open_request is None:
            return False
        task_id, state = await self._task(turn, article_id)
        reply.say(
            site_text(
                "publication_waits", reply.language, ARTICLE_ID=article_id, APPROVAL_ID=review.open_request
            )
        )
        if task_id is not None:
            reply.ends("processing", task_id=task_id, workflow_state=state)
        return True

    async def _task(self, turn: Turn, article_id: int) -> tuple[str | None, WorkflowState | None]:
        """The article's publication as a task of this person's; nothing where someone else began it."""
        caller = turn.caller
        database = await self._context.tools.database()
        async with database.connection() as connection:
            task_id = (await articles.get(connection, article_id)).workflow_id
            with suppress(TaskNotFound):
                task = await tasks.get(
                    connection,
                    task_id or "",
                    person=caller.subject,
                    scopes=caller.scopes,
                    config=self._config,
                    kinds=systems.kinds(),
                )
                return task.task_id, task.workflow_state
        return None, None

    async def _approvals(self, route: Route, reply: Reply) -> None:
        wanted: dict[str, Any] = {"limit": _SHOWN} | ({"topic": route.topic} if route.topic else {})
        answer = await reply.call("get_pending_approvals", wanted)
        assert isinstance(answer, PendingApprovalsResponse)
        shown = [
            {
                "number": each.approval_request_id,
                "title": escaped(each.title),
                "about": each.about,
                "by": escaped(each.requested_by),
                "may_decide": each.may_decide,
            }
            for each in answer.approvals
        ]
        reply.say(site_text("approvals", reply.language, APPROVALS=shown))


def _told(request: PublicationRequest | None) -> str | None:
    """What became of the newest request, where it was no yes; nothing while it waits."""
    return None if request is None or request.reason is None else escaped(request.reason)


def article_spoken_of(turn: Turn) -> tuple[int, ...]:
    """The article that a person means, by their own words only; several or none where that is not plain.

    The numbers in the message, and the article that it was sent with; else those that the person's newest
    message with any number named. What the assistant said names nothing: it may quote a text.
    """
    if named := articles_named(turn.message):
        together = dict.fromkeys((*named, turn.article_id) if turn.article_id is not None else named)
        return tuple(each for each in together if each is not None)
    if turn.article_id is not None:
        return (turn.article_id,)
    for message in reversed(turn.history):
        if message.role == "user" and (named := articles_named(message.content)):
            return named
    return ()
