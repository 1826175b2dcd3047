"""What a project of a run holds before anybody asks: a page that was read, and a tree that may grow."""

from dataclasses import dataclass

from models.research.trees import Tree, TreeMaking, TreeShape
from models.store.database import Connection
from models.store.knowledge import projects
from models.store.research import trees
from tests.faults.site.pages import HELD, LOCKS
from tests.faults.site.world import World

_SOURCE = """
INSERT INTO sources (project_id, url, engine, text, text_sha256, sha256, title, settled_at)
VALUES (%(project)s, %(url)s, 'http', %(text)s, encode(sha256(convert_to(%(text)s, 'UTF8')), 'hex'), 'f',
        'Locks', now())
ON CONFLICT DO NOTHING
"""
# So that few points are several categories.
_SHAPE = TreeShape(levels=3, children=5, leaf_points=2)


@dataclass(frozen=True)
class HeldProject:
    """A project, and its tree."""

    project: int
    tree: int


async def shelf(world: World, run: int) -> HeldProject:
    """That of a run; the same one, however often it is asked for."""

    async def put() -> HeldProject:
        async with world.database.transaction() as connection:
            return await _put(connection, run, f"{world.pages.origin}/{run}/{HELD}")

    return await world.database.steadily(put)


async def _put(connection: Connection, run: int, url: str) -> HeldProject:
    project, new = await projects.find_or_create(
        connection, topic="macro", name=f"Watermills, run {run}", by="ann"
    )
    if new:
        await connection.execute(_SOURCE.encode(), {"project": project.id, "url": url, "text": LOCKS})
        empty = Tree(title="Watermills", making=TreeMaking(shape=_SHAPE))
        await trees.put(connection, project.id, None, empty)
    [tree] = await trees.recent(connection, project.id, limit=1)
    return HeldProject(project=project.id, tree=tree.id)
