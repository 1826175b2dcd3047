"""Which pages are candidates, and in which order: filtered, scored, folded, and no more than are wanted.

Called by discovery. Every address of a page ends as a candidate's, folded into one, or counted. The set does
not depend on the order in which hits came; only candidates that score the same lie in it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from actors.platform.web.providers.freshness import Freshness
from actors.systems.research.discovery.folding import ScoredPage, folded
from actors.systems.research.discovery.pages import FoundPage
from actors.systems.research.discovery.scoring import WEAK, Scorer, Vector
from models.config import CandidatesConfig
from models.domains import registrable_domain, standing_over
from models.research.candidates import DiscoveryRequest, LeftOutReason, UrlCandidate

# A text's ISO 639-1 code, where it is plain.
LanguageOf = Callable[[str], str | None]

_TITLE = 300


class Wanted:
    """Which pages a request asks for. The person's own are always wanted."""

    def __init__(self, request: DiscoveryRequest, *, now: datetime) -> None:
        self._only = frozenset(request.domains)
        self._without = frozenset(request.without_domains)
        self._language = request.language
        self._freshness = Freshness(request.date_range, now=now)

    def reason_against(self, page: FoundPage) -> LeftOutReason | None:
        """Why a page is left out; None where it is wanted. What nobody knows of it speaks for it."""
        if page.own:
            return None
        if self._only and standing_over(page.host, self._only) is None:
            return "other_domain"
        if standing_over(page.host, self._without) is not None:
            return "excluded_domain"
        if not self._freshness.admits(page.published_at):
            return "too_old"
        if self._language != "any" and page.language not in (None, self._language):
            return "other_language"
        return None


def wanted_pages(
    pages: Sequence[FoundPage], request: DiscoveryRequest, *, now: datetime, language_of: LanguageOf
) -> tuple[list[FoundPage], Counter[LeftOutReason]]:
    """The pages that a request asks for, with their languages where those are plain; and what was not."""
    wanted, left_out, kept = Wanted(request, now=now), Counter[LeftOutReason](), []
    for page in pages:
        if page.language is None and page.title:
            page = page._replace(language=language_of(page.text))
        if (reason := wanted.reason_against(page)) is not None:
            left_out[reason] += page.addresses
        else:
            kept.append(page)
    return kept, left_out


def ranked(
    pages: Sequence[FoundPage],
    vectors: Sequence[Vector] | None,
    scorer: Scorer,
    *,
    settings: CandidatesConfig,
    max_urls: int,
) -> tuple[tuple[UrlCandidate, ...], Counter[LeftOutReason]]:
    """The candidates, the person's own first, then the best; and what was left out.

    Args:
        vectors: of the pages' texts, in their order; None where there are none.
    """
    scored = [
        ScoredPage(
            page,
            scorer.score(
                title=page.title or page.text,
                snippet=page.snippet,
                language=page.language,
                vector=vectors[place] if vectors is not None else None,
                published=page.published,
                rating=page.rating,
            ),
        )
        for place, page in enumerate(pages)
    ]
    standing = sorted(folded(scored), key=lambda one: (not one.page.own, -one.score.value, one.page.url))
    limit = most_wanted(settings, max_urls)
    least = min(settings.least, limit)
    left_out, kept = Counter[LeftOutReason](), list[ScoredPage]()
    for place, one in enumerate(standing):
        if not one.page.own and place >= least and one.score.value < WEAK:
            left_out["weak"] += one.addresses
        elif not one.page.own and place >= limit:
            left_out["over_limit"] += one.addresses
        else:
            kept.append(one)
    kept.sort(key=_order)
    return tuple(_candidate(number, one) for number, one in enumerate(kept, 1)), left_out


def most_wanted(settings: CandidatesConfig, max_urls: int) -> int:
    """How many candidates there may be: what the site says, and the request."""
    return min(settings.most, max_urls)


def _order(one: ScoredPage) -> tuple[bool, int, float, int, str]:
    """The person's own as he gave them, then by score; of the same score, as they were found."""
    page = one.page
    return not page.own, page.place if page.own else 0, -one.score.value, page.place, page.url


def _candidate(number: int, one: ScoredPage) -> UrlCandidate:
    page, known = one.page, one.known
    others = [*page.others, *(url for each in one.folded for url in (each.url, *each.others))]
    said = ["given by you"] if page.own else []
    said += ["known already"] if known is not None else []
    return UrlCandidate(
        number=number,
        url=page.url,
        title=page.title or page.url[:_TITLE],
        snippet=page.snippet,
        score=one.score.value,
        published=page.published.isoformat() if page.published is not None else None,
        source=page.source,
        language=page.language,
        domain=registrable_domain(page.host),
        rating=page.rating,
        folded=tuple(others),
        known=known,
        why=", ".join([*said, one.score.why]),
    )
