"""What a drafted article comes from: what each branch is asked to find, and what it found.

The branches are agents of the chat; the graph of drafting (`actors/systems/drafting`) asks them.
"""

from typing import Literal

from models.content.articles import Cell, ResourceKind
from models.people.users import UserContext
from models.record import Record

Branch = Literal["web_search", "data_download", "resource_query"]
# The source of what a site without a provider tries things on.
SAMPLE = "sample"
# The branch that has what a question names itself: a series, or the address of a document.
NAMED: Branch = "data_download"
# What a research reads of a stored table at most, from its end.
STORED_ROWS = 500


class DraftingInput(Record):
    """What is asked for: a new draft, or the text of the draft `article_id`."""

    topic: str
    query: str
    article_id: int | None
    tonality: str | None


class MissingBranch(Record):
    """A branch that gave nothing, and why."""

    branch: Branch
    reason: str


class DraftingResult(Record):
    """What the workflow came to. `resources_created` are the new ones; the draft may rest on stored ones too.

    `failed_branches` could not search, `empty_branches` found nothing. `desk_notes` are those of the article
    (`ArticleVersion`).
    """

    status: Literal["completed", "not_enough"]
    article_id: int | None
    resources_created: tuple[int, ...]
    content_preview: str
    failed_branches: tuple[MissingBranch, ...]
    empty_branches: tuple[MissingBranch, ...]
    desk_notes: tuple[str, ...] = ()


class SearchBrief(Record):
    """What a branch is to look for, and for whom: every call is made as `caller`."""

    caller: UserContext
    topic: str
    query: str


class Finding(Record):
    """Something to write from. With `resource_id` it is stored already; otherwise it is to become a resource.

    A text has `content`, a table `columns` and `rows`. `source` is the provider, `url` where it was read.
    `article_id`: it is an article that this site published.
    """

    kind: ResourceKind
    name: str
    description: str | None
    content: str | None = None
    columns: tuple[str, ...] | None = None
    rows: tuple[tuple[Cell, ...], ...] | None = None
    source: str
    url: str | None = None
    resource_id: int | None = None
    article_id: int | None = None

    @property
    def is_sample(self) -> bool:
        """Whether it is sample data; what is stored says so in the first line of its description."""
        return self.source == SAMPLE or (self.description or "").split("\n", 1)[0] == origin(SAMPLE)


def origin(source: str) -> str:
    """The line of a resource's description that says where it comes from."""
    return f"source: {source}"


class Findings(Record):
    """What one branch found. `note` says what was wanting, such as a provider that is not configured."""

    branch: Branch
    found: tuple[Finding, ...]
    note: str | None = None
