"""The agent that every message comes to first (seed 000 §3.2, MainChatAgent).

The doors stream `route_or_answer`. It finds out what a message asks for and who answers that, by what the
caller may do; it answers itself where that is small talk, the caller's tasks, or a refusal.
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal, cast

from actors.platform import systems
from actors.platform.llm.client import ModelClient
from actors.platform.runtime.directory import Directory
from actors.platform.text.markdown import escaped
from actors.systems.chat.agents import deep_research, operations
from actors.systems.chat.agents.article_standing import tell_of_articles, tell_of_refused
from actors.systems.chat.routing.access import ACCESS
from actors.systems.chat.routing.deep_research import research_named
from actors.systems.chat.routing.operations import operation_named
from actors.systems.chat.routing.router import Router
from actors.systems.chat.routing.weights_file import read_weights
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.confirmation import confirmation_in
from actors.systems.chat.turn.messages import language_of_turn, site_text
from actors.systems.chat.turn.model_messages import topics_by_role
from actors.systems.chat.turn.reply import Reply
from models.chat.acts import Confirmed, Unclear
from models.chat.intents import Intents
from models.chat.messages import Intent, Piece, Route, Turn
from models.config import Config
from models.errors import TaskNotFound
from models.people.scopes import on_topics
from models.runtime.tasks import Task
from models.runtime.workflows import OPEN_STATUSES
from models.store.runtime import tasks
from models.text import shortened

# What acts of other names belong to.
_INTENTS: Mapping[str, Intent] = {
    "download": "data",
    "deep_research": "research",
    "stop_research": "tasks",
    "operation": "research",
    "cancel_operation": "tasks",
}
_TASKS = 8
_TASK = re.compile(r"\b[0-9a-f]{32}\b")
_ASKED = 300


class MainChat(ChatAgent):
    """Routes messages, and answers those that are nobody else's. It keeps what it routes by, nothing else.

    Raises:
        ConfigInvalid: the file of trained weights is missing or broken.
    """

    agent_type = "main_chat"

    def __init__(
        self,
        *,
        config: Config,
        directory: Directory,
        prompts: dict[str, str],
        intents: Intents,
    ) -> None:
        super().__init__(config=config, directory=directory, prompts=prompts)
        self._router = Router(
            intents=intents,
            likeness=read_weights(intents.weights),
            settings=config.chat.routing,
            topics=config.publishing.topics,
            model=ModelClient(
                agent="main_chat", settings=config.chat.assistant_llm, breaker=config.outages.breaker
            ),
            prompt=prompts["routing"],
        )

    async def route_or_answer(self, turn: Turn) -> AsyncGenerator[list[Route | Piece], None]:
        """Who answers a turn; where that is `main_chat`, its answer follows.

        Raises:
            TopicUnknown: the turn names a topic that this site has not.
            ModelUnavailable and the like: what kept the answer from being given.
        """
        route = await self._route(turn)
        route = route.model_copy(update={"took_as": self._took_as(turn, route)})
        if route.agent_type != self.agent_type:
            yield [route]
            return
        async with aclosing(self.stream_answer(turn, route, first=[route])) as batches:
            async for batch in batches:
                yield batch

    async def _route(self, turn: Turn) -> Route:
        """Who answers. Beside a conversation that is quoted only a plain command is anybody else's.

        Anything else there may be a client's, which answers no question and is for no tool.
        """
        own: Route | None = None
        if turn.beside is not None:
            own = self._router.route_plain(turn.model_copy(update={"message": turn.beside.words}))
            if own is None:
                return _beside(turn)
        confirmation = None if turn.aside else await confirmation_in(self._context, turn)
        if confirmation is not None:
            return _on_yes(turn, confirmation)
        return own or await self._router.route(turn)

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """Refuse, ask which question a yes was meant for, tell of tasks, or talk."""
        if route.by == "beside":
            await self._answer_beside(turn, reply)
        elif route.refusal is not None:
            # How an article stands is told as far as one sees it; to decide takes a role.
            if route.intent == "approvals" and (
                await tell_of_articles(self._context, turn, reply) != "none"
                or await tell_of_refused(self._context, turn, reply)
            ):
                return
            reply.say(self._refusal(turn, route, reply))
            reply.ends("refused")
        elif isinstance(route.unclear, Unclear):
            asked = [(each.reference, shortened(each.question, _ASKED)) for each in route.unclear.questions]
            reply.say(site_text("which_question", reply.language, QUESTIONS=asked))
        elif route.unclear == "over":
            reply.say(site_text("asked_too_late", reply.language))
            reply.ends("failed")
        elif route.confirmed is not None and route.confirmed.act.intent == "stop_research":
            await deep_research.stop(self._context, turn, route, reply)
        elif route.confirmed is not None and route.confirmed.act.intent == "cancel_operation":
            await operations.cancel(self._context, turn, route, reply)
        elif (research := research_named(turn.message)) is not None:
            await deep_research.tell_of(self._context, turn, route, reply, research)
        elif (operation := operation_named(turn.message)) is not None:
            await operations.tell_of(self._context, turn, route, reply, operation)
        elif route.intent == "tasks":
            await self._tell_of_work(turn, route, reply)
        else:
            await self._talk(turn, reply)

    async def _answer_beside(self, turn: Turn, reply: Reply) -> None:
        """Have the model alone answer. Where it only quotes, code does, by the form that is wanted."""
        assert turn.beside is not None, "it is routed so"
        if self._context.writes == "quotes" and turn.beside.told is not None:
            reply.say(turn.beside.told)
        else:
            await self._talk(turn, reply)

    async def _talk(self, turn: Turn, reply: Reply) -> None:
        if self._context.writes == "quotes":
            topics = topics_by_role(turn.caller, self._config.publishing)
            scope = on_topics("{topic}:reader", self._config.publishing.topics)
            reply.say(site_text("quotes_only", reply.language, TOPICS=topics, SCOPE=scope))
        else:
            await self._context.speak(turn, reply, task="general", budget=self._context.new_budget())

    def _took_as(self, turn: Turn, route: Route) -> str | None:
        """One line on what a message was taken for; nothing where that is plain, or plain to see."""
        if route.by == "beside":
            return site_text("took_beside", language_of_turn(turn))
        if route.sure or route.instead is None:
            return None
        return site_text("took_as", language_of_turn(turn), INTENT=route.intent, INSTEAD=route.instead)

    def _refusal(self, turn: Turn, route: Route, reply: Reply) -> str:
        topics = topics_by_role(turn.caller, self._config.publishing)
        operates = route.intent == "research" and operations.is_wanted(turn, route)
        asked = "operation" if operates else route.intent
        scope = on_topics(route.refusal or "", self._config.publishing.topics)
        return site_text("refused", reply.language, INTENT=asked, SCOPE=scope, TOPICS=topics)

    async def _tell_of_work(self, turn: Turn, route: Route, reply: Reply) -> None:
        """Of the very thing that a message names by its number, or else of the caller's own tasks."""
        if (research := research_named(turn.message, is_asked_after=True)) is not None:
            await deep_research.tell_of(self._context, turn, route, reply, research)
        elif await tell_of_articles(self._context, turn, reply) == "none":
            try:
                reply.say(await self._tasks(turn, reply))
            except TaskNotFound as error:
                reply.say(site_text("not_done", reply.language, REASON=str(error)))
                reply.ends("failed")

    async def _tasks(self, turn: Turn, reply: Reply) -> str:
        """The task that the message names, or the caller's own, newest first, in words; nobody else's."""
        database = await self._context.tools.database()
        who, kinds = turn.caller, systems.kinds()
        seen: dict[str, Any] = {"scopes": who.scopes, "config": self._config, "kinds": kinds}
        named = _TASK.search(turn.message)
        async with database.connection() as connection:
            if named is not None:
                found = [await tasks.get(connection, named[0], person=who.subject, **seen)]
            else:
                found = await tasks.recent(connection, who.subject, limit=_TASKS, **seen)
        going = [task.task_id for task in found if task.status in OPEN_STATUSES]
        return site_text(
            "tasks",
            reply.language,
            TASKS=[_shown(task) for task in found],
            NAMED=named is not None,
            OPEN=going[0] if going else None,
        )


