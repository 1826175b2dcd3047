"""The tool that begins a research: sources are gathered, and a draft is written from them. Seed 000 §1.5.

It only begins it: the work is a workflow, and its result is a draft, which people submit and decide on.
"""

from typing import Annotated, Literal

from pydantic import Field

from actors.platform.tools.articles import ArticleId, Topic
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.visibility import known_topic, topic_in_request, visible_article
from models.errors import ArticleConflict, InputInvalid
from models.store.content import drafting
from models.tools import PlainText, Prose, ToolPermission


class ResearchArticleRequest(Input):
    """What to find out, and write. The same `request_id` again is the same task, never a second one."""

    topic: Topic
    query: Annotated[
        Prose,
        Field(
            description="What the article is to be about",
            min_length=1,
            max_length=2000,
            pattern=r"\S",
            examples=["How did inflation in the euro area move this year?"],
        ),
    ]
    article_id: ArticleId | None = Field(
        default=None, description="A draft of this topic to be written anew; absent: a new article"
    )
    request_id: Annotated[PlainText, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Your own name for this request"
    )


class ResearchArticleResponse(Output):
    """The task (`GET /api/tasks/{task_id}`): its result names the draft and its resources."""

    task_id: str
    status: Literal["processing"] = "processing"
    topic: str
    message: str


@tool(
    ToolPermission(required_role="analyst", topic_scoped=True),
    rest="POST /research/article",
    effect=("writes", "leaves the site"),
    topic=topic_in_request,
)
async def research_article(context: ToolContext, request: ResearchArticleRequest) -> ResearchArticleResponse:
    """Research a question in the background and write a draft whose statements name their sources."""
    workflow, new = await drafting.ask(
        context.connection,
        topic=known_topic(context.config, request.topic),
        query=request.query.strip(),
        article_id=request.article_id,
        tonality=context.caller.content_tonality_text,
        by=context.caller.subject,
        request_id=request.request_id,
    )
    if new and request.article_id is not None:
        # What was asked before stays asked, though its article may have moved on since.
        await _check_draft(context, request.article_id, request.topic)
    return ResearchArticleResponse(
        task_id=workflow.id, topic=request.topic, message="The research has begun: you are told when it ends."
    )


async def _check_draft(context: ToolContext, article_id: int, topic: str) -> None:
    article = await visible_article(context, article_id)
    if article.topic != topic:
        raise InputInvalid(f"article_id: article {article_id} is in {article.topic!r}, not in {topic!r}")
    if article.status != "draft":
        raise ArticleConflict(
            f"article {article_id} is {article.status}: only a draft can be researched", status=article.status
        )
