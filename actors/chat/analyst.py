"""The analyst: begins a research, writes its article, submits a draft. Seed 000 §3.2, AnalystAgent.

`write` is called by the research's graph, `answer` by `main_chat`. Only the person's own words begin or
submit anything, and after a yes of their own: what is found and read is never asked what to do.
"""

from collections.abc import AsyncIterator

from actors.chat.confirming import agreed, asks
from actors.chat.draft import Draft, WritingBrief, draft_faults, draft_schema, tidy
from actors.chat.equipment import Equipment
from actors.chat.mentions import articles_named
from actors.chat.reading import fitted_prompt
from actors.chat.reply import Reply
from actors.runtime.directory import Directory
from actors.runtime.llm import Completions, ModelClient, RejectedReply
from actors.runtime.prompts import ChatPrompt
from actors.tools.research_article import ResearchArticleResponse
from models.chat import Done, Piece, Route, Said, Turn, WorkflowState
from models.chat_acts import Act, Confirmed
from models.config import Config
from models.errors import InputInvalid, PermissionMissing, SignoffError
from models.llm import Answer
from models.store import tasks

# What the tool takes at most of a question.
_QUERY = 2000


class Analyst:
    """Writes researched articles, and answers the intents `research` and `submit`."""

    def __init__(
        self,
        *,
        config: Config,
        directory: Directory,
        prompts: dict[str, str],
        completions: Completions | None = None,
    ) -> None:
        self._config = config
        self._writing = ChatPrompt(source=prompts.get("analyst_write", ""), name="analyst_write.md")
        self._with = Equipment(agent="analyst", config=config, directory=directory, prompts=prompts)
        settings = config.chat.analyst_llm
        self._model = ModelClient(agent="analyst", settings=settings, completions=completions)

    async def write(self, brief: WritingBrief) -> Answer[Draft]:
        """The article, each statement with the numbers of its sources.

        Raises:
            ModelReplyInvalid: no draft was usable after the configured retries.
        """
        system, user = fitted_prompt(
            self._writing, brief, settings=self._model.settings, each=self._config.chat.tools.result_tokens
        )

        def accept(reply: Draft) -> Draft:
            draft = tidy(reply)
            if faults := draft_faults(draft, brief.sources):
                raise RejectedReply(" ".join(faults))
            return draft

        schema = draft_schema(len(brief.sources))
        return await self._model.record(system=system, user=user, reply=Draft, accept=accept, schema=schema)

    async def answer(self, turn: Turn, route: Route) -> AsyncIterator[Piece]:
        """Begin a research, or submit a draft; asks back where the topic or the article is not plain."""
        reply = self._with.reply(turn, route.topic)
        try:
            done = await (self._submit if route.intent == "submit" else self._research)(turn, route, reply)
        except SignoffError as error:
            reply.say(self._with.text("not_done", REASON=str(error)))
            done = reply.done("refused" if isinstance(error, PermissionMissing) else "failed")
        for used in reply.told():
            yield used
        yield Said(text=reply.text)
        yield done

    async def _research(self, turn: Turn, route: Route, reply: Reply) -> Done:
        assert route.intent == "research", f"the analyst does not answer {route.intent}"
        if route.topic is None:
            topics = [topic for topic in self._config.publishing.topics if turn.caller.has("analyst", topic)]
            reply.say(self._with.text("analyst_which_topic", TOPICS=topics))
            return reply.done("completed" if topics else "refused")
        turn.caller.require("analyst", route.topic)
        act = route.confirmed.act if route.confirmed else None
        if act is None:
            query = turn.message.strip()
            if len(query) > _QUERY:
                raise InputInvalid(f"message: a research takes {_QUERY} characters at most: say it in fewer")
            act = Act(intent="research", article_id=turn.article_id, topic=route.topic, words=query)
        if (act_id := await agreed(self._with, turn, route, reply, act)) is None:
            return asks(reply)
        asked = {
            "topic": act.topic,
            "query": act.words,
            "article_id": act.article_id,
            # What was asked about once is begun once, however often its yes is sent.
            "request_id": f"act:{act_id}",
        }
        given = {name: value for name, value in asked.items() if value is not None}
        begun = await reply.call("research_article", given)
        assert isinstance(begun, ResearchArticleResponse)
        reply.say(self._with.text("analyst_started", TASK_ID=begun.task_id, TOPIC=act.topic))
        state = await self._state(begun.task_id)
        return reply.done("processing", task_id=begun.task_id, workflow_state=state)

    async def _submit(self, turn: Turn, route: Route, reply: Reply) -> Done:
        named = (_article(route.confirmed),) if route.confirmed else articles_named(turn.message)
        if not named and turn.article_id is not None:
            named = (turn.article_id,)
        if len(named) != 1:
            reply.say(self._with.text("analyst_which_article", ARTICLES=named))
            return reply.done()
        act = Act(intent="submit", article_id=named[0])
        if await agreed(self._with, turn, route, reply, act) is None:
            return asks(reply)
        await reply.call("submit_for_review", {"article_id": named[0]})
        reply.say(self._with.text("analyst_submitted", ARTICLE_ID=named[0]))
        return reply.done()

    async def _state(self, task_id: str) -> WorkflowState:
        database = await self._with.tools.database()
        async with database.connection() as connection:
            return await tasks.state_of(connection, task_id, self._config)


def _article(confirmed: Confirmed) -> int:
    assert confirmed.act.article_id is not None, "what was asked about is an article"
    return confirmed.act.article_id
