"""Pages: what is asked for, what was read of it, and why something was not. Seed 002, FR3.

A scraper makes them; the batch writes them to Parquet; what was read is kept as a source of a project.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from models.record import Record
from models.text import cut

Engine = Literal["http", "browser", "firecrawl"]
EngineChoice = Literal["auto", "http", "browser", "firecrawl"]
# Why there is no text of a page.
PageFault = Literal[
    "bad_url",  # no http or https address, or one that the URL guard refuses
    "refused_by_guard",  # it leads to an address that is not public
    "other_host",  # it leads to a host that was not approved
    "refused_by_robots",  # robots.txt says no, or asks for longer pauses than we wait
    "not_found",  # 404 and 410, or a page that says so with 200
    "login",  # 401, or it is shown to those who log in
    "consent",  # it is shown to those who accept cookies
    "challenge",  # it asks for proof of a human
    "forbidden",  # 403, 451
    "http_error",  # another status of 400 and above, or too many redirects
    "unreachable",  # no connection, no name, broken off; or its host's robots.txt can't be had
    "timeout",
    "too_large",
    "unsupported_type",
    "unreadable",  # it could not be unpacked, decoded or parsed, or not in time
    "no_text",  # it was read, and holds no text
    "error",  # the scraper's own: the log of the site has it
    "later",  # its host was busy, or asked to come back, for its robots.txt too; or Chromium ended under it
]

# What may be gone by itself: a batch that is submitted again tries these again, and no others.
PASSING: frozenset[PageFault] = frozenset(("later", "error", "unreachable", "timeout", "http_error"))


class PageCoverage(Record):
    """How much of a page stands in its text: characters that it shows, and those of them that were kept.

    `around` of the others are in menus, footers and the like. `left_out` are the beginnings of what else was
    not kept, and `others` says of how many more; `notes` are a reader's own, as of a PDF.
    """

    seen: int
    kept: int
    around: int = 0
    left_out: tuple[str, ...] = ()
    others: int = 0
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """Characters that were left out, and were not around the text."""
        return max(self.seen - self.kept - self.around, 0)

    @property
    def told(self) -> str | None:
        """What was left out, in a line; None where it is less than a tenth, and nothing is noted."""
        parts = list(self.notes)
        if self.left_out and 10 * self.lost > self.kept + self.lost:
            first = "; ".join(f"“{cut(part, 60)}”" for part in self.left_out[:3])
            whole = self.kept + self.lost
            parts.append(
                f"{self.lost:,} of {whole:,} characters that the page shows were left out, as {first}"
            )
        return "; ".join(parts) or None


class PageText(Record):
    """What was read of a page: its main text as Markdown, and what it says of itself.

    `date` is ISO 8601 (a day); `language` is ISO 639-1, of the text; `links` are absolute, without repeats.
    `coverage` is absent where nobody counted: of texts that were given as such.
    """

    text: str
    title: str | None
    author: str | None
    date: str | None
    language: str | None
    links: tuple[str, ...]
    coverage: PageCoverage | None = None


class ScrapedPage(Record):
    """A page that was asked for: with its text, or with the fault and its reason.

    `url` is as it was asked for; `final_url` is where it was read after all redirects, the base of its links.
    `sha256` is of the bytes that came (for a browser: of the page as it stood). `redacted` counts personal
    data that was taken out. `needs_browser`: the fault stands only where there is no browser to try.
    """

    url: str
    final_url: str | None = None
    engine: Engine | None = None
    status: int | None = None
    fetched_at: datetime | None = None
    content_type: str | None = None
    sha256: str | None = None
    bytes: int = 0
    page: PageText | None = None
    redacted: Mapping[str, int] = {}
    fault: PageFault | None = None
    reason: str | None = None
    retry_after_seconds: float | None = None
    needs_browser: bool = False

    @property
    def passing(self) -> bool:
        """Whether the fault may be gone by the next submission, which then tries again."""
        return self.fault in PASSING
