"""Projects in Postgres."""

from collections.abc import Iterable

from models.errors import ProjectNotFound
from models.knowledge.projects import Project
from models.store.database import Connection

_COLUMNS = "id, topic, name, created_by, created_at"


async def find_or_create(connection: Connection, *, topic: str, name: str, by: str) -> tuple[Project, bool]:
    """The project of that name in the topic, and whether it is new."""
    cursor = await connection.execute(
        f"""INSERT INTO projects (topic, name, created_by) VALUES (%s, %s, %s)
            ON CONFLICT (topic, name) DO NOTHING RETURNING {_COLUMNS}""",
        (topic, name, by),
    )
    row = await cursor.fetchone()
    if row is not None:
        return Project.model_validate(row), True
    known = await named(connection, topic=topic, name=name)
    assert known is not None, "what conflicts is there"
    return known, False


async def named(connection: Connection, *, topic: str, name: str) -> Project | None:
    """The project of that name in the topic, if there is one."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM projects WHERE topic = %s AND name = %s", (topic, name)
    )
    row = await cursor.fetchone()
    return None if row is None else Project.model_validate(row)


async def get(connection: Connection, project_id: int) -> Project:
    """One project; ProjectNotFound if there is none."""
    cursor = await connection.execute(f"SELECT {_COLUMNS} FROM projects WHERE id = %s", (project_id,))
    row = await cursor.fetchone()
    if row is None:
        raise ProjectNotFound(f"there is no project {project_id}")
    return Project.model_validate(row)


async def in_topics(connection: Connection, topics: Iterable[str]) -> list[Project]:
    """The projects of some topics, the newest first."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM projects WHERE topic = ANY(%s) ORDER BY id DESC", (list(topics),)
    )
    return [Project.model_validate(row) for row in await cursor.fetchall()]
