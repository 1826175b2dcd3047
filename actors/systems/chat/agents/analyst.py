"""The analyst: begins a research or an operation, submits a draft. Seed 000 §3.2, AnalystAgent.

Asked by a replica, once `main_chat` has named it. Only the person's own words begin or submit anything, and
after a yes of their own: what is found and read is never asked what to do. What was begun is a workflow: see
`actors/systems/drafting`.
"""

from actors.platform.tools.research_article import ResearchArticleResponse
from actors.systems.chat.agents import deep_research, operations
from actors.systems.chat.routing.deep_research import asks_for_deep_research
from actors.systems.chat.turn.article_numbers import articles_named
from actors.systems.chat.turn.chat_agent import ChatAgent
from actors.systems.chat.turn.confirmation import agreed
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from models.chat.acts import Act, Confirmed
from models.chat.messages import Route, Turn
from models.errors import InputInvalid, PermissionMissing, SignoffError
from models.research.agent_workflows import LEAST_QUESTION
from models.text import seen

# What the tool takes at most of a question.
_QUERY = 2000


class Analyst(ChatAgent):
    """Answers the intents `research` and `submit`."""

    agent_type = "analyst"

    async def answer(self, turn: Turn, route: Route, reply: Reply) -> None:
        """Begin a research or an operation, or submit a draft; asks back what is not plain."""
        try:
            await (self._submit if route.intent == "submit" else self._research)(turn, route, reply)
        except SignoffError as error:
            if error.outage:
                raise
            reply.say(site_text("not_done", reply.language, REASON=str(error)))
            reply.ends("refused" if isinstance(error, PermissionMissing) else "failed")

    async def _research(self, turn: Turn, route: Route, reply: Reply) -> None:
        assert route.intent == "research", f"the analyst does not answer {route.intent}"
        operates = operations.is_wanted(turn, route)
        if operates and operations.cannot_begin(self._context, reply):
            return
        if route.topic is None:
            what = "operation" if operates else "research"
            topics = [topic for topic in self._config.publishing.topics if turn.caller.has("analyst", topic)]
            reply.say(site_text("analyst_which_topic", reply.language, TOPICS=topics, WHAT=what))
            reply.ends("completed" if topics else "refused")
            return
        turn.caller.require("analyst", route.topic)
        if operates:
            await operations.begin(self._context, turn, route, reply)
            return
        act = route.confirmed.act if route.confirmed else None
        if act is None:
            query = turn.message.strip()
            if len(query) > _QUERY:
                raise InputInvalid(f"message: a research takes {_QUERY} characters at most: say it in fewer")
            is_deep = asks_for_deep_research(query)
            if is_deep and len(query) < LEAST_QUESTION:
                raise InputInvalid("message: say what the deep research is to be about")
            act = Act(
                intent="deep_research" if is_deep else "research",
                article_id=None if is_deep else turn.article_id,
                topic=route.topic,
                words=query,
            )
        if act.intent == "deep_research":
            await deep_research.begin(self._context, turn, route, reply, act)
            return
        if (yes := await agreed(self._context, turn, route, reply, act)) is None:
            return
        asked = {
            "topic": act.topic,
            "query": act.words and seen(act.words),
            "article_id": act.article_id,
            # What was asked about once is begun once, however often its yes is sent.
            "request_id": f"act:{yes.act_id}",
        }
        given = {name: value for name, value in asked.items() if value is not None}
        begun = await reply.call("research_article", given)
        assert isinstance(begun, ResearchArticleResponse)
        state = await self._context.task_state(begun.task_id)
        reply.say(site_text("analyst_started", reply.language, TASK_ID=begun.task_id, TOPIC=act.topic))
        reply.ends("processing", task_id=begun.task_id, workflow_state=state)

    async def _submit(self, turn: Turn, route: Route, reply: Reply) -> None:
        named = (_article(route.confirmed),) if route.confirmed else articles_named(turn.message)
        if not named and turn.article_id is not None:
            named = (turn.article_id,)
        if len(named) != 1:
            reply.say(site_text("analyst_which_article", reply.language, ARTICLES=named))
            return
        act = Act(intent="submit", article_id=named[0])
        if (yes := await agreed(self._context, turn, route, reply, act)) is None:
            return
        await reply.call("submit_for_review", {"article_id": named[0]}, first=yes.carry_out)
        reply.say(site_text("analyst_submitted", reply.language, ARTICLE_ID=named[0]))


def _article(confirmed: Confirmed) -> int:
    assert confirmed.act.article_id is not None, "what was asked about is an article"
    return confirmed.act.article_id
