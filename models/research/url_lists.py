"""What a person decides on: addresses that may be read, and those that could not be. Seed 002 §5.

Each is the content of an approval, and its digest covers all of it. Titles and snippets are untrusted text.
"""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from models.knowledge.pages import PageFault
from models.record import Record
from models.research.agent_workflows import ResearchOptions, Url
from models.research.candidates import LeftOut, RefusedUrl, StoredText, UrlCandidate
from models.research.limits import LIMITS, Limit
from models.runtime.gated_kinds import Shown
from models.tools import Label, PlainText

LONGEST_PASTED = 1_000_000


class UrlList(Record):
    """The addresses that are read once it is approved, in the order in which they are shown.

    `stored`, `refused`, `left_out` and `notes` say what else was found, and why it is not among them.
    `remarks` are words of whoever changed it.
    """

    question: Annotated[str, Shown("quote")]
    urls: Annotated[
        tuple[UrlCandidate, ...], Shown("table", columns=("number", "title", "url", "score", "published"))
    ]
    config: ResearchOptions
    stored: tuple[StoredText, ...] = ()
    refused: tuple[RefusedUrl, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: str | None = None

    @model_validator(mode="after")
    def _each_once(self) -> "UrlList":
        for what in ("number", "url"):
            if len({getattr(url, what) for url in self.urls}) < len(self.urls):
                raise ValueError(f"two addresses have the same {what}")
        return self


class ApprovedUrl(Record):
    """An address that may be read, by its number in the list."""

    number: int
    url: str


class ApprovedUrls(Record):
    """What may be read, and how to go on. Without `approval_id` no gate stood."""

    urls: tuple[ApprovedUrl, ...]
    config: ResearchOptions
    approval_id: str | None = None
    decided_by: str | None = None


class PageOutcome(Record):
    """What came of an address: a source of the project, or a fault; `reason` says why, or what was left out.

    The fault may be a limit's name: then it was not asked for.
    """

    number: int
    url: Annotated[str, Shown("link")]
    source_id: int | None = None
    fault: PageFault | Limit | None = None
    reason: str | None = None

    @property
    def limit(self) -> Limit | None:
        """The limit that kept it from being read."""
        return next((limit for limit in LIMITS if limit == self.fault), None)


def _readable(text: str) -> str:
    # What some documents are copied as has no letter in it, though it looks like text where it was copied.
    if not any(map(str.isalnum, text)):
        raise ValueError("it holds no letter and no digit: paste the words of the page")
    return text


class PastedText(Record):
    """The text of a page, as somebody has it."""

    text: Annotated[PlainText, Field(max_length=LONGEST_PASTED), AfterValidator(_readable)]
    title: Annotated[Label, Field(max_length=500)] | None = None


class InsteadOf(Record):
    """What is taken in place of an address that could not be read: another address, or its text."""

    number: Annotated[int, Field(strict=True)]
    url: Url | None = None
    pasted: PastedText | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "InsteadOf":
        if (self.url is None) == (self.pasted is None):
            raise ValueError("give either url or pasted: another address, or the text")
        return self


class GivenInstead(InsteadOf):
    """What a person gave, and who it was."""

    by: str | None = None


class UnreadableList(Record):
    """Approved addresses that could not be read. Approved as it is shown, the work goes on without them.

    `instead` is what a person gives in place of some; `read` is how many could be read.
    """

    question: Annotated[str, Shown("quote")]
    unreadable: Annotated[
        tuple[PageOutcome, ...], Shown("table", columns=("number", "url", "fault", "reason"))
    ]
    read: int
    instead: tuple[GivenInstead, ...] = ()

    @model_validator(mode="after")
    def _of_these(self) -> "UnreadableList":
        numbers = {outcome.number for outcome in self.unreadable}
        given = [one.number for one in self.instead]
        if stray := set(given) - numbers:
            raise ValueError(f"instead: {min(stray)} is not among those that could not be read")
        if len(set(given)) < len(given):
            raise ValueError("instead: something is given twice for one address")
        return self
