"""Conversations over HTTP: their owner lists, reads and deletes them. Nobody else learns that they exist."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from models.chat.conversations import Conversation, Dialogue
from models.store.database import Database
from models.store.people import conversations
from models.tools import Number, PlainText
from serve.auth.caller import Caller
from serve.problems import problem_responses

router = APIRouter(prefix="/api/conversations", tags=["chat"], responses=problem_responses(401, 422, 503))

ConversationId = Annotated[PlainText, Field(min_length=1, max_length=64)]


@router.get("")
async def list_conversations(
    request: Request,
    caller: Caller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[ConversationId | None, Query()] = None,
) -> list[Conversation]:
    """The caller's conversations, the one with the newest message first.

    `before` is the id of the last one of the page before.
    """
    database: Database = request.app.state.database
    async with database.connection() as connection:
        return await conversations.recent(connection, caller.subject, limit=limit, before=before)


@router.get("/{conversation_id}", responses=problem_responses(404))
async def get_conversation(
    request: Request,
    caller: Caller,
    conversation_id: Annotated[ConversationId, Path()],
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    before: Annotated[Number | None, Query()] = None,
) -> Dialogue:
    """A conversation of the caller's with its newest messages, oldest of them first.

    `before` is the id of a message: those that stand before it. An answer stands right after its question.
    """
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        return await conversations.dialogue(
            connection, caller.subject, conversation_id, limit=limit, before=before
        )


@router.delete("/{conversation_id}", status_code=204, responses=problem_responses(404))
async def delete_conversation(
    request: Request, caller: Caller, conversation_id: Annotated[ConversationId, Path()]
) -> None:
    """Delete a conversation of the caller's with all its messages, for good. Tasks it began go on."""
    database: Database = request.app.state.database
    async with database.transaction() as connection:
        await conversations.delete(connection, caller.subject, conversation_id)
