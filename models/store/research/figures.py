"""How a research stands, in figures of one moment: a status is told from them, and from nothing else.

Called by `overviews`.
"""

from datetime import datetime
from typing import Literal

from models.errors import ResearchNotFound
from models.record import Record
from models.research.agent_workflows import AgentReasoning, AgentType, Step
from models.research.intents import TaskType
from models.research.results import ResearchResult
from models.runtime.workflows import ENDED_STATUSES, WorkflowStatus
from models.store.database import Connection

# Of a research `a` and its workflow `w`: when it changed last, the id of its tree, and of what waits.
UPDATED = """greatest(w.updated_at,
    (SELECT max(m.created_at) FROM agent_messages m WHERE m.research_id = a.id),
    (SELECT max(u.created_at) FROM workflow_tools u WHERE u.research_id = a.id),
    (SELECT max(greatest(t.started_at, t.completed_at)) FROM research_tasks t WHERE t.research_id = a.id))"""
# A tree that has grown is of the research that made it: the step that kept it tells which it is.
TREE_ID = """coalesce(
    (SELECT (t.result ->> 'tree_id')::bigint FROM research_tasks t
     WHERE t.research_id = a.id AND t.step = 'build_tree'),
    (SELECT max(k.id) FROM knowledge_trees k WHERE k.research_id = a.id),
    (w.result ->> 'tree_id')::bigint)"""
PENDING = """(SELECT p.id FROM approvals p WHERE p.workflow_id = w.id AND p.status = 'pending'
    ORDER BY p.created_at, p.id LIMIT 1)"""
_FIGURES = f"""
SELECT a.task_type, w.status, w.parked_for, w.error, w.result, {UPDATED} AS updated_at, urls.*, known.*,
       {TREE_ID} AS tree_id, {PENDING} AS pending,
       EXISTS (SELECT 1 FROM approvals p WHERE p.workflow_id = w.id AND p.gate = 'tree') AS tree_shown,
       coalesce((SELECT jsonb_agg(jsonb_build_object('step', t.step, 'agent', t.assigned_agent,
                                                     'status', t.status) ORDER BY t.number)
                 FROM research_tasks t WHERE t.research_id = a.id), '[]') AS steps,
       (SELECT jsonb_build_object('agent', m.agent_type, 'step', m.step, 'message', m.content,
                                  'reasoning', m.reasoning, 'timestamp', m.created_at)
        FROM agent_messages m WHERE m.research_id = a.id ORDER BY m.id DESC LIMIT 1) AS said
FROM agent_workflows a JOIN workflows w ON w.id = a.workflow_id
CROSS JOIN LATERAL (
    SELECT count(*) AS urls_discovered, count(c.source_id) AS urls_scraped,
           count(*) FILTER (WHERE c.user_approval = 'pending') AS urls_offered,
           count(*) FILTER (WHERE c.user_approval = 'approved') AS urls_approved,
           count(*) FILTER (WHERE c.user_approval = 'approved'
                              AND (c.source_id IS NOT NULL OR c.fault IS NOT NULL)) AS urls_done
    FROM url_candidates c WHERE c.research_id = a.id) urls
CROSS JOIN LATERAL (
    SELECT count(*) AS points, count(*) FILTER (WHERE p.kind = 'relationship') AS relationships
    FROM research_points p WHERE p.research_id = a.id) known
WHERE a.id = %s
""".encode()
# Until it has ended well, however many of its steps are done.
_MOST_UNENDED = 99.0


class StepStanding(Record):
    """A planned step as it stands; `agent` is None where a person acts."""

    step: Step
    agent: AgentType | None
    status: Literal["planned", "running", "done", "skipped"]


_FIRST = StepStanding(step="classify_intent", agent="researcher", status="running")


class ResearchFigures(Record):
    """A research as it stands. `urls_offered` are those that nobody has decided on.

    `pending` is the approval that waits; `tree_shown`: the tree was laid out, and a person is asked.
    """

    task_type: TaskType | None
    status: WorkflowStatus
    parked_for: str | None
    error: str | None
    result: ResearchResult | None
    updated_at: datetime
    urls_discovered: int
    urls_scraped: int
    urls_offered: int
    urls_approved: int
    urls_done: int
    points: int
    relationships: int
    tree_id: int | None
    pending: str | None
    tree_shown: bool
    steps: tuple[StepStanding, ...]
    said: AgentReasoning | None

    @property
    def waits_for(self) -> str | None:
        """What it is parked for; one that runs again still says what it was parked for last."""
        return self.parked_for if self.status == "parked" else None

    @property
    def ended(self) -> bool:
        """Whether nothing more is done."""
        return self.status in ENDED_STATUSES

    @property
    def done(self) -> tuple[StepStanding, ...]:
        """The steps that are done; one that was skipped is not."""
        return tuple(each for each in self.steps if each.status == "done")

    @property
    def left(self) -> tuple[StepStanding, ...]:
        """The steps still to be done, the one under way first: those after the last one that is done.

        A gate that was planned, and that nobody is to be asked at any more, may stay `running` before it.
        """
        last = max((place for place, each in enumerate(self.steps) if each.status == "done"), default=-1)
        return tuple(each for each in self.steps[last + 1 :] if each.status != "skipped")

    @property
    def current(self) -> StepStanding:
        """The step under way; where none is left, the last one that was done."""
        if not self.steps:
            return _FIRST
        return self.left[0] if self.left else self.done[-1]

    @property
    def percentage(self) -> float:
        """By the steps that are done; 100 once it has ended well, and not before. It never goes down."""
        if self.status == "succeeded":
            return 100.0
        if not self.steps:
            return 0.0
        return min(round(100 * len(self.done) / len(self.steps), 1), _MOST_UNENDED)

    @property
    def urls_left(self) -> int | None:
        """Addresses that are still to be read, or may be; None while none is known."""
        if self.urls_approved:
            return self.urls_approved - self.urls_done
        return self.urls_offered or None


async def read(connection: Connection, research_id: int) -> ResearchFigures:
    """The figures of a research, in one statement; ResearchNotFound if there is none."""
    row = await (await connection.execute(_FIGURES, (research_id,))).fetchone()
    if row is None:
        raise ResearchNotFound(f"there is no research {research_id}")
    return ResearchFigures.model_validate(row)
