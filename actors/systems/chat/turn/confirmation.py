"""Before anything is written the person is asked, in one line, and it is done on the next message's yes.

Text that was pasted in is no command: what a message seems to wish is only proposed, and only a message that
is a yes as a whole carries it out. `main_chat` hears the yes; `analyst`, `editor` and `data_download` ask and
do. All that would be done is shown whole: the article, the words, every document.
"""

import re
import uuid
from typing import NamedTuple

from actors.platform.text.lexicon import Language, languages, phrases_of_all
from actors.platform.text.markdown import escaped
from actors.platform.text.normal_form import words
from actors.platform.tools.articles import GetArticleResponse
from actors.systems.chat.turn.article_numbers import pdf_addresses
from actors.systems.chat.turn.chat_agent import AgentContext
from actors.systems.chat.turn.messages import site_text
from actors.systems.chat.turn.reply import Reply
from models.chat.acts import Act, reference_of
from models.chat.messages import Route, Turn
from models.content.articles import ArticleStatus, check_status
from models.errors import ArticleConflict, WorkflowEnded
from models.operations.operations import OVER, OperationStatusResponse
from models.people.scopes import Role
from models.research.agent_workflows import ResearchStatusResponse
from models.store.content import articles
from models.store.database import Connection
from models.store.people import chat_acts
from models.text import shortened

# What a yes looks like, lower-case and without accents; "ok", "sure" and thanks are not clear enough.
_YES = phrases_of_all("confirmation", "yes_as_a_whole")
# One line of words with a comma between and a stop after; a question, a quotation or a list is no yes.
_PLAIN = re.compile(r"\s*[^\W\d_]+(?:,? [^\W\d_]+){0,3}\s?[.!]{0,3}\s*")
_MOST = 40
# A yes that names the question by its reference.
_NAMED = re.compile(r"(?P<yes>[^0-9]{1,40})\s(?P<reference>[0-9a-f]{12})[.!]?\s*", re.DOTALL)
# The role and the status of the article that an act takes.
_TAKES: dict[str, tuple[Role, ArticleStatus, str]] = {
    "submit": ("analyst", "draft", "submitted for review"),
    "changes": ("editor", "editor", "sent back for changes"),
    "publish": ("editor", "editor", "put up for publication"),
}


def is_yes(message: str) -> bool:
    """Whether a message is a clear yes as a whole, in any language."""
    if len(message) > _MOST or not _PLAIN.fullmatch(message):
        return False
    return words(message) in _YES


def named_by(message: str) -> str | None:
    """The reference of the question that a message is the yes to, where it says one."""
    found = _NAMED.fullmatch(message)
    return found["reference"] if found is not None and is_yes(found["yes"]) else None


async def confirmation_in(context: AgentContext, turn: Turn) -> chat_acts.Taken:
    """What this message says yes to: the question that it names, or the assistant's last word.

    A client that keeps the conversation itself names the question that its history ends with. In a
    conversation that is kept here, perhaps in several tabs, a yes that names none counts only where no other
    question is open. Anything but a yes drops the question that it answers.
    """
    last = turn.history[-1] if turn.history else None
    question = turn.answers or (last.content if last is not None and last.role == "assistant" else None)
    reference = named_by(turn.message)
    if question is None and reference is None:
        return None
    who = (turn.caller.subject, turn.conversation_id)
    by = turn.request_id or uuid.uuid4().hex
    is_named = turn.answers is not None or turn.conversation_id is None
    database = await context.tools.database()
    async with database.connection() as connection:
        if reference is not None:
            return await chat_acts.take_named(connection, *who, reference, by=by)
        assert question is not None
        if is_yes(turn.message):
            taken = await chat_acts.take(connection, *who, question, by=by, alone=not is_named)
            return "over" if taken is None and turn.answers is not None else taken
        if is_named:
            await chat_acts.drop(connection, *who, question)
        return None


