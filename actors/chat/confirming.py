"""Before anything is written the person is asked, in one line, and it is done on the next message's yes.

Text that was pasted in is no command: what a message seems to wish is only proposed, and only a message that
is a yes as a whole carries it out. `main_chat` hears the yes; `analyst` and `editor` ask and do.
"""

import re
import uuid
from typing import Literal

from actors.chat.equipment import Equipment
from actors.chat.links import escaped
from actors.chat.reply import Reply
from actors.chat.wording import words
from actors.tools.articles import GetArticleResponse
from models.articles import ArticleStatus
from models.chat import Done, Route, Turn
from models.chat_acts import Act, Confirmed
from models.errors import ArticleConflict
from models.scopes import Role
from models.store import chat_acts

# What a yes looks like, lower-case and without accents; "ok", "sure" and thanks are not clear enough.
_YES = frozenset(
    {
        *(
            "yes",
            "yes please",
            "yes do it",
            "yes go ahead",
            "yes do",
            "do it",
            "go ahead",
            "confirm",
            "confirmed",
        ),
        *("i confirm", "yes i confirm"),
        *("tak", "tak prosze", "tak zrob to", "zrob to", "potwierdzam", "tak potwierdzam"),
        *(
            "ja",
            "ja bitte",
            "ja mach das",
            "ja mach es",
            "mach das",
            "ich bestatige",
            "ja ich bestatige",
            "jawohl",
        ),
    }
)
# One line of words with a comma between and a stop after; a question, a quotation or a list is no yes.
_PLAIN = re.compile(r"\s*[^\W\d_]+(?:,? [^\W\d_]+){0,3}\s?[.!]{0,3}\s*")
_MOST = 40
# The role and the status of the article that an act takes.
_TAKES: dict[str, tuple[Role, ArticleStatus, str]] = {
    "submit": ("analyst", "draft", "submitted for review"),
    "changes": ("editor", "editor", "sent back for changes"),
    "publish": ("editor", "editor", "put up for publication"),
}


def is_yes(message: str) -> bool:
    """Whether a message is a clear yes as a whole, in English, Polish or German."""
    if len(message) > _MOST or not _PLAIN.fullmatch(message):
        return False
    return words(message) in _YES


async def heard(equipment: Equipment, turn: Turn) -> Confirmed | Literal["over"] | None:
    """What this message says yes to, if the assistant's last word was a question of the kind.

    Anything but a yes drops what was asked.
    """
    last = turn.history[-1] if turn.history else None
    if last is None or last.role != "assistant":
        return None
    person = turn.caller.subject
    database = await equipment.tools.database()
    async with database.connection() as connection:
        if is_yes(turn.message):
            by = turn.request_id or uuid.uuid4().hex
            return await chat_acts.take(connection, person, turn.conversation_id, last.content, by=by)
        await chat_acts.drop(connection, person, turn.conversation_id, last.content)
        return None


async def agreed(equipment: Equipment, turn: Turn, route: Route, reply: Reply, act: Act) -> str | None:
    """The id under which an act may be done now; None where the reply asks for a yes first.

    What is not as it was asked about is asked about again.

    Raises:
        PermissionMissing, ArticleNotFound, ArticleConflict: it could not be done anyway.
    """
    question = await _question(equipment, turn, reply, act)
    confirmed = route.confirmed
    if confirmed is not None and confirmed.act == act and confirmed.question == question:
        return confirmed.id
    database = await equipment.tools.database()
    async with database.transaction() as connection:
        await chat_acts.ask(
            connection,
            turn.caller.subject,
            turn.conversation_id,
            question=question,
            act=act,
            lasts_seconds=equipment.config.chat.confirm_seconds,
        )
    reply.say(question)
    return None


def asks(reply: Reply) -> Done:
    """The end of a reply that asks for a yes."""
    return reply.done("asks")


async def _question(equipment: Equipment, turn: Turn, reply: Reply, act: Act) -> str:
    """What exactly would be done to what, in a line."""
    facts: dict[str, object] = {"HEADLINE": None, "VERSION": None, "TOPIC": act.topic}
    if act.intent != "research":
        assert act.article_id is not None, "these are about an article"
        role, status, done = _TAKES[act.intent]
        answer = await reply.call("get_article", {"article_id": act.article_id})
        assert isinstance(answer, GetArticleResponse)
        article = answer.article
        turn.caller.require(role, article.topic)
        if article.status != status:
            raise ArticleConflict(
                f"article {article.id} is {article.status}: only one in status {status} can be {done}",
                status=article.status,
            )
        facts = {"HEADLINE": escaped(article.headline), "VERSION": article.version, "TOPIC": article.topic}
    shown = None if act.words is None else escaped(act.words)
    return equipment.text(
        "ask_first", INTENT=act.intent, ARTICLE_ID=act.article_id, WORDS=shown, **facts
    ).strip()
