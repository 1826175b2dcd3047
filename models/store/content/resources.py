"""Resources: the texts and tables that articles rest on. Written once, never changed."""

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from models.content.articles import Cell, Resource
from models.errors import ResourceNotFound
from models.runtime.approvals import content_digest
from models.runtime.event_catalogue import ResourceCreated
from models.store import events, passages
from models.store.database import Connection

_COLUMNS = (
    "id, kind, CASE WHEN published_in = '{}' THEN 'draft' ELSE 'published' END AS status, name, description, "
    "topic, content, columns, rows, digest, created_by, created_at"
)


async def create_text(
    connection: Connection, *, topic: str, name: str, description: str | None, content: str, by: str
) -> Resource:
    """Write a text."""
    return await _create(connection, "text", topic, name, description, content, None, None, by)


async def create_table(
    connection: Connection,
    *,
    topic: str,
    name: str,
    description: str | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    by: str,
) -> Resource:
    """Write a table; its `content` is a line per row, cells separated by ` | `."""
    lines = [" | ".join("" if cell is None else str(cell) for cell in row) for row in [columns, *rows]]
    content = "\n".join(lines)
    return await _create(connection, "table", topic, name, description, content, columns, rows, by)


async def get(connection: Connection, resource_id: int) -> Resource:
    """One resource; ResourceNotFound if there is none."""
    cursor = await connection.execute(f"SELECT {_COLUMNS} FROM resources WHERE id = %s", (resource_id,))
    row = await cursor.fetchone()
    if row is None:
        raise ResourceNotFound(f"there is no resource {resource_id}")
    return Resource.model_validate(row)


async def shown_with_published(connection: Connection, resource_id: int) -> list[str]:
    """The topics of the published articles that the resource is attached to."""
    cursor = await connection.execute(
        "SELECT unnest(published_in) AS topic FROM resources WHERE id = %s", (resource_id,)
    )
    return [row["topic"] for row in await cursor.fetchall()]


async def of_topic(connection: Connection, resource_ids: Sequence[int], topic: str) -> frozenset[int]:
    """Those of some resources that belong to a topic, or that its readers can read."""
    cursor = await connection.execute(
        "SELECT id FROM resources WHERE id = ANY(%s) AND (topic = %s OR %s = ANY(published_in))",
        (list(resource_ids), topic, topic),
    )
    return frozenset(row["id"] for row in await cursor.fetchall())


async def note_published(connection: Connection, article_id: int) -> None:
    """Note where the resources of an article are published, after its published version moved.

    They are locked first: two articles that share one may be published at the same moment.
    """
    which = "SELECT resource_id FROM article_resources WHERE article_id = %s"
    await connection.execute(
        f"SELECT 1 FROM resources WHERE id IN ({which}) ORDER BY id FOR UPDATE", (article_id,)
    )
    await connection.execute(
        f"""UPDATE resources r SET published_in = ARRAY(
                SELECT DISTINCT a.topic FROM article_resources ar
                JOIN articles a ON a.id = ar.article_id AND a.published_version = ar.version
                WHERE ar.resource_id = r.id ORDER BY a.topic)
            WHERE r.id IN ({which})""",
        (article_id,),
    )


async def _create(
    connection: Connection,
    kind: str,
    topic: str,
    name: str,
    description: str | None,
    content: str,
    columns: Sequence[str] | None,
    rows: Sequence[Sequence[Cell]] | None,
    by: str,
) -> Resource:
    digest = content_digest(
        {"name": name, "description": description, "content": content, "columns": columns, "rows": rows}
    )
    cursor = await connection.execute(
        f"""INSERT INTO resources (kind, topic, name, description, content, columns, rows, digest, created_by)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING {_COLUMNS}""",
        (
            kind,
            topic,
            name,
            description,
            content,
            None if columns is None else Jsonb(list(columns)),
            None if rows is None else Jsonb([list(row) for row in rows]),
            digest,
            by,
        ),
    )
    resource = Resource.model_validate(await cursor.fetchone())
    created = ResourceCreated(resource_id=resource.id, kind=kind, name=name, by=by)
    await events.tell(connection, created, topic=topic, role="editor", person=by)
    await passages.changed(connection, "resource", resource.id)
    return resource
