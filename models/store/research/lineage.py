"""The way back from a research's sentences, in Postgres: to points, exact words, documents, and approvals.

Called by whoever shows it; nothing is written here. Seed 002 §4.
"""

from collections.abc import Mapping, Sequence

from models.research.agent_workflows import AgentWorkflow
from models.research.evidence import ResearchPoint
from models.research.following import (
    LetIn,
    LineagePoint,
    LineageSource,
    ResearchLineage,
    ResearchPoints,
)
from models.store.database import Connection
from models.store.research import evidence, sentences

# Which addresses of the project's researches a document is from, and which approval let each of them in.
#
# A page is found by its source; one of this research, or one whose source was deleted, by its address, where
# nothing kept it from being read. A pasted text stands for an address that another gate let in: it is found
# by its digest in what was approved at the gate of pages that could not be read, and that let it in.
#
# What was let in is a text, by its digest: one that somebody put under its address later is another.
#
# What another research let in counts where that was before this one took its points.
_LET_IN = b"""
WITH document AS MATERIALIZED (
    SELECT * FROM unnest(%(sources)s::bigint[], %(urls)s::text[], %(texts)s::text[])
        WITH ORDINALITY AS d(source_id, url, text, place)
), research AS MATERIALIZED (
    SELECT id, workflow_id, requested_by FROM agent_workflows WHERE project_id = %(project)s
), pasted AS MATERIALIZED (
    SELECT r.id AS research_id, p.id AS approval_id, (one ->> 'number')::int AS number,
           one ->> 'by' AS given_by,
           'urn:sha256:' || encode(sha256(convert_to(one -> 'pasted' ->> 'text', 'UTF8')), 'hex') AS url
    FROM research r JOIN approvals p ON p.workflow_id = r.workflow_id
    CROSS JOIN LATERAL jsonb_array_elements(p.content -> 'instead') AS one
    WHERE p.kind = 'research_unreadable' AND p.status = 'approved' AND one -> 'pasted' ->> 'text' IS NOT NULL
      AND EXISTS (SELECT 1 FROM document WHERE url LIKE 'urn:sha256:%%')
), found AS (
    SELECT d.place, d.url, c.research_id, c.number FROM document d
    JOIN url_candidates c ON c.source_id = d.source_id AND c.metadata ->> 'text_sha256' = d.text
    UNION
    SELECT d.place, d.url, c.research_id, c.number FROM document d
    JOIN url_candidates c ON c.research_id = %(research)s AND c.url = d.url AND c.fault IS NULL
        AND c.metadata ->> 'text_sha256' = d.text
    UNION
    SELECT d.place, d.url, c.research_id, c.number FROM document d
    JOIN url_candidates c ON c.url = d.url AND c.source_id IS NULL AND c.fault IS NULL
        AND c.metadata ->> 'text_sha256' = d.text
    WHERE d.source_id IS NULL
    UNION
    SELECT d.place, d.url, p.research_id, p.number FROM document d JOIN pasted p ON p.url = d.url
), let_in AS (
    SELECT f.place, f.research_id AS workflow_id, f.number, coalesce(a.decided_by, c.decided_by,
           r.requested_by) AS by, a.id AS approval_id, a.digest, a.decided_at AS at,
           CASE WHEN p.url IS NOT NULL THEN coalesce(p.given_by, a.amended_by, a.decided_by) END AS given_by,
           coalesce(a.decided_at, c.created_at) AS since
    FROM found f JOIN research r ON r.id = f.research_id
    JOIN url_candidates c ON c.research_id = f.research_id AND c.number = f.number
    LEFT JOIN pasted p ON p.research_id = f.research_id AND p.number = f.number AND p.url = f.url
    LEFT JOIN approvals a ON a.id = coalesce(p.approval_id, c.approval_id)
    WHERE c.user_approval = 'approved'
)
SELECT DISTINCT ON (place) place, workflow_id, number, by, approval_id, digest, at, given_by
FROM let_in
WHERE workflow_id = %(research)s OR since <= coalesce(
    (SELECT completed_at FROM research_tasks
     WHERE research_id = %(research)s AND step = 'extract_knowledge'), now())
ORDER BY place, workflow_id = %(research)s DESC, since DESC, number
"""


async def of_research(connection: Connection, research: AgentWorkflow) -> ResearchLineage:
    """What a research's sentences rest on, without those that were dropped; empty before there are any.

    Sentences are in their order, points by their ids, and sources as points come upon them.
    """
    written = await sentences.get_all(connection, research.id)
    standing = tuple(sentence for sentence in written if sentence.outcome != "dropped")
    cited = {point for one in standing for point in one.points}
    points = await evidence.get(connection, research.id, list(cited))
    found, read = await _led_back(connection, research, points)
    return ResearchLineage(workflow_id=research.id, sentences=standing, points=found, sources=read)


async def of_points(
    connection: Connection, research: AgentWorkflow, *, after: int, limit: int
) -> ResearchPoints:
    """What all points of a research rest on, by their ids, after the one of the id `after`."""
    points = await evidence.page(connection, research.id, after=after, limit=limit + 1)
    found, read = await _led_back(connection, research, points[:limit])
    last = points[limit - 1].point_id if len(points) > limit else None
    return ResearchPoints(workflow_id=research.id, points=found, sources=read, next_after=last)


async def _led_back(
    connection: Connection, research: AgentWorkflow, points: Sequence[ResearchPoint]
) -> tuple[tuple[LineagePoint, ...], tuple[LineageSource, ...]]:
    """Points with the places of their sources, and these with whoever let them in."""
    # Where any of it differs, it was another document.
    places: dict[LineageSource, int] = {}
    for point in points:
        places.setdefault(_source(point), len(places))
    let_in = await _let_in(connection, research, list(places))
    found = tuple(
        LineagePoint(
            point_id=point.point_id,
            kind=point.kind,
            statement=point.statement,
            start=point.start,
            end=point.end,
            quote=point.quote,
            source=places[_source(point)],
        )
        for point in points
    )
    return found, tuple(
        source.model_copy(update={"let_in": let_in.get(place)}) for source, place in places.items()
    )


async def _let_in(
    connection: Connection, research: AgentWorkflow, sources: Sequence[LineageSource]
) -> Mapping[int, LetIn]:
    """Who let sources in, by their places; without those that nobody of a research let in."""
    cursor = await connection.execute(
        _LET_IN,
        {
            "sources": [source.source_id for source in sources],
            "urls": [source.url for source in sources],
            "texts": [source.text_sha256 for source in sources],
            "project": research.project_id,
            "research": research.id,
        },
    )
    return {
        row["place"] - 1: LetIn.model_validate({name: row[name] for name in LetIn.model_fields})
        for row in await cursor.fetchall()
    }


def _source(point: ResearchPoint) -> LineageSource:
    """Where a point was read; nobody has looked yet who let that in."""
    return LineageSource(
        url=point.url,
        final_url=point.final_url,
        title=point.title,
        source_id=point.source_id,
        sha256=point.sha256,
        text_sha256=point.text_sha256,
        let_in=None,
    )
