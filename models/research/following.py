"""Research as people follow it: lists, what agents said and did, results, and lineage. Seed 002 §8.1.

Pages of a list lead on: `next_after` and `next_before` are None on the last one.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from models.knowledge.points import PointKind
from models.record import Record
from models.research.agent_workflows import AgentType, AgentWorkflowStatus, ResearchOutcome, Step
from models.research.intents import TaskType
from models.research.results import ResearchResult
from models.research.synthesis import SentenceOutcome, SynthesisCounts
from models.research.trees import TreeExport


class ResearchSummary(Record):
    """A line of a list of researches. `waits_for_decision`: at a gate that nobody has decided on yet.

    `outcome` is how it ended, where it is completed; `reason` why it ended without what was asked for.
    """

    id: int
    name: str
    status: AgentWorkflowStatus
    task_type: TaskType | None
    project_id: int
    topic: str
    requested_by: str
    parent_workflow_id: int | None
    waits_for_decision: bool
    outcome: ResearchOutcome | None = None
    reason: str | None = None
    created_at: datetime
    updated_at: datetime


class ResearchList(Record):
    """Researches, the newest first."""

    workflows: tuple[ResearchSummary, ...]
    next_before: int | None = None


class AgentMessage(Record):
    """What an agent did at a step, and why (`agent_messages` of the seed)."""

    id: int
    agent_type: AgentType
    step: Step
    content: str
    reasoning: str
    metadata: Mapping[str, Any]
    created_at: datetime


class ResearchMessages(Record):
    """What the agents of a research said, the oldest first."""

    workflow_id: int
    messages: tuple[AgentMessage, ...]
    next_after: int | None = None


class ToolUse(Record):
    """A call of a tool by an agent (`workflow_tools` of the seed)."""

    id: int
    tool_name: str
    agent_type: AgentType
    input: Mapping[str, Any]
    output: Mapping[str, Any] | None
    status: Literal["ok", "failed"]
    error_message: str | None
    duration_ms: int
    created_at: datetime


class ResearchToolUses(Record):
    """The calls of tools in a research, the oldest first."""

    workflow_id: int
    tools: tuple[ToolUse, ...]
    next_after: int | None = None


class ResearchUrl(Record):
    """An address of a research: who let it in or kept it out, and what came of it.

    Without `approval_id` no gate stood. `instead_of` is the number of the one that it was given in place of;
    `pasted_by` gave a text in place of this one.
    """

    number: int
    url: str
    title: str
    score: float
    source: str
    user_approval: Literal["pending", "approved", "rejected"]
    decided_by: str | None
    approval_id: str | None
    instead_of: int | None
    pasted_by: str | None = None
    source_id: int | None
    fault: str | None
    reason: str | None


class ResultSentence(Record):
    """A sentence of a result, in its order; `points` are the ids of what it cites."""

    number: int
    node: str
    heading: str
    text: str
    points: tuple[int, ...]
    outcome: SentenceOutcome
    reason: str


class ResearchResults(Record):
    """What a research has come to so far: `result` is there once it has ended well.

    `sentences` holds dropped ones, too: `counts` says how many came to what. `approved`: whether a person
    said yes to them; None where none was asked, or nobody has decided yet. `ended_by` is who said no at the
    gate that it ended at, and `reason` why it ended without what was asked for.
    """

    workflow_id: int
    status: AgentWorkflowStatus
    result: ResearchResult | None
    urls: tuple[ResearchUrl, ...]
    tree: TreeExport | None
    counts: SynthesisCounts
    sentences: tuple[ResultSentence, ...]
    approved: bool | None
    ended_by: str | None = None
    reason: str | None = None


class LetIn(Record):
    """Who let a page in. Without `approval_id` no gate stood: it was read on the word of whoever asked.

    `digest` is of the list that was approved, `workflow_id` the research that this was in; `given_by` is who
    pasted the text, where it is one.
    """

    workflow_id: int
    number: int
    by: str | None
    approval_id: str | None
    digest: str | None
    at: datetime | None
    given_by: str | None = None


class LineageSource(Record):
    """Where points were read. `sha256` is of the bytes that were fetched, `text_sha256` of their text.

    `source_id` is None once the source was deleted; `let_in` where nobody of a research let it in: a batch,
    or a person's own upload, brought it.
    """

    url: str
    final_url: str | None
    title: str | None
    source_id: int | None
    sha256: str | None
    text_sha256: str
    let_in: LetIn | None


class LineagePoint(Record):
    """A point and the exact words that it rests on: characters `start` to `end` of its source's text.

    `source` is its place in the lineage's `sources`, from 0.
    """

    point_id: int
    kind: PointKind
    statement: str
    start: int
    end: int
    quote: str
    source: int


class ResearchPoints(Record):
    """What a research rests on, by the ids of points, whether a sentence cites it or not."""

    workflow_id: int
    points: tuple[LineagePoint, ...]
    sources: tuple[LineageSource, ...]
    next_after: int | None = None


class ResearchLineage(Record):
    """The way back: from each sentence to its points, their spans, documents and whoever let these in."""

    workflow_id: int
    sentences: tuple[ResultSentence, ...]
    points: tuple[LineagePoint, ...]
    sources: tuple[LineageSource, ...]
