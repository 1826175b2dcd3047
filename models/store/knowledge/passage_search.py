"""Search in the passages of a project: by words here, and what is shown of passages that were found.

Called by `actors.systems.knowledge.querying`. What is shown is what Postgres holds at that moment: an index
that lags behind shows nothing that is gone.
"""

from collections.abc import Sequence

from models.content.search import Hit
from models.knowledge.known import PassageShown
from models.store.database import Connection
from models.store.words import Table, find

_PASSAGES = Table(
    name="source_passages",
    kind="passage",
    id="id",
    version="NULL::int",
    seen="SELECT 1 FROM source_passages p WHERE p.id = f.id AND p.project_id = %(project)s",
    newest="SELECT p.id, NULL::int AS version FROM source_passages p WHERE p.project_id = %(project)s",
    own="r.project_id = %(project)s",
)


async def find_by_words(connection: Connection, project_id: int, query: str, *, limit: int) -> list[Hit]:
    """Passages of a project with any of the words, best first. Runs in a transaction of its own."""
    return await find(connection, _PASSAGES, query, {"project": project_id}, limit)


async def shown(connection: Connection, project_id: int, ids: Sequence[int]) -> list[PassageShown]:
    """Passages of a project with their sources, in the order of their ids; those that are gone left out."""
    cursor = await connection.execute(
        """SELECT p.id, p.source_id, coalesce(s.final_url, s.url) AS url, s.title, p.start, p."end", p.text
           FROM source_passages p JOIN sources s ON s.id = p.source_id
           WHERE p.project_id = %s AND p.id = ANY(%s)""",
        (project_id, list(ids)),
    )
    found = {row["id"]: PassageShown.model_validate(row) for row in await cursor.fetchall()}
    return [found[id_] for id_ in ids if id_ in found]


async def not_searched(connection: Connection, project_id: int) -> int:
    """How many sources of a project have a text that was never cut into passages."""
    cursor = await connection.execute(
        """SELECT count(*) AS n FROM sources
           WHERE project_id = %s AND text <> '' AND indexed_with IS NULL""",
        (project_id,),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row["n"])
