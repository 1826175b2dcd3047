"""The agent `researcher`: finds pages about a question, for a person to decide on. Seed 002 §7.2.

It searches as the person who asked, fetches no page, and asks what the project knows first.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from actors.platform.search.chunks import Chunker
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.search.hybrid import HybridSearch
from actors.platform.system import AgentDirectory
from actors.platform.text.text_language import language_of_text
from actors.platform.web.providers.search import SearchContext, SearchProvider, providers_of
from actors.systems.knowledge.querying import query_project, unsearched
from actors.systems.research.discovery.discover import discover
from actors.systems.research.discovery.queries import Asking
from models.config import Config, SearchConfig
from models.people.users import UserContext
from models.research.candidates import Discovery, DiscoveryRequest, KnownPage
from models.store.database import Database
from models.store.knowledge import sources
from models.text import shortened

_POOL_SIZE = 4

_LONGEST_PASSAGE = 400


class StoredKnowledge:
    """The sources of one project, as `actors.systems.research.discovery.discover.ProjectKnowledge`."""

    def __init__(
        self, *, database: Database, agents: AgentDirectory, settings: SearchConfig, project_id: int
    ) -> None:
        self._database = database
        self._agents = agents
        self._settings = settings
        self._project_id = project_id

    async def about(self, queries: Sequence[str], limit: int) -> Sequence[KnownPage]:
        """Sources with the passages that bear on any of the queries; see the seam."""
        pages: dict[int, KnownPage] = {}
        for query in queries:
            found = await query_project(
                self._database,
                self._agents,
                self._settings,
                project_id=self._project_id,
                query=query,
                limit=limit,
            )
            for each in found.found:
                passage = each.passage
                if passage.url.startswith("urn:"):  # a text that somebody gave: it is nowhere to be read
                    continue
                pages.setdefault(
                    passage.source_id,
                    KnownPage(
                        id=passage.source_id,
                        url=passage.url,
                        title=passage.title or passage.url,
                        passage=shortened(passage.text, _LONGEST_PASSAGE),
                    ),
                )
        return list(pages.values())[:limit]

    async def unsearched(self) -> str | None:
        """What of the project was not searched, with the command that has it found the next time."""
        async with self._database.connection() as connection:
            return await unsearched(connection, self._project_id)

    async def held(self, urls: Collection[str]) -> Mapping[str, int]:
        """Those that were read; see the seam."""
        async with self._database.connection() as connection:
            found = await sources.by_urls(connection, self._project_id, list(urls))
        return {url: source.id for url, source in found.items() if source.text}


class Researcher:
    """Finds pages with the providers of `outside.search`, and scores them with the model of `embedding`."""

    def __init__(
        self,
        *,
        config: Config,
        asking: Asking,
        database_url: str,
        directory: AgentDirectory,
        embedder: Embedder | None = None,
    ) -> None:
        self._config = config
        self._asking = asking
        self._database_url = database_url
        self._directory = directory
        self._embedder = embedder or OpenAIEmbedder(settings=config.embedding, breaker=config.outages.breaker)
        self._opening = asyncio.Lock()
        self._chunker: Chunker | None = None

    async def discover(
        self, request: DiscoveryRequest, *, project_id: int, asked_by: UserContext, search: bool = True
    ) -> Discovery:
        """Candidates for a request; see `actors.systems.research.discovery.discover`.

        Args:
            search: False where only the request's own addresses are wanted.

        Raises:
            ProviderFailed, ProviderLimited, AddressRefused: every search failed, and nothing else was found.
            ModelUnavailable: the embedding model is away.
        """
        config = self._config
        chunker = await self._clipping()
        async with Database(url=self._database_url, pool_size=_POOL_SIZE) as database:
            knowledge = StoredKnowledge(
                database=database, agents=self._directory, settings=config.search, project_id=project_id
            )
            found = await discover(
                request,
                providers=self._providers(database, asked_by) if search else (),
                knowledge=knowledge,
                embedder=self._embedder,
                clip=chunker.clip,
                language_of=language_of_text,
                asking=self._asking,
                settings=config.research,
                allow_internal=config.outgoing.allow_internal,
            )
            note = await knowledge.unsearched() if search else None
            return found if note is None else found.model_copy(update={"notes": (*found.notes, note)})

    def _providers(self, database: Database, asked_by: UserContext) -> list[SearchProvider]:
        search = HybridSearch(database=database, semantic=None, settings=self._config.search)
        return providers_of(SearchContext(asked_by, self._config, database, search))

    async def _clipping(self) -> Chunker:
        async with self._opening:
            if self._chunker is None:
                self._chunker = await asyncio.to_thread(
                    lambda: Chunker(
                        settings=self._config.article_generation.knowledge_base,
                        embedding=self._config.embedding,
                    )
                )
            return self._chunker
