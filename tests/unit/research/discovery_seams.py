"""What discovery stands on, as its tests give it: providers, a project, an embedder; and one call for all."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from math import hypot
from pathlib import Path
from zlib import crc32

from actors.platform.text.normal_form import words
from actors.platform.text.text_language import language_of_text
from actors.platform.web.providers.search import SearchProvider
from actors.systems.research.discovery.discover import discover
from actors.systems.research.discovery.queries import Asking, read_asking
from models.config import CandidatesConfig, DomainsConfig, ResearchConfig, load
from models.content.outside import DateRange, SearchAnswer, SearchHit, SearchKind
from models.research.candidates import Discovery, DiscoveryRequest, KnownPage

ROOT = Path(__file__).parents[3]
ASKING = ROOT / "configs/research/asking.yaml"
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
_SIZE = 128


class ListedHits:
    """A provider that has some hits, whatever it is asked; or an error. `asked` is what it was."""

    def __init__(
        self,
        hits: Iterable[SearchHit] = (),
        *,
        name: str = "searxng",
        note: str | None = None,
        error: Exception | None = None,
    ) -> None:
        self.name = name
        self.asked: list[tuple[str, int, str]] = []
        self._hits, self._note, self._error = tuple(hits), note, error

    async def search(
        self, kind: SearchKind, query: str, limit: int, date_range: DateRange = "any"
    ) -> SearchAnswer:
        self.asked.append((query, limit, date_range))
        if self._error is not None:
            raise self._error
        return SearchAnswer(provider=self.name, hits=self._hits, note=self._note)


class Known:
    """A project that holds some sources: those `found` by a question, and the ids of `held` addresses."""

    def __init__(self, found: Sequence[KnownPage] = (), held: Mapping[str, int] | None = None) -> None:
        self._found, self._held = found, held or {}
        self.asked: list[str] = []

    async def about(self, queries: Sequence[str], limit: int) -> Sequence[KnownPage]:
        self.asked.append("about")
        return self._found[:limit]

    async def held(self, urls: Collection[str]) -> Mapping[str, int]:
        self.asked.append("held")
        return {url: self._held[url] for url in urls if url in self._held}


class LetterVectors:
    """An embedder: near are texts of the same letter sequences. `texts` are those that it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return [letter_vector(text) for text in texts]


def letter_vector(text: str) -> list[float]:
    """Counts of a text's runs of four letters."""
    vector = [0.0] * _SIZE
    normal = f" {words(text)} "
    for start in range(len(normal) - 3):
        vector[crc32(normal[start : start + 4].encode()) % _SIZE] += 1.0
    length = hypot(*vector) or 1.0
    return [value / length for value in vector]


@cache
def _asking() -> Asking:
    return read_asking(ASKING)


@cache
def _shipped() -> ResearchConfig:
    return load(ROOT / "configs/local.yaml", root=ROOT).research


def settings(*, least: int = 10, most: int = 50, **domains: tuple[str, ...]) -> ResearchConfig:
    """The section `research`, with some domains that are trusted, preferred or never read."""
    own = {
        "domains": DomainsConfig(**domains),
        "candidates": CandidatesConfig(least=least, most=most),
    }
    return _shipped().model_copy(update=own)


async def discovered(
    request: DiscoveryRequest,
    *providers: SearchProvider,
    knowledge: Known | None = None,
    embedder: LetterVectors | None = None,
    config: ResearchConfig | None = None,
) -> Discovery:
    """`discover` at 1 July 2026, with what is given and nothing else."""
    return await discover(
        request,
        providers=providers,
        knowledge=knowledge or Known(),
        embedder=embedder,
        clip=lambda text: text[:500],
        language_of=language_of_text,
        asking=_asking(),
        settings=config or settings(),
        allow_internal=(),
        now=NOW,
    )
