"""Near-duplicates folded: one page stands for those that show the same text, and names their addresses.

Called by discovery with pages that have a score. Pages are taken in the order in which they would stand
(the person's own, trusted, https, best score), so each is folded into one that stands, and into none that is
itself folded. Only pages that share a run of words are compared, each with a few: near-linear.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from actors.systems.research.discovery.pages import FoundPage, standing_of
from actors.systems.research.discovery.same_text import TextForm, same_text, text_form
from actors.systems.research.discovery.scoring import Score

# Pages that one is compared with, and those that a run of words is remembered of: more share boilerplate.
_MOST_COMPARED = 8
_MOST_REMEMBERED = 32


class ScoredPage(NamedTuple):
    """A page with its score; `folded` are the pages of the same text."""

    page: FoundPage
    score: Score
    folded: tuple[FoundPage, ...] = ()

    @property
    def addresses(self) -> int:
        return sum(page.addresses for page in (self.page, *self.folded))

    @property
    def known(self) -> int | None:
        """The source that the project holds of it, or of the same text elsewhere."""
        ids = [page.known for page in (self.page, *self.folded) if page.known is not None]
        return ids[0] if ids else None


def folded(pages: Sequence[ScoredPage]) -> list[ScoredPage]:
    """Those that stand, each with what it stands for. The person's own addresses always stand."""
    standing: list[ScoredPage] = []
    forms: list[TextForm] = []
    under: dict[int, list[FoundPage]] = defaultdict(list)
    by_shingle: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for scored in sorted(pages, key=_standing):
        page = scored.page
        form = text_form(page.url, page.title, page.snippet, page.published)
        shingles = form.shingles
        shared = Counter(at for shingle in shingles for at in by_shingle.get(shingle, ()))
        likest = sorted(shared, key=lambda at: (-shared[at], at))[:_MOST_COMPARED]
        same = next((at for at in likest if same_text(forms[at], form)), None)
        if same is not None and not page.own:
            under[same].append(page)
            continue
        for shingle in shingles:
            if len(by_shingle[shingle]) < _MOST_REMEMBERED:
                by_shingle[shingle].append(len(standing))
        standing.append(scored)
        forms.append(form)
    return [one._replace(folded=tuple(under.get(at, ()))) for at, one in enumerate(standing)]


def _standing(scored: ScoredPage) -> tuple[bool, int, bool, float, str]:
    page = scored.page
    return (
        not page.own,
        standing_of(page.rating),
        not page.url.startswith("https:"),
        -scored.score.value,
        page.url,
    )
