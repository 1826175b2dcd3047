"""What a server asks before it answers, and how a person's answer finds its way back.

The protocol's state and the answers so far travel with the question, as one text that only this module
reads: a process may die between a question and its answer, and nothing of it is kept here.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from mcp_types import (
    ElicitRequest,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
)
from pydantic import ValidationError

from actors.platform.mcp.exchange import Unanswered
from actors.platform.mcp.schemas import digest_of, fault_in, refusal_of
from models.errors import ServedToolRefused
from models.mcp.tool_answers import GivenToServer, ServedToolCall, ServerQuestion
from models.record import Record
from models.text import seen, storable, unseen_in

if TYPE_CHECKING:
    from mcp_types import InputResponses

_MOST_QUESTIONS = 20
_MOST_MESSAGE = 4_000
# What a schema says to people; all else in it is meant for programs, and what they give back must match it.
_SAID_TO_PEOPLE = ("title", "description", "$comment", "enumNames")


class ServerAsks(Record):
    """One question, as its server put it. `key` is how the server, or this module, knows it again."""

    key: str
    message: str
    requested: Mapping[str, Any] | None = None
    url: str | None = None


class GivenBefore(Record):
    """An answer that a person has given."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] | None = None

    def result(self) -> ElicitResult:
        """As the protocol has it."""
        content = None if self.content is None or self.action != "accept" else dict(self.content)
        return ElicitResult(action=self.action, content=content)


class QuestionRound(Record):
    """What goes with a question: the server's own state, the answers so far, and what is to be asked yet."""

    state: str | None = None
    asked: ServerAsks | None = None
    given: Mapping[str, GivenBefore] = {}
    left: tuple[ServerAsks, ...] = ()

    def responses(self) -> "InputResponses | None":
        """All answers, by the server's keys; None where nothing was asked."""
        return {key: given.result() for key, given in self.given.items()} or None

    def next_question(self, call: ServedToolCall, said: str | None = None) -> ServerQuestion | None:
        """The next one that a person is to be asked; None where all are answered."""
        if not self.left:
            return None
        asked, *left = self.left
        kept = self.model_copy(update={"asked": asked, "left": tuple(left)})
        return ServerQuestion(
            server=call.server,
            tool=call.tool,
            key=asked.key,
            message=asked.message,
            requested=asked.requested,
            url=asked.url,
            state=kept.model_dump_json(),
            said=said,
        )


async def round_after(given: GivenToServer | None) -> QuestionRound:
    """Where the questions stand, with what a person has given now.

    Raises:
        ServedToolRefused: it does not belong to a question, or breaks what its question asks for.
    """
    if given is None:
        return QuestionRound()
    try:
        before = QuestionRound.model_validate_json(given.state or "")
        asked = before.asked
        if asked is None or asked.key != given.key:
            raise ValueError("its key is another question's")
    except ValueError as error:
        raise ServedToolRefused(
            f"given.state: is not what the question {given.key[:80]!r} came with: hand it back as it was"
        ) from error
    answer = GivenBefore(action=given.action, content=given.content)
    if answer.action == "accept" and asked.requested is not None:
        wrong = await fault_in(dict(given.content or {}), asked.requested)
        if wrong is None:
            try:
                answer.result()
            except ValidationError:
                wrong = "holds more than texts, numbers, yes and no, and lists of texts"
        if wrong is not None:
            raise ServedToolRefused(f"given.content: {wrong}: give what the question asks for")
    return before.model_copy(update={"asked": None, "given": {**before.given, given.key: answer}})


async def round_of(result: InputRequiredResult) -> QuestionRound:
    """What a server of 2026-07-28 asks for.

    Raises:
        Unanswered: it asks for what is refused here, or for too much, or by a schema that is refused.
    """
    requests = result.input_requests or {}
    if len(requests) > _MOST_QUESTIONS:
        raise Unanswered("invalid", f"it asks more than {_MOST_QUESTIONS} questions at once")
    left = []
    for key, request in requests.items():
        if not isinstance(request, ElicitRequest):
            raise Unanswered("invalid", f"it asks for {request.method}, which is refused here")
        left.append(await asked_by(request.params, key=key))
    return QuestionRound(state=result.request_state, left=tuple(left))


async def asked_by(params: ElicitRequestParams, *, key: str) -> ServerAsks:
    """A question, fit to be shown: whole, because a person decides by it, and without what can't be seen.

    Raises:
        Unanswered: it is too long, opens what is no web page, or the schema of what it asks for is refused
            or has names or values that can't be seen.
    """
    message = seen(storable(params.message))
    if len(message) > _MOST_MESSAGE:
        raise Unanswered("invalid", f"it asks in over {_MOST_MESSAGE:,} characters")
    if isinstance(params, ElicitRequestURLParams):
        if not params.url.startswith(("http://", "https://")) or len(params.url) > _MOST_MESSAGE:
            raise Unanswered("invalid", "it asks for a page to be opened that has no web address")
        if fault := unseen_in(params.url, lines=False):
            raise Unanswered("invalid", f"it asks for a page to be opened whose address {fault}")
        return ServerAsks(key=key, message=message, url=params.url)
    requested = params.requested_schema
    if reason := await refusal_of(requested, of_object=True):
        raise Unanswered("invalid", f"it asks by a schema that is refused: {reason}")
    return ServerAsks(key=key, message=message, requested=_as_seen(requested))


def _as_seen(value: Any, name: str = "") -> Any:
    """A schema of bounded depth whose words for people are as they see them."""
    if isinstance(value, str):
        if name in _SAID_TO_PEOPLE:
            return seen(storable(value))
        if fault := unseen_in(value, lines=True):
            raise Unanswered("invalid", f"it asks by a schema that {fault}")
    if isinstance(value, list):
        return [_as_seen(each, name) for each in value]
    if isinstance(value, dict):
        return {_as_seen(key): _as_seen(each, key) for key, each in value.items()}
    return value


def key_of(params: ElicitRequestParams) -> str:
    """How a question of 2025-11-25 is known again when its call is made anew: by message, and what is wanted.

    Of a page that is to be opened the query does not count: it differs each time.
    """
    if isinstance(params, ElicitRequestURLParams):
        return digest_of([params.message, *urlsplit(params.url)[:3]])
    return digest_of([params.message, params.requested_schema])