def _on_yes(turn: Turn, confirmation: Confirmed | Unclear | Literal["over"]) -> Route:
    """Who does what the message is the yes to; `main_chat` itself where that is over, or unclear."""
    reason = "is a yes to what was asked"
    if not isinstance(confirmation, Confirmed):
        return Route(
            intent="general",
            agent_type="main_chat",
            topic=turn.topic,
            reason=reason,
            score=1,
            by="confirmed",
            unclear=confirmation,
        )
    intent = _INTENTS.get(confirmation.act.intent) or cast("Intent", confirmation.act.intent)
    return Route(
        intent=intent,
        agent_type=ACCESS[intent][0],
        topic=confirmation.act.topic,
        reason=reason,
        score=1,
        by="confirmed",
        confirmed=confirmation,
    )


def _beside(turn: Turn) -> Route:
    """What may be a client's, beside a conversation that is quoted."""
    return Route(
        intent="general",
        agent_type="main_chat",
        topic=turn.topic,
        reason="is no plain command beside a conversation that it quotes",
        score=0,
        by="beside",
    )


def _shown(task: Task) -> dict[str, str]:
    state = task.workflow_state
    said = [
        state.current_topic,
        f"article {state.current_article_id}" if state.current_article_id else None,
        f"waits for approval {state.approval_request_id}" if state.approval_pending else None,
        shortened(task.reason, 300) if task.reason else None,
    ]
    return {
        "id": task.task_id,
        "what": state.workflow_type,
        "status": task.status,
        "more": ", ".join(escaped(part) for part in said if part),
    }
