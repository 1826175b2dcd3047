"""Articles and their versions. Changes of status are compare-and-set; every write is a new version.

Writers lock in one order: the workflow that waits for the article, its approval, the article. The
lifecycle around publishing is in `models.store.content.publishing`.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from models.content.articles import (
    Article,
    ArticleStatus,
    ArticleVersion,
    EditorFindings,
    RevealedResource,
    what_changed,
)
from models.content.quoting import Written
from models.errors import ArticleConflict, ArticleNotFound, ResourceNotFound
from models.runtime.event_catalogue import ArticleCreated, ArticleEvent, ArticlePublished, ArticleWritten
from models.store import approvals, events, passages
from models.store.database import Connection
from models.text import one_line, unseen_in

_COLUMNS = (
    "id, topic, status, version, published_version, author, approval_id, workflow_id, drafted_by, "
    "created_at, updated_at, submitted_at, submitted_by, published_at"
)


async def create(
    connection: Connection,
    *,
    topic: str,
    headline: str,
    keywords: str | None,
    author: str,
    content: str = "",
    editor_report: EditorFindings | None = None,
    written: Written = "prose",
    drafted_by: str | None = None,
) -> Article:
    """Write version 1 of a new article, a draft.

    Raises:
        psycopg.errors.UniqueViolation: `drafted_by` has drafted one already.
    """
    cursor = await connection.execute(
        f"""INSERT INTO articles (topic, status, version, author, drafted_by) VALUES (%s, 'draft', 1, %s, %s)
            RETURNING {_COLUMNS}""",
        (topic, author, drafted_by),
    )
    article = Article.model_validate(await cursor.fetchone())
    headline = _headline(headline)
    await _put_version(
        connection, article.id, 1, headline, keywords, content, editor_report, written, (), author, ()
    )
    await tell(connection, ArticleCreated, article, version=1, headline=headline, by=author)
    await passages.changed(connection, "article", article.id)
    return article


async def get(connection: Connection, article_id: int) -> Article:
    """One article; ArticleNotFound if there is none."""
    return await _one(connection, f"SELECT {_COLUMNS} FROM articles WHERE id = %s", article_id)


async def drafted_by(connection: Connection, workflow_id: str) -> Article | None:
    """The article that an editorial workflow drafted, if it did."""
    cursor = await connection.execute(
        f"SELECT {_COLUMNS} FROM articles WHERE drafted_by = %s", (workflow_id,)
    )
    row = await cursor.fetchone()
    return Article.model_validate(row) if row else None


async def get_version(connection: Connection, article_id: int, version: int) -> ArticleVersion:
    """One version, whole; ArticleNotFound if there is none."""
    cursor = await connection.execute(
        """
        SELECT v.article_id, v.version, v.headline, v.keywords, v.content, v.editor_report, v.written,
               v.desk_notes, v.written_by, v.written_at,
               coalesce((SELECT jsonb_agg(jsonb_build_object('id', r.id, 'kind', r.kind, 'name', r.name,
                                                             'digest', r.digest) ORDER BY ar.place, r.id)
                         FROM article_resources ar JOIN resources r ON r.id = ar.resource_id
                         WHERE ar.article_id = v.article_id AND ar.version = v.version), '[]') AS resources
        FROM article_versions v WHERE v.article_id = %s AND v.version = %s
        """,
        (article_id, version),
    )
    row = await cursor.fetchone()
    if row is None:
        raise ArticleNotFound(f"article {article_id} has no version {version}")
    return ArticleVersion.model_validate(row)


async def authors(connection: Connection, article: Article) -> tuple[str, ...]:
    """Who wrote what readers don't have yet: all versions after the published one.

    Of a draft that a workflow wrote, that is also who asked for the workflow: whoever handed in the topic.
    """
    cursor = await connection.execute(
        """SELECT written_by FROM article_versions WHERE article_id = %s AND version > %s
           UNION SELECT requested_by FROM workflows WHERE id = %s AND %s
           ORDER BY written_by""",
        (
            article.id,
            article.published_version or 0,
            article.drafted_by,
            article.published_version is None,
        ),
    )
    return tuple(row["written_by"] for row in await cursor.fetchall())


async def revealed(connection: Connection, article: Article) -> list[RevealedResource]:
    """What the newest version rests on and its topic's readers can't read: publishing shows it to them."""
    cursor = await connection.execute(
        """SELECT r.id, r.kind, r.name, r.digest, r.topic, r.created_by,
                  CASE WHEN r.published_in = '{}' THEN 'draft' ELSE 'published' END AS status,
                  coalesce(ar.attached_by, v.written_by) AS attached_by,
                  '/api/tools/resources/' || r.id AS open
           FROM article_resources ar JOIN resources r ON r.id = ar.resource_id
           JOIN article_versions v ON v.article_id = ar.article_id AND v.version = ar.version
           WHERE ar.article_id = %s AND ar.version = %s AND NOT (%s = ANY(r.published_in))
           ORDER BY ar.place, r.id""",
        (article.id, article.version, article.topic),
    )
    return [RevealedResource.model_validate(row) for row in await cursor.fetchall()]


async def lock(connection: Connection, article_id: int) -> Article:
    """Lock an article for a change, after the workflow that waits for it.

    Raises:
        ArticleNotFound, and ArticleConflict: someone else changed it at the same moment.
    """
    seen = await get(connection, article_id)
    if seen.workflow_id is not None:
        await connection.execute("SELECT 1 FROM workflows WHERE id = %s FOR UPDATE", (seen.workflow_id,))
    locked = await _one(connection, f"SELECT {_COLUMNS} FROM articles WHERE id = %s FOR UPDATE", article_id)
    if locked.workflow_id not in (seen.workflow_id, None):
        raise ArticleConflict(f"article {article_id} was changed at the same moment: try again")
    return locked


def _headline(text: str) -> str:
    """One that a model wrote, as people see it; of what they write themselves such is refused."""
    return text if unseen_in(text, lines=False) is None else one_line(text)


async def write(
    connection: Connection,
    article_id: int,
    *,
    by: str,
    headline: str | None = None,
    keywords: str | None = None,
    content: str | None = None,
    resource_ids: Sequence[int] | None = None,
    expected_version: int | None = None,
) -> tuple[Article, ArticleVersion]:
    """Write a new version; what is None stays as it is. With a new headline or text it counts as prose.

    A published article becomes a draft of its next version, and stays published. A request for publication
    that is open becomes void, with what changed, and the article goes back to its editor.

    Raises:
        ArticleNotFound, ResourceNotFound.
        ArticleConflict: the newest version is not `expected_version`.
    """
    article = await lock(connection, article_id)
    if expected_version is not None and article.version != expected_version:
        raise ArticleConflict(
            f"article {article_id} is at version {article.version}, not {expected_version}: read it again",
            version=article.version,
        )
    old = await get_version(connection, article_id, article.version)
    number = article.version + 1
    await _put_version(
        connection,
        article_id,
        number,
        old.headline if headline is None else _headline(headline),
        old.keywords if keywords is None else keywords,
        old.content if content is None else content,
        # What the editors found was about the text they read.
        old.editor_report if content is None else None,
        old.written if headline is None and content is None else "prose",
        # What is published says nothing of how the next version comes about.
        () if old.version == article.published_version else old.desk_notes,
        by,
        [resource.id for resource in old.resources] if resource_ids is None else resource_ids,
    )
    new = await get_version(connection, article_id, number)
    back_to: dict[ArticleStatus, ArticleStatus] = {"published": "draft", "pending_approval": "editor"}
    status = back_to.get(article.status, article.status)
    written = await move(connection, article, status, version=number)
    await tell(connection, ArticleWritten, written, version=number, by=by)
    if article.approval_id is not None:
        # In a thread: two texts of a million characters would hold up everybody else here.
        changes = await asyncio.to_thread(what_changed, old, new)
        await approvals.void(connection, article.approval_id, changes)
    await passages.changed(connection, "article", article_id)
    return written, new


async def note_drafted(
    connection: Connection, article_id: int, version: int, *, written: Written, desk_notes: Sequence[str]
) -> None:
    """Note how a version was written, and what its desk has to know: for the code that has just done so."""
    await connection.execute(
        "UPDATE article_versions SET written = %s, desk_notes = %s WHERE article_id = %s AND version = %s",
        (written, list(desk_notes), article_id, version),
    )


async def move(connection: Connection, article: Article, status: ArticleStatus, **values: Any) -> Article:
    """Compare and set: change status and other columns of an article that is still as it was seen.

    Leaving `pending_approval` forgets the approval and its workflow.

    Raises:
        ArticleConflict: it is not as it was seen.
    """
    if status != "pending_approval":
        values = {"approval_id": None, "workflow_id": None, **values}
    names = "".join(f", {name} = %({name})s" for name in values)
    cursor = await connection.execute(
        f"""UPDATE articles SET status = %(_status)s, updated_at = now(){names}
            WHERE id = %(_id)s AND status = %(_was)s AND version = %(_version)s
              AND approval_id IS NOT DISTINCT FROM %(_approval)s RETURNING {_COLUMNS}""".encode(),
        {
            **values,
            "_status": status,
            "_id": article.id,
            "_was": article.status,
            "_version": article.version,
            "_approval": article.approval_id,
        },
    )
    row = await cursor.fetchone()
    if row is None:
        raise ArticleConflict(f"article {article.id} was changed at the same moment: read it again")
    return Article.model_validate(row)


async def tell(connection: Connection, event: type[ArticleEvent], article: Article, **more: Any) -> None:
    """Append an event about an article: readers see that it was published, its editors the rest.

    Args:
        more: the event's fields beside those of every `ArticleEvent`.
    """
    await events.tell(
        connection,
        event(article_id=article.id, status=article.status, **more),
        topic=article.topic,
        role="reader" if event is ArticlePublished else "editor",
        person=article.author,
    )


async def _put_version(
    connection: Connection,
    article_id: int,
    version: int,
    headline: str,
    keywords: str | None,
    content: str,
    editor_report: EditorFindings | None,
    written: Written,
    desk_notes: Sequence[str],
    by: str,
    resource_ids: Sequence[int],
) -> None:
    await connection.execute(
        """INSERT INTO article_versions (article_id, version, headline, keywords, content, editor_report,
                                         written, desk_notes, written_by)
           VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)""",
        (
            article_id,
            version,
            headline,
            keywords,
            content,
            Jsonb(editor_report.model_dump(mode="json")) if editor_report else None,
            written,
            list(desk_notes),
            by,
        ),
    )
    wanted = list(dict.fromkeys(resource_ids))
    cursor = await connection.execute(
        """INSERT INTO article_resources (article_id, version, resource_id, place, attached_by)
           SELECT %(article)s, %(version)s, r.id, array_position(%(wanted)s::bigint[], r.id),
                  coalesce((SELECT coalesce(b.attached_by, v.written_by) FROM article_resources b
                            JOIN article_versions v ON v.article_id = b.article_id AND v.version = b.version
                            WHERE b.article_id = %(article)s AND b.version = %(version)s - 1
                              AND b.resource_id = r.id), %(by)s)
           FROM resources r WHERE r.id = ANY(%(wanted)s) RETURNING resource_id""",
        {"article": article_id, "version": version, "wanted": wanted, "by": by},
    )
    found = {row["resource_id"] for row in await cursor.fetchall()}
    if missing := [str(n) for n in wanted if n not in found]:
        raise ResourceNotFound(f"resource_ids: there is no resource {', '.join(missing)}")


async def _one(connection: Connection, query: str, article_id: int) -> Article:
    row = await (await connection.execute(query.encode(), (article_id,))).fetchone()
    if row is None:
        raise ArticleNotFound(f"there is no article {article_id}")
    return Article.model_validate(row)
