"""What a research came to, and what is missing from it."""

from typing import Literal

from models.record import Record
from models.research.url_lists import PageOutcome

# `expired`: nobody decided which pages may be read; `nothing_read`: none of those could be.
ResearchOutcome = Literal["done", "rejected", "expired", "nothing_found", "nothing_read"]


class ResearchResult(Record):
    """How it ended: pages that were read, points that were found, and approved addresses without a text."""

    outcome: ResearchOutcome
    pages: int
    points: int
    missing: tuple[PageOutcome, ...] = ()
