"""Trees of knowledge in Postgres: each is a project's, and is written as a whole."""

from psycopg.types.json import Jsonb

from models.errors import TreeNotFound
from models.research.trees import Tree, TreeSummary
from models.store.database import Connection


async def put(connection: Connection, project_id: int, research_id: int | None, tree: Tree) -> Tree:
    """Keep a tree; one that has an id takes the place of what it was. The tree, with its id.

    Raises:
        TreeNotFound: the project has no tree of that id any more.
    """
    value = Jsonb(tree.model_dump(mode="json", exclude={"id"}))
    if tree.id is None:
        cursor = await connection.execute(
            """INSERT INTO knowledge_trees (project_id, research_id, title, tree) VALUES (%s, %s, %s, %s)
               RETURNING id""",
            (project_id, research_id, tree.title, value),
        )
    else:
        cursor = await connection.execute(
            """UPDATE knowledge_trees SET title = %s, tree = %s, grown_at = now()
               WHERE id = %s AND project_id = %s RETURNING id""",
            (tree.title, value, tree.id, project_id),
        )
    row = await cursor.fetchone()
    if row is None:
        raise TreeNotFound(f"project {project_id} has no tree {tree.id}")
    return tree.model_copy(update={"id": row["id"]})


async def get(connection: Connection, project_id: int, tree_id: int, *, lock: bool = False) -> Tree:
    """One tree of a project; TreeNotFound if it has none of that id."""
    locked = "FOR UPDATE" if lock else ""
    cursor = await connection.execute(
        f"SELECT id, tree FROM knowledge_trees WHERE project_id = %s AND id = %s {locked}".encode(),
        (project_id, tree_id),
    )
    row = await cursor.fetchone()
    if row is None:
        raise TreeNotFound(f"project {project_id} has no tree {tree_id}")
    return Tree.model_validate(row["tree"] | {"id": row["id"]})


async def recent(connection: Connection, project_id: int, *, limit: int) -> list[TreeSummary]:
    """The trees of a project, the one that has grown last first."""
    cursor = await connection.execute(
        """SELECT id, research_id AS workflow_id, title, grown_at,
                  jsonb_array_length(coalesce(tree -> 'nodes', '[]')) AS nodes
           FROM knowledge_trees WHERE project_id = %s ORDER BY grown_at DESC, id DESC LIMIT %s""",
        (project_id, limit),
    )
    return [TreeSummary.model_validate(row) for row in await cursor.fetchall()]
