"""The tool that makes an article of a research: a draft, whose way back its resources keep.

What becomes of the draft is its analyst's business: it is submitted, reviewed and published as any other.
"""

from actors.platform.tools.articles import Headline
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.systems.research.article_text import article_text, desk_note, evidence_texts
from actors.systems.research.tools.visible import RESEARCHES, WorkflowId
from models.errors import WorkflowConflict
from models.research.agent_workflows import AgentWorkflow
from models.store.content import articles, resources
from models.store.database import Connection
from models.store.research import agent_workflows, lineage, overviews


class ArticleFromResearchRequest(Input):
    """A research that is done; without `headline` the article has its question as one."""

    workflow_id: WorkflowId
    headline: Headline | None = None


class ArticleFromResearchResponse(Output):
    """The draft, and its resources, one for each document. `created` is false where it was there."""

    article_id: int
    topic: str
    headline: str
    resource_ids: tuple[int, ...]
    created: bool


@tool(
    RESEARCHES.on_topic,
    rest="POST /research/{workflow_id}/article",
    effect="writes",
    idempotent=True,
    topic=RESEARCHES.topic,
)
async def write_article_from_research(
    context: ToolContext, request: ArticleFromResearchRequest
) -> ArticleFromResearchResponse:
    """Make a draft article of what a research came to; each sentence keeps the way back to its sources."""
    connection, by = context.connection, context.caller.subject
    await RESEARCHES.visible(context, connection, request.workflow_id)
    # Two at once: the second one finds what the first has made.
    research = await agent_workflows.get(connection, request.workflow_id, lock=True)
    if (known := await articles.drafted_by(connection, research.workflow_id)) is not None:
        version = await articles.get_version(connection, known.id, known.version)
        return ArticleFromResearchResponse(
            article_id=known.id,
            topic=known.topic,
            headline=version.headline,
            resource_ids=tuple(resource.id for resource in version.resources),
            created=False,
        )
    await _check_done(connection, research)
    found = await lineage.of_research(connection, research)
    made: dict[int, int] = {}
    for text in evidence_texts(found):
        resource = await resources.create_text(
            connection,
            topic=research.topic,
            name=text.name,
            description=text.description,
            content=text.content,
            by=by,
        )
        made[text.source] = resource.id
    headline = request.headline or research.name
    article = await articles.create(
        connection,
        topic=research.topic,
        headline=headline,
        keywords=None,
        author=by,
        drafted_by=research.workflow_id,
    )
    _, written = await articles.write(
        connection, article.id, by=by, content=article_text(found, made), resource_ids=tuple(made.values())
    )
    await articles.note_drafted(
        connection, article.id, written.version, written="prose", desk_notes=(desk_note(found),)
    )
    return ArticleFromResearchResponse(
        article_id=article.id,
        topic=research.topic,
        headline=headline,
        resource_ids=tuple(made.values()),
        created=True,
    )


async def _check_done(connection: Connection, research: AgentWorkflow) -> None:
    results = await overviews.results(connection, research)
    why = f" ({results.reason})" if results.reason else ""
    if results.result is None:
        raise WorkflowConflict(
            f"research {research.id} is {results.status}{why}: only a completed one has a result"
        )
    if results.result.outcome != "done" or results.approved is False:
        raise WorkflowConflict(
            f"research {research.id} ended with {results.result.outcome}{why}: "
            "there is nothing that was approved"
        )
    if not results.result.sentences:
        raise WorkflowConflict(
            f"research {research.id} wrote no sentences: ask for research, analyze or full_pipeline"
        )
