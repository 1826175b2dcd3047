"""Prompt tools: tonalities, a user's own choice, and the prompts of topics. Seed 000 §6.1, §7.1."""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.articles import Topic
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import topic_in_request
from models.content.prompts import Tonality, TopicPrompt
from models.store.content import prompts
from models.tools import Number, Prose, ToolPermission

READER = ToolPermission(required_role="reader", topic_scoped=False)


class GetTonalitiesRequest(Input):
    """There is nothing to say."""


class TonalitiesResponse(Output):
    """All tonalities, and which of them the caller has chosen."""

    tonalities: tuple[Tonality, ...]
    selected_chat_tonality_id: int | None
    selected_content_tonality_id: int | None


@tool(READER, rest="GET /prompts/tonalities", effect="reads")
async def get_tonalities(context: ToolContext, request: GetTonalitiesRequest) -> TonalitiesResponse:
    """List the tonalities that a user may choose from."""
    return TonalitiesResponse(
        tonalities=tuple(await prompts.tonalities(context.connection)),
        selected_chat_tonality_id=context.caller.selected_chat_tonality_id,
        selected_content_tonality_id=context.caller.selected_content_tonality_id,
    )


class SetUserTonalityRequest(Input):
    """Choose; null, or leaving it out, means no tonality."""

    chat_tonality_id: Number | None = Field(default=None, examples=[1])
    content_tonality_id: Number | None = Field(default=None, examples=[2])


class SetUserTonalityResponse(Output):
    """What is chosen now."""

    selected_chat_tonality_id: int | None
    selected_content_tonality_id: int | None


@tool(READER, rest="POST /prompts/user-tonality", effect="writes", idempotent=True)
async def set_user_tonality(context: ToolContext, request: SetUserTonalityRequest) -> SetUserTonalityResponse:
    """Choose the tonality of the caller's chats and of his contents."""
    await prompts.choose(
        context.connection,
        context.caller.user_id,
        chat_tonality_id=request.chat_tonality_id,
        content_tonality_id=request.content_tonality_id,
    )
    return SetUserTonalityResponse(
        selected_chat_tonality_id=request.chat_tonality_id,
        selected_content_tonality_id=request.content_tonality_id,
    )


class GetTopicPromptsRequest(Input):
    """Read a topic's prompt."""

    topic: Topic


class TopicPromptResponse(Output):
    """The prompt; version 0 is the file's text."""

    prompt: TopicPrompt


@tool(
    ToolPermission(required_role="admin", topic_scoped=True),
    rest="GET /prompts/topic/{slug=topic}",
    effect="reads",
    topic=topic_in_request,
)
async def get_topic_prompts(context: ToolContext, request: GetTopicPromptsRequest) -> TopicPromptResponse:
    """Read what agents are told about a topic."""
    folder = context.config.publishing.prompts_dir / "topics"
    return TopicPromptResponse(prompt=await prompts.topic_prompt(context.connection, request.topic, folder))


class EditPromptsRequest(Input):
    """Replace a topic's prompt. `version` is the one that was read: nobody's edit is overwritten unseen."""

    topic: Topic
    text: Annotated[Prose, Field(min_length=1, max_length=20_000, pattern=r"\S")]
    version: int = Field(ge=0, le=2**31 - 2, examples=[0])


@tool(
    # Even a global admin needs the role on the topic itself.
    ToolPermission(required_role="admin", topic_scoped=True, global_admin_override=False),
    rest="POST /prompts/topic/{slug=topic}",
    effect="writes",
    topic=topic_in_request,
)
async def edit_prompts(context: ToolContext, request: EditPromptsRequest) -> TopicPromptResponse:
    """Write a new version of what agents are told about a topic."""
    await prompts.edit_topic_prompt(
        context.connection,
        request.topic,
        text=request.text,
        version=request.version,
        by=context.caller.subject,
    )
    folder = context.config.publishing.prompts_dir / "topics"
    return TopicPromptResponse(prompt=await prompts.topic_prompt(context.connection, request.topic, folder))
