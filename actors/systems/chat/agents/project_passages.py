"""Passages of the projects of whoever asks, as sources of an answer. `ResourceQuery` asks for them.

What a person names in the message is searched alone; otherwise the newest projects are. The tools see to it
that nobody reads a project that is not his.
"""

import asyncio
from collections.abc import Sequence

from actors.platform.text.bearing import bears_on
from actors.platform.text.normal_form import words
from actors.systems.chat.turn.reply import Reply
from actors.systems.chat.turn.sources import Sources
from models.chat.messages import Route, Turn
from models.errors import ProjectNotFound
from models.knowledge.known import KnowledgeResult
from models.knowledge.projects import Project

TOOLS = ("list_projects", "query_knowledge_base")
_MOST_PROJECTS = 3


async def add_passages(
    turn: Turn, route: Route, reply: Reply, sources: Sources, *, query: str, most: int
) -> None:
    """Add what the caller's projects say to a question, until there are `most` sources."""
    if not query:
        return
    # Systems know each other's tools by their names, and their answers by their records.
    answer = await reply.call("list_projects", {})
    projects = [Project.model_validate(each) for each in answer.model_dump()["projects"]]
    for project in await asyncio.to_thread(_wanted, projects, turn.message, route.topic):
        if len(sources) >= most:
            return
        try:
            found = await reply.call(
                "query_knowledge_base", {"query": query, "project_id": project.id, "limit": 2 * most}
            )
        except ProjectNotFound:  # gone meanwhile
            continue
        results = [KnowledgeResult.model_validate(each) for each in found.model_dump()["results"]]
        for result in results:
            if len(sources) < most and await _bears_on(query, project, result):
                sources.add(
                    title=result.title or result.url,
                    url=result.url,
                    text=result.text,
                    about=f"source:{result.source_id}:{result.start}",
                )


def _wanted(projects: Sequence[Project], message: str, topic: str | None) -> list[Project]:
    """Those that the message names, or else the newest, of the topic that it is about."""
    said = f" {words(message)} "
    named = [project for project in projects if f" {words(project.name)} " in said]
    on_topic = [project for project in projects if topic in (None, project.topic)]
    return (named or on_topic)[:_MOST_PROJECTS]


async def _bears_on(query: str, project: Project, result: KnowledgeResult) -> bool:
    # What the project is called, its passages need not say: "in the knowledge base Mills: …".
    text = f"{project.name}\n{result.title or ''}\n{result.text}"
    return await asyncio.to_thread(bears_on, query, text, result.similarity_score)
