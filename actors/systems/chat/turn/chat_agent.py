"""What every agent of the chat is (`answer` is its verb, `stream_answer` what replicas call), and works with.

Text of a model leaves here only as `CitedText`: with citations of the sources it was given, without links.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

from pydantic import BaseModel

from actors.platform import systems
from actors.platform.llm.chat_model import ChatModel
from actors.platform.runtime.directory import Directory
from actors.platform.tools.tool import Tool
from actors.systems.chat.turn.budget import Budget
from actors.systems.chat.turn.cited_text import CitedText
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.model_messages import Prompts, messages_for_model, system_prompt
from actors.systems.chat.turn.offered_tools import Call
from actors.systems.chat.turn.quoted_answer import QuotedAnswers, usage_of
from actors.systems.chat.turn.reply import Reply
from actors.systems.chat.turn.sources import Sources
from actors.systems.chat.turn.tool_loop import ToolLoop
from actors.systems.chat.turn.toolbox import Toolbox
from models.chat.messages import AgentType, Piece, Route, Turn, WorkflowState
from models.config import Config
from models.store.content.prompts import topic_prompt
from models.store.runtime import tasks

# About how many characters a token of the sources has.
_CHARACTERS_PER_TOKEN = 4
# How much of one source is looked at for quotations.
_QUOTED_CHARACTERS = 100_000


class AgentContext:
    """What an agent works with: its tools, its model, its prompts, the site's settings.

    The model's client and the database are opened when they are first needed.
    """

    def __init__(
        self, *, agent: AgentType, config: Config, directory: Directory, prompts: dict[str, str]
    ) -> None:
        self.agent = agent
        self.config = config
        self.tools = Toolbox(config=config, directory=directory)
        self.prompts = Prompts(prompts)
        self.writes = config.chat.assistant_llm.writes
        self._model: ChatModel | None = None
        self._quoted: QuotedAnswers | None = None
        self._prompt_sources = prompts

    @property
    def source_characters(self) -> int:
        """How much of one source a model reads; where it only chooses, code reads all that there is."""
        if self.writes == "quotes":
            return _QUOTED_CHARACTERS
        return self.config.chat.tools.result_tokens * _CHARACTERS_PER_TOKEN

    def new_budget(self) -> Budget:
        """What a turn that begins now may cost."""
        return Budget(self.config.chat.budget)

    def reply(self, turn: Turn, route: Route) -> Reply:
        """A reply to a turn, empty yet."""
        return Reply(agent=self.agent, turn=turn, route=route, tools=self.tools)

    async def task_state(self, task_id: str) -> WorkflowState:
        """How a task that was begun for somebody stands."""
        database = await self.tools.database()
        async with database.connection() as connection:
            return await tasks.state_of(connection, task_id, self.config, kinds=systems.kinds())

    def readable(self, turn: Turn, topic: str | None) -> tuple[str, ...]:
        """The topics that a question is about: the one it is asked on, or all that the caller may read."""
        if topic is not None:
            return (topic,)
        return tuple(each for each in self.config.publishing.topics if turn.caller.has("reader", each))

    async def speak(
        self,
        turn: Turn,
        reply: Reply,
        *,
        task: str,
        budget: Budget,
        sources: Sources | None = None,
        tools: Sequence[Tool] = (),
        call: Call | None = None,
    ) -> None:
        """Have the model answer a turn from `sources`; then list those it cited, or all if it cited none.

        In quotes it chooses what of them answers, is offered no tools, and says nothing without sources.

        Args:
            task: the prompt file with what this agent does.
            tools: offered to the model, beside sources only where `chat.tools.beside_sources` is on.
            call: how a tool that the model asks for is called; it may add sources.
        """
        sources = sources or Sources()
        if self.writes == "quotes":
            await self._quote(turn, reply, sources)
            return
        if len(sources) and not self.config.chat.tools.beside_sources:
            tools = ()
        settings = self.config.chat.assistant_llm
        self._model = self._model or ChatModel(
            agent=self.agent, settings=settings, breaker=self.config.outages.breaker
        )
        messages = messages_for_model(
            self.prompts,
            system=await self._system(turn, reply.topic, task),
            turn=turn,
            sources=sources.all(),
            settings=settings,
        )
        cited = CitedText(numbers=sources.numbers, urls=sources.urls)

        # Not `reply.call`, which tells of the call, too: the loop does that.
        async def call_as_caller(name: str, arguments: dict[str, Any]) -> BaseModel:
            return await self.tools.call(name, arguments, caller=turn.caller)

        def say(text: str) -> None:
            if shown := cited.feed(text):
                reply.say(shown)

        loop = ToolLoop(
            model=self._model,
            use=self.config.chat.tools,
            tools=tools,
            call=call or call_as_caller,
            messages=messages,
            budget=budget,
            prompts=self.prompts,
            say=say,
            stopped=lambda limit: site_text("limited", reply.language, LIMIT=limit),
            used=reply.use,
            max_tokens=turn.max_tokens,
            temperature=turn.temperature,
        )
        outcome = await loop.run()
        reply.cost(outcome.usage, outcome.calls)
        reply.limited = outcome.status == "limited"
        if rest := cited.close():
            reply.say(rest)
        if len(sources):
            listed = site_text("sources", reply.language, LISTED=sources.listed(cited.cited))
            reply.say(f"\n\n{listed}" if reply.text else listed)

    async def _quote(self, turn: Turn, reply: Reply, sources: Sources) -> None:
        if not len(sources):
            return
        self._quoted = self._quoted or QuotedAnswers(
            agent=self.agent, config=self.config, prompt=self._prompt_sources["choose"]
        )
        answer = await self._quoted.answer(turn.message, sources.all())
        quotations = answer.value.quotations
        reply.cost(usage_of(answer.calls), answer.calls)
        listed = sources.listed({number for number, _ in quotations})
        said = site_text("quotations", reply.language, QUOTATIONS=quotations).rstrip()
        reply.say(f"{said}\n\n{site_text('sources', reply.language, LISTED=listed)}")

    async def _system(self, turn: Turn, topic: str | None, task: str) -> str:
        settings = self.config.publishing
        text = ""
        if topic is not None and turn.caller.has("reader", topic):
            database = await self.tools.database()
            async with database.connection() as connection:
                text = (await topic_prompt(connection, topic, settings.prompts_dir / "topics")).text
        return system_prompt(
            self.prompts, task=task, caller=turn.caller, settings=settings, topic=topic, topic_text=text
        )


class ChatAgent(ABC):
    """An agent that answers turns. A subclass has an `agent_type` and an `answer`."""

    agent_type: ClassVar[AgentType]

    def __init__(self, *, config: Config, directory: Directory, prompts: dict[str, str]) -> None:
        self._config = config
        self._context = AgentContext(
            agent=self.agent_type, config=config, directory=directory, prompts=prompts
        )

    async def stream_answer(
        self, turn: Turn, route: Route, *, first: Sequence[Route] = ()
    ) -> AsyncGenerator[list[Route | Piece], None]:
        """The answer to a turn as it comes, after `first`; `Done` is last, its text all that was said.

        Raises:
            ModelUnavailable and the like: what kept the answer from being given.
        """
        reply = self._context.reply(turn, route)
        # Closed here and now when the caller leaves, so that the call of the model ends with it.
        async with aclosing(reply.batches(self.answer(turn, route, reply), first=first)) as batches:
            async for batch in batches:
                yield batch

    @abstractmethod
    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """Answer a turn: `reply` is told what to say, and how it ends."""
