"""Trees of a project by their tools: made of its points, grown by later ones, given away in three forms."""

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from pydantic import BaseModel

from actors.platform import systems
from actors.platform.search.hybrid import HybridSearch
from actors.platform.tools.registry import Registry
from actors.systems.research.tools import trees as tree_tools
from actors.systems.research.tree.naming import NameReply
from models.errors import InputInvalid, PermissionMissing, ProjectNotFound, TreeNotFound
from models.llm import Answer, ModelCall
from models.people.scopes import read_scopes
from models.people.users import UserContext
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.research_desk import ResearchDesk

SPENT = "SELECT agent, prompt_tokens, completion_tokens FROM model_calls WHERE step = 'create_knowledge_tree'"


class _Naming:
    """The organizer; its model names nodes, and says what that took."""

    def __init__(self, organizer: Any) -> None:
        self.grow = organizer.grow

    async def name(self, *of: Any) -> Answer[NameReply]:
        spent = ModelCall(
            agent="tree_namer",
            model="m",
            prompt_sha256="0" * 64,
            prompt_tokens=40,
            completion_tokens=3,
            latency_seconds=0.1,
        )
        return Answer(value=NameReply(name="Wheels"), calls=(spent,))


def person(name: str, *scopes: str) -> UserContext:
    """Somebody who calls."""
    return UserContext(
        user_id=1,
        subject=name,
        name=name,
        email=f"{name}@example.com",
        scopes=read_scopes(scopes),
        role=None,
        decides=True,
    )


async def call(desk: ResearchDesk, tool: str, who: UserContext | None = None, **given: Any) -> Any:
    """What a tool answers."""
    registry = Registry(
        systems.tools(),
        config=desk.config,
        database=desk.database,
        search=HybridSearch(database=desk.database, semantic=None, settings=desk.config.search),
        agents=desk,
    )
    answer: BaseModel = await registry.call(
        tool, given, caller=who or person("ann", "macro:analyst"), door="rest"
    )
    return answer


async def read(desk: ResearchDesk, site: PageSite) -> int:
    """Have the mill's page read into the project; the project's id."""
    async with desk.running():
        config = {"language": "any", "require_approval": False}
        research = await desk.start(task_type="scrape", urls=[f"{site.origin}/mill"], config=config)
        done = await desk.ended(research)
    assert done.status == "succeeded", done.error
    return research.project_id


async def test_a_tree_is_made_grows_by_what_is_new_and_is_given_away(
    desk: ResearchDesk, site: PageSite
) -> None:
    with pytest.raises(InputInvalid, match="nothing is known"):
        await call(desk, "create_knowledge_tree", project_id=(await empty_project(desk)))
    project = await read(desk, site)
    made = await call(desk, "create_knowledge_tree", project_id=project, title="Mills")
    assert (made.title, made.points, made.depth) == ("Mills", 1, 1)
    same = await call(desk, "create_knowledge_tree", project_id=project, category_id=made.tree_id)
    assert (same.tree_id, same.points, same.node_count) == (made.tree_id, 1, made.node_count)
    [listed] = (await call(desk, "list_knowledge_trees", project_id=project)).trees
    assert (listed.id, listed.title, listed.nodes) == (made.tree_id, "Mills", made.node_count)

    desk.agents["organizer"] = _Naming(desk.agents["organizer"])
    await call(desk, "create_knowledge_tree", project_id=project, title="Named")
    [spent] = await desk.rows(SPENT)
    assert (spent["agent"], spent["prompt_tokens"], spent["completion_tokens"]) == ("tree_namer", 40, 3)

    where = {"project_id": project, "tree_id": made.tree_id}
    told = json.loads((await call(desk, "get_knowledge_tree", **where)).content)
    assert (told["title"], told["metadata"]["points"]) == ("Mills", 1)
    text = (await call(desk, "get_knowledge_tree", **where, format="markdown")).content
    assert "It has nine mills." in text
    graph = (await call(desk, "get_knowledge_tree", **where, format="graphml")).content
    assert ElementTree.fromstring(graph).tag.endswith("graphml")


async def empty_project(desk: ResearchDesk) -> int:
    """A project in which nothing is known."""
    made = await call(desk, "create_project", topic="macro", name="Empty")
    return int(made.project.id)


async def test_a_tree_is_its_project_s_and_its_points_too(desk: ResearchDesk, site: PageSite) -> None:
    project, other = await read(desk, site), await empty_project(desk)
    [point] = await desk.rows("SELECT id FROM knowledge_points")
    with pytest.raises(InputInvalid, match=f"has no point {point['id']}"):
        await call(desk, "create_knowledge_tree", project_id=other, knowledge_points=[point["id"]])
    made = await call(desk, "create_knowledge_tree", project_id=project, knowledge_points=[point["id"]])
    with pytest.raises(TreeNotFound):
        await call(desk, "get_knowledge_tree", project_id=other, tree_id=made.tree_id)
    with pytest.raises(TreeNotFound):
        await call(desk, "create_knowledge_tree", project_id=project, category_id=made.tree_id + 1)
    eve = person("eve", "equity:analyst")
    with pytest.raises(ProjectNotFound):
        await call(desk, "get_knowledge_tree", eve, project_id=project, tree_id=made.tree_id)
    with pytest.raises(PermissionMissing):
        await call(desk, "create_knowledge_tree", person("rita", "macro:reader"), project_id=project)


async def test_a_tree_is_made_of_so_many_points_at_most(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = await read(desk, site)
    monkeypatch.setattr(tree_tools, "MOST_POINTS", 0)
    with pytest.raises(InputInvalid, match=r"^knowledge_points: the project has more than 0"):
        await call(desk, "create_knowledge_tree", project_id=project)
    assert await desk.rows("SELECT 1 FROM knowledge_trees WHERE research_id IS NULL") == []
