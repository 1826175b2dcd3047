"""What a research comes to: what people look at before it is kept, how it ended, and what is missing."""

from collections.abc import Mapping
from typing import Annotated

from models.record import Record
from models.research.agent_workflows import ResearchOutcome
from models.research.limits import LeftUndone, Limit
from models.research.synthesis import Synthesis
from models.research.trees import Tree
from models.research.url_lists import PageOutcome
from models.runtime.gated_kinds import Shown


class TreeReview(Record):
    """The tree that is kept once it is approved.

    `examples` are some of what is in each node; `notes` say why it is shown again.
    """

    question: Annotated[str, Shown("quote")]
    tree: Annotated[Tree, Shown("first")]
    examples: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


class TreeKept(Record):
    """The tree as it is kept; None where it was not, as others had changed the one that it grows from."""

    tree: Tree | None


class ReviewSource(Record):
    """A document that the sentences rest on. `points` are those of its points that they cite.

    `let_in_by` said that it may be read, with the approval of `approval_id`; where there is none, no gate
    stood. `given_by` is who pasted it, where it is a text that a person gave. Without `let_in_by` nobody of a
    research let it in: the project had it from elsewhere.
    """

    url: Annotated[str, Shown("link")]
    title: Annotated[str | None, Shown("quote")]
    points: tuple[int, ...]
    let_in_by: str | None = None
    approval_id: str | None = None
    given_by: str | None = None


class ResearchReview(Record):
    """The result that is handed over once it is approved, with the documents that its sentences rest on."""

    question: Annotated[str, Shown("quote")]
    tree_id: int | None
    synthesis: Annotated[Synthesis, Shown("first")]
    sources: tuple[ReviewSource, ...] = ()


class ResearchResult(Record):
    """How it ended: pages that were read, points that it rests on, and approved addresses without a text.

    `ended_at` is the gate that said no, or at which nobody decided in time. `limit` is the first limit that
    was reached. Its name is the fault of pages in `missing` that were not asked for; `left` is what else was
    not done, because of it or because it failed.
    """

    outcome: ResearchOutcome
    pages: int
    points: int
    tree_id: int | None = None
    sentences: int = 0
    ended_at: str | None = None
    missing: tuple[PageOutcome, ...] = ()
    limit: Limit | None = None
    left: tuple[LeftUndone, ...] = ()
