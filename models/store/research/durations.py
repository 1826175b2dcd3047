"""How long the steps of a research take, learnt from those that ended well last, of whichever project.

Called by `overviews`. What counts is the work of agents: how long a person took says nothing of the next.
"""

from collections.abc import Iterable, Mapping
from typing import get_args

from models.record import Record
from models.research.agent_workflows import Step
from models.store.database import Connection

_LATEST = 20
# People's own, and what is over as soon as it is planned.
_UNCOUNTED = frozenset(step for step in get_args(Step) if step.startswith("await_")) | {
    "classify_intent",
    "create_plan",
}
# A tree that is shown at a gate is laid out before that, while its gate's step is under way already: from
# there to when it was shown is the work. A step that was never begun, because one before it was passed over,
# begins and ends at one moment, and tells of nothing.
_LEARNT = b"""
WITH latest AS MATERIALIZED (
    SELECT a.id, a.workflow_id FROM agent_workflows a JOIN workflows w ON w.id = a.workflow_id
    WHERE w.status = 'succeeded' ORDER BY a.id DESC LIMIT %s
), worked AS (
    SELECT t.step,
           extract(epoch FROM CASE
               WHEN t.step = 'build_tree' AND g.started_at IS NOT NULL
               THEN coalesce(p.created_at, t.completed_at) - g.started_at
               ELSE t.completed_at - t.started_at END)::float8 AS seconds,
           (SELECT count(*) FROM url_candidates c WHERE c.research_id = l.id
              AND c.user_approval = 'approved' AND NOT c.metadata ? 'instead_of') AS urls
    FROM latest l JOIN research_tasks t ON t.research_id = l.id
    LEFT JOIN research_tasks g ON g.research_id = l.id AND g.step = 'await_category_review'
    LEFT JOIN approvals p ON p.workflow_id = l.workflow_id AND p.gate = 'tree'
    WHERE t.status = 'done' AND t.assigned_agent IS NOT NULL
)
SELECT step, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds / nullif(urls, 0)) AS per_url
FROM worked WHERE seconds > 0 GROUP BY step
"""


class StepSeconds(Record):
    """The median of how long a step took, and of that for each address that was approved."""

    seconds: float
    per_url: float | None


async def learnt(connection: Connection) -> Mapping[str, StepSeconds]:
    """What is known, by step, of the latest researches that ended well."""
    rows = await (await connection.execute(_LEARNT, (_LATEST,))).fetchall()
    return {row["step"]: StepSeconds(seconds=row["seconds"], per_url=row["per_url"]) for row in rows}


def minutes(
    known: Mapping[str, StepSeconds], steps: Iterable[Step], *, urls: int | None = None
) -> float | None:
    """How many minutes agents work on some steps; None where nothing is known of one of them.

    Args:
        urls: how many addresses are to be read; None: as many as usual.
    """
    total = 0.0
    for step in steps:
        if step in _UNCOUNTED:
            continue
        if (took := known.get(step)) is None:
            return None
        if step == "scrape_urls" and urls is not None and took.per_url is not None:
            total += urls * took.per_url
        else:
            total += took.seconds
    return total / 60