class Agreement(NamedTuple):
    """A person's yes to an act, and the version that its article had when they were asked."""

    act_id: str
    act: Act
    version: int | None

    async def carry_out(self, connection: Connection) -> None:
        """Use up the yes, in the transaction in which the act is done to its article.

        Raises:
            ArticleConflict: it was done already, or the article is not as the person was asked about it.
        """
        assert self.act.article_id is not None, "it is about an article"
        article = await articles.lock(connection, self.act.article_id)
        if article.version != self.version:
            raise ArticleConflict(
                f"article {article.id} has version {article.version} by now, and you were asked about "
                f"version {self.version}: say again what you wish"
            )
        if not await chat_acts.spend(connection, self.act_id):
            raise _done_before()


def _done_before() -> ArticleConflict:
    return ArticleConflict("you said yes to that before, and it was done then: say again what you wish")


async def agreed(context: AgentContext, turn: Turn, route: Route, reply: Reply, act: Act) -> Agreement | None:
    """The yes by which an act may be done now; None where the reply asks for one first, and ends so.

    What is not as it was asked about is asked about again.

    Raises:
        PermissionMissing, ArticleNotFound, ArticleConflict: it could not be done anyway, or it was done.
    """
    facts = await _facts(turn, reply, act)
    version = facts["VERSION"]
    assert version is None or isinstance(version, int)
    confirmed = route.confirmed
    if confirmed is not None and confirmed.spent:
        raise _done_before()
    # Rendered anew, with where the article stands now, in whichever language it was asked.
    if confirmed and act == confirmed.act:
        asked = (_question(act, facts, confirmed.id, language) for language in languages())
        if confirmed.question in asked:
            return Agreement(confirmed.id, act, version)
    act_id = uuid.uuid4().hex
    question = _question(act, facts, act_id, reply.language)
    database = await context.tools.database()
    async with database.transaction() as connection:
        await chat_acts.ask(
            connection,
            turn.caller.subject,
            turn.conversation_id,
            act_id=act_id,
            question=question,
            act=act,
            lasts_seconds=context.config.chat.confirm_seconds,
        )
    reply.say(question)
    reply.ends("asks")
    return None


async def _facts(turn: Turn, reply: Reply, act: Act) -> dict[str, object]:
    """Where what an act is about stands now, once it is sure that it could be done."""
    facts: dict[str, object] = {"HEADLINE": None, "VERSION": None, "STATUS": None, "TOPIC": act.topic}
    if act.intent == "stop_research":
        found = await reply.call("get_research", {"workflow_id": act.research_id})
        assert isinstance(found, ResearchStatusResponse)
        return facts | {"HEADLINE": escaped(found.name), "STATUS": found.status, "TOPIC": found.topic}
    if act.intent == "cancel_operation":
        stands = await reply.call("get_operation", {"operation_id": act.operation_id})
        assert isinstance(stands, OperationStatusResponse)
        if stands.status in OVER:
            raise WorkflowEnded(f"operation {stands.operation_id} is over: {stands.status}")
        return facts | {"HEADLINE": escaped(stands.name), "STATUS": stands.status, "TOPIC": stands.topic}
    if act.intent in ("research", "deep_research", "operation") or act.article_id is None:
        assert act.topic is not None, "it is about an article or a topic"
        turn.caller.require("analyst", act.topic)
        return facts
    answer = await reply.call("get_article", {"article_id": act.article_id})
    assert isinstance(answer, GetArticleResponse)
    article = answer.article
    if act.intent == "download":
        turn.caller.require("analyst", article.topic)
    else:
        role, status, done = _TAKES[act.intent]
        turn.caller.require(role, article.topic)
        check_status(article.id, article.status, status, done)
    return {
        "HEADLINE": escaped(article.headline),
        "VERSION": article.version,
        "STATUS": article.status,
        "TOPIC": article.topic,
    }


def _question(act: Act, facts: dict[str, object], act_id: str, language: Language) -> str:
    """What exactly would be done to what, in a line, with all of the words and documents that it takes."""
    said = act.words or ""
    return site_text(
        "ask_first",
        language,
        INTENT=act.intent,
        ARTICLE_ID=act.article_id,
        RESEARCH_ID=act.research_id,
        OPERATION_ID=act.operation_id,
        TASK_TYPE=act.task_type,
        WORDS=escaped(said, len(said)),
        URLS=[f"`{shortened(url, len(url))}`" for url in act.urls or pdf_addresses(said)],
        REFERENCE=reference_of(act_id),
        **facts,
    )
