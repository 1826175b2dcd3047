"""The agent that every message comes to first (seed 000 §3.2, MainChatAgent).

The doors stream `answer`. It routes a message by what it asks for and by what the caller may do, relays the
agent that answers it, and itself handles small talk, the caller's tasks, and refusals.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from actors.chat.routing.access import ACCESS
from actors.chat.routing.router import Router
from actors.chat.routing.weights_file import read_weights
from actors.chat.turn.agent_context import AgentContext
from actors.chat.turn.confirmation import heard
from actors.chat.turn.joined_pieces import merged
from actors.chat.turn.links import escaped, plain
from actors.chat.turn.messages import topics_by_role
from actors.chat.turn.reply import Reply
from actors.llm.client import ModelClient
from actors.runtime.directory import Directory
from models.chat import Done, Intent, Piece, Route, Routed, Turn
from models.chat_acts import Confirmed, Unclear
from models.config import Config
from models.intents import Intents
from models.llm import ModelCall
from models.store import chat_acts, tasks
from models.tasks import Task
from models.workflows import OPEN_STATUSES

_TASKS = 8
_ASKED = 300


class MainChat:
    """Routes messages and relays answers. It keeps what it routes by, and nothing else.

    Raises:
        ConfigInvalid: the file of trained weights is missing or broken.
    """

    def __init__(
        self,
        *,
        config: Config,
        directory: Directory,
        prompts: dict[str, str],
        intents: Intents,
    ) -> None:
        breaker = config.outages.breaker
        self._with = AgentContext(agent="main_chat", config=config, directory=directory, prompts=prompts)
        self._directory = directory
        self._router = Router(
            intents=intents,
            likeness=read_weights(intents.weights),
            settings=config.chat.routing,
            topics=config.publishing.topics,
            model=ModelClient(agent="main_chat", settings=config.chat.assistant_llm, breaker=breaker),
            prompt=prompts["routing"],
        )

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """`Routed`, then the pieces of whoever answers; `Done` is last, its text all that was said.

        Raises:
            TopicUnknown: the turn names a topic that this site has not.
            AgentDied: the agent's process ended in mid-answer.
            ModelUnavailable and the like: what kept the answer from being given.
        """
        said = await heard(self._with, turn)
        route = await self._router.route(turn) if said is None else _on_yes(turn, said)
        took_as = self._took_as(route)
        yield Routed(
            agent_type=route.agent_type,
            intent=route.intent,
            topic=route.topic,
            reason=route.reason,
            took_as=took_as,
        )
        if route.agent_type == "main_chat":
            pieces = self._own(turn, route, said)
        else:
            pieces = self._directory.agent(route.agent_type).stream("answer", turn, route)
        # Closed here and now when the caller leaves, so that the model call below ends with it.
        async with aclosing(merged(pieces)) as joined:
            async for piece in joined:
                yield with_routing(piece, route.calls, took_as) if isinstance(piece, Done) else piece

    async def _own(self, turn: Turn, route: Route, said: chat_acts.Taken) -> AsyncGenerator[Piece, None]:
        reply = self._with.reply(turn, route.topic)
        if route.refusal is not None:
            yield reply.say(self._refusal(turn, route))
            yield reply.done("refused")
        elif isinstance(said, Unclear):
            questions = [(each.reference, plain(each.question, _ASKED)) for each in said.questions]
            yield reply.say(self._with.text("which_question", QUESTIONS=questions))
            yield reply.done()
        elif said == "over":
            yield reply.say(self._with.text("asked_too_late"))
            yield reply.done("failed")
        elif route.intent == "tasks":
            yield reply.say(await self._tasks(turn))
            yield reply.done()
        else:
            async with aclosing(self._talk(turn, reply)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _talk(self, turn: Turn, reply: Reply) -> AsyncGenerator[Piece, None]:
        spoken = self._with.speak(turn, reply, task="general", allowance=self._with.allowance())
        async with aclosing(spoken) as pieces:
            async for piece in pieces:
                yield piece
        yield reply.done()

    def _took_as(self, route: Route) -> str | None:
        """One line on what a message was taken for; nothing where that is plain, or plain to see."""
        if route.sure or route.instead is None:
            return None
        return self._with.text("took_as", INTENT=route.intent, INSTEAD=route.instead).strip()

    def _refusal(self, turn: Turn, route: Route) -> str:
        topics = topics_by_role(turn.caller, self._with.config.publishing)
        return self._with.text("refused", INTENT=route.intent, SCOPE=route.refusal, TOPICS=topics)

    async def _tasks(self, turn: Turn) -> str:
        """The caller's own tasks, newest first, in words; nobody else's."""
        database = await self._with.tools.database()
        async with database.connection() as connection:
            found = await tasks.recent(
                connection,
                turn.caller.subject,
                scopes=turn.caller.scopes,
                limit=_TASKS,
                config=self._with.config,
            )
        going = [task.task_id for task in found if task.status in OPEN_STATUSES]
        return self._with.text(
            "tasks", TASKS=[_shown(task) for task in found], OPEN=going[0] if going else None
        )


def _on_yes(turn: Turn, said: Confirmed | Unclear | str) -> Route:
    """Who does what the message is the yes to; `main_chat` itself where that is over, or unclear."""
    reason = "is a yes to what was asked"
    if not isinstance(said, Confirmed):
        return Route(
            intent="general", agent_type="main_chat", topic=turn.topic, reason=reason, score=1, by="confirmed"
        )
    intent: Intent = "data" if said.act.intent == "download" else said.act.intent
    return Route(
        intent=intent,
        agent_type=ACCESS[intent][0],
        topic=said.act.topic,
        reason=reason,
        score=1,
        by="confirmed",
        confirmed=said,
    )


def with_routing(done: Done, calls: tuple[ModelCall, ...], took_as: str | None = None) -> Done:
    """The answer's end, with what routing cost, and what the message was taken for."""
    usage = done.usage.model_copy(
        update={
            "prompt_tokens": done.usage.prompt_tokens + sum(call.prompt_tokens for call in calls),
            "completion_tokens": done.usage.completion_tokens + sum(call.completion_tokens for call in calls),
        }
    )
    return done.model_copy(update={"calls": (*calls, *done.calls), "usage": usage, "took_as": took_as})


def _shown(task: Task) -> dict[str, str]:
    state = task.workflow_state
    said = [
        state.current_topic,
        f"article {state.current_article_id}" if state.current_article_id else None,
        f"waits for approval {state.approval_request_id}" if state.approval_pending else None,
        plain(task.error, 200) if task.error else None,
    ]
    return {
        "id": task.task_id,
        "what": state.workflow_type,
        "status": task.status,
        "more": ", ".join(escaped(part) for part in said if part),
    }
