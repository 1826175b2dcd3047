"""The chat door (seed 000 §1.5, §2.2): a message comes in, its answer goes out, whole or as it is made.

The message is kept before anything is answered, and the answer before it is called done: a replica that
dies in between loses no conversation, and the same `request_id` gets its answer then.
"""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from pydantic import AfterValidator, Field

from models.chat.conversations import ChatAnswer, Question
from models.chat.messages import Done, Piece, Said, Turn
from models.config import Config
from models.errors import AgentDied, InputInvalid, SignoffError, TopicUnknown
from models.people.users import UserContext
from models.record import Record
from models.store.database import Connection, Database
from models.store.people import conversations
from models.tools import Number, PlainText
from serve.answering import Answering, Assistant, ClientGone, assistant_for
from serve.auth.caller import Caller
from serve.problems import members_of, problem_responses
from serve.streams.sse import EVENTS, KEEP_ALIVE, EventStream, event

router = APIRouter(tags=["chat"])

# Messages of a conversation that the assistant is told of; it trims them to its model's context window.
_HISTORY = 200
_SSE = "text/event-stream"
_CLIENT_CLOSED_REQUEST = 499


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank: say something")
    return text


RequestId = Annotated[PlainText, Field(min_length=1, max_length=200), AfterValidator(_not_blank)]


class ChatRequest(Record):
    """A message to the assistant, in a conversation of the caller's or, without an id, in a new one.

    `topic` and `article_id` say what it is about, where the client knows. `answers` is the `message_id` of
    the answer with status `asks` that this one replies to: a yes then counts for that and nothing else. The
    same `request_id` (or `Idempotency-Key`) again is the same request, and is answered once.
    """

    message: Annotated[PlainText, Field(min_length=1, max_length=20_000), AfterValidator(_not_blank)]
    conversation_id: Annotated[PlainText, Field(min_length=1, max_length=64)] | None = None
    topic: Annotated[PlainText, Field(max_length=64)] | None = None
    article_id: Number | None = None
    request_id: RequestId | None = None
    answers: Number | None = None
    stream: bool = False


@router.post(
    "/api/chat",
    response_model=ChatAnswer,
    responses={
        200: {
            "description": "The answer whole, or its events.",
            "content": EVENTS,
        },
        **problem_responses(401, 404, 409, 413, 422, 429, 500, 503, 504),
    },
)
async def chat(
    request: Request,
    caller: Caller,
    asked: ChatRequest,
    idempotency_key: Annotated[RequestId | None, Header()] = None,
    accept: Annotated[str, Header()] = "",
) -> Response | ChatAnswer:
    """Ask the assistant. What it may do is what the caller may do.

    With `stream: true`, or `Accept: text/event-stream`, it answers by server-sent events: `conversation`
    (`conversation_id`, and `question_id`, the message's own), `routed` (with `took_as`, as in the answer),
    `text` (pieces to be put together), `tool`, and at last `done` with the same record as the whole answer,
    or `error` with a problem.
    Research and publishing go on by themselves: `status` is `processing`, and `task_id` names the task.
    Hanging up stops the assistant; what it had said by then is kept.
    """
    config: Config = request.app.state.config
    if asked.topic is not None and asked.topic not in config.publishing.topics:
        topics = ", ".join(sorted(config.publishing.topics))
        raise TopicUnknown(f"topic: there is no topic {asked.topic!r}: use one of {topics}")
    request_id = _request_id(asked, idempotency_key)
    assistant = await assistant_for(request, caller)
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        question = await conversations.ask(
            connection,
            caller.subject,
            asked.message,
            conversation_id=asked.conversation_id,
            request_id=request_id,
        )
        answers = None
        if asked.answers is not None:
            answers = await conversations.asked_in(connection, question, asked.answers)
    streamed = asked.stream or _wants_events(accept)
    turn = await _turn(database, caller, asked, question, request_id, answers, whole=not streamed)

    def begin() -> Answering[ChatAnswer | None]:
        return _begin(request, assistant, turn, question)

    if streamed:
        return EventStream(_events(request, question, begin))
    if question.answer is not None:
        return question.answer
    answering = begin()
    try:
        async with aclosing(answering.follow(request)) as pieces:
            async for _ in pieces:
                pass
        return _whole(await answering.kept())
    except ClientGone:
        return Response(status_code=_CLIENT_CLOSED_REQUEST)


async def _turn(
    database: Database,
    caller: UserContext,
    asked: ChatRequest,
    question: Question,
    request_id: str | None,
    answers: str | None,
    *,
    whole: bool,
) -> Turn:
    async with database.connection() as connection:
        history = await conversations.history(connection, question, limit=_HISTORY)
    return Turn(
        caller=caller,
        message=asked.message,
        history=history,
        topic=asked.topic,
        article_id=asked.article_id,
        conversation_id=question.conversation_id,
        request_id=request_id,
        answers=answers,
        whole=whole,
    )


def _begin(
    request: Request, assistant: Assistant, turn: Turn, question: Question
) -> Answering[ChatAnswer | None]:
    database: Database = request.app.state.database

    async def keep(done: Done) -> ChatAnswer | None:
        if done.status in ("interrupted", "failed") and not done.response.strip():
            return None

        async def write(connection: Connection) -> ChatAnswer:
            kept = await conversations.keep(connection, turn.caller.subject, question, done)
            return kept.model_copy(update={"took_as": done.took_as})

        return await database.write(write)

    answering: Answering[ChatAnswer | None] = request.app.state.answers.begin(assistant, turn, keep)
    return answering


async def _events(
    request: Request, question: Question, begin: Callable[[], Answering[ChatAnswer | None]]
) -> AsyncGenerator[str, None]:
    """The answer as server-sent events; it is begun here, so that it is not when nobody listens."""
    ids = {"conversation_id": question.conversation_id, "question_id": question.message_id}
    yield event("conversation", json.dumps(ids))
    if (kept := question.answer) is not None:
        yield event("text", json.dumps({"text": kept.response}))
        yield event("done", kept.model_dump_json())
        return
    answering = begin()
    try:
        async with aclosing(answering.follow(request)) as pieces:
            async for piece in pieces:
                yield KEEP_ALIVE if piece is None else _event_of(piece)
        yield event("done", _whole(await answering.kept()).model_dump_json())
    except ClientGone:
        return
    except SignoffError as error:
        yield event("error", json.dumps(members_of(error)))


def _event_of(piece: Piece) -> str:
    name = "text" if isinstance(piece, Said) else piece.type
    return event(name, piece.model_dump_json(exclude={"type"}))


def _whole(kept: ChatAnswer | None) -> ChatAnswer:
    if kept is None:
        raise AgentDied("the site stopped before there was an answer: send the same request again")
    return kept


def _request_id(asked: ChatRequest, idempotency_key: str | None) -> str | None:
    if None not in (asked.request_id, idempotency_key) and asked.request_id != idempotency_key:
        raise InputInvalid("request_id: is not the Idempotency-Key header: send one of them, or both alike")
    return asked.request_id or idempotency_key


def _wants_events(accept: str) -> bool:
    return any(part.partition(";")[0].strip().lower() == _SSE for part in accept.split(","))
