"""Candidates: pages that may be read for a question, and why. Seed 002, FR2 and §4 (`url_candidates`).

Discovery makes them; a person decides which of them are read. Titles and snippets are untrusted text of
outsiders. What must not be read is no candidate: it is counted, and named where the person asked for it.
"""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from models.content.outside import DateRange
from models.domains import domain_form
from models.record import Record
from models.runtime.gated_kinds import Shown

Rating = Literal["trust", "prefer", "neutral", "never"]
# Why an address that was found is not among the candidates.
LeftOutReason = Literal[
    "bad_address",  # it is none of the web, or may not be fetched from here
    "never",  # the site never reads its domain
    "other_domain",  # it is not under a domain that was asked for
    "excluded_domain",  # it is under a domain that was not to be asked
    "too_old",  # it is older than was asked for
    "other_language",  # it is plainly in another language than was asked for
    "weak",  # it has little to do with the question, and there are better ones enough
    "over_limit",  # there are as many better ones as were asked for
]
USER, KNOWLEDGE = "user", "knowledge"
MOST_URLS = 200
LONGEST_URL = 2000
_LANGUAGE = re.compile(r"[a-z]{2}\Z")
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"

Domain = Annotated[str, AfterValidator(domain_form)]
IsoDate = Annotated[str, Field(pattern=_DATE)]
Likeness = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
SearchWords = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


class DiscoveryRequest(Record):
    """What is to be found. `queries` are those of a plan; without them the question's own words are asked.

    `domains`: only what lies under one of them; `without_domains`: nothing that does. `language` is an ISO
    639-1 code, or `any`. `urls` are the person's own: neither dates, domains nor languages filter them.
    """

    question: SearchWords
    queries: tuple[SearchWords, ...] = Field(default=(), max_length=50)
    max_urls: int = Field(default=50, ge=1, le=MOST_URLS)
    date_range: DateRange = "any"
    language: str = "any"
    domains: tuple[Domain, ...] = Field(default=(), max_length=100)
    without_domains: tuple[Domain, ...] = Field(default=(), max_length=100)
    urls: tuple[Annotated[str, Field(max_length=LONGEST_URL)], ...] = Field(default=(), max_length=MOST_URLS)

    @field_validator("language")
    @classmethod
    def _code(cls, language: str) -> str:
        if language != "any" and not _LANGUAGE.match(language):
            raise ValueError(f"{language!r} is no language: write a code of two letters, such as pl, or any")
        return language

    @model_validator(mode="after")
    def _agrees(self) -> "DiscoveryRequest":
        if both := sorted(set(self.domains).intersection(self.without_domains)):
            raise ValueError(f"{both[0]} is in domains and in without_domains: leave it in one of them")
        if len(set(self.urls)) > self.max_urls:
            raise ValueError(
                f"max_urls is {self.max_urls}, and urls are {len(set(self.urls))}: "
                "raise it, or give fewer of them"
            )
        return self


class KnownPage(Record):
    """A source that the project holds: its id, where it was read, and what of it bears on the question."""

    id: int
    url: str
    title: str
    passage: str = ""
    published: str | None = None
    language: str | None = None


class UrlCandidate(Record):
    """A page that may be read. `number` is its place, from 1.

    `score` is how much it bears on the question, 0 to 1; `why` says what that rests on. `published` is None
    where nobody says when it was, and `language` where it is not plain. `source` is the provider that found
    it, `user` or `knowledge`. `folded` are other addresses of this page and of the same text elsewhere;
    `known` is the id of the project's source that was read there. `rating` is the site's own, of its domain.
    """

    number: int = Field(ge=1)
    url: Annotated[str, Shown("link")]
    title: Annotated[str, Shown("quote")]
    snippet: Annotated[str, Shown("quote")]
    score: Likeness
    published: IsoDate | None
    source: str
    language: str | None
    domain: str
    rating: Rating
    folded: tuple[str, ...] = ()
    known: int | None = None
    why: str = ""

    @model_validator(mode="after")
    def _may_be_read(self) -> "UrlCandidate":
        if self.rating == "never":
            raise ValueError(f"{self.domain} is never read: its pages are no candidates")
        return self


class StoredText(Record):
    """What the site itself has of it, and need not read: `stored_as` is `article:17` or `resource:5`."""

    stored_as: str
    title: str
    snippet: str
    score: Likeness
    published: IsoDate | None
    source: str


class RefusedUrl(Record):
    """An address that the person gave and that is not read, with the reason; `url` is as he wrote it."""

    url: str
    rating: Rating
    reason: str


class LeftOut(Record):
    """How many addresses, and texts that are stored here, were left out for one reason."""

    reason: LeftOutReason
    count: int = Field(ge=1)


class Discovery(Record):
    """What was found: the person's own addresses first, then the best first.

    Each address that was found is a candidate's, folded into one, or counted in `left_out`. `queries` are
    what the search engines were asked; `notes` say what kept the search from being whole.
    """

    queries: tuple[str, ...]
    candidates: tuple[UrlCandidate, ...]
    stored: tuple[StoredText, ...] = ()
    refused: tuple[RefusedUrl, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
