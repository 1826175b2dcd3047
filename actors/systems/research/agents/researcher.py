"""The agent `researcher`: finds pages about a question, for a person to decide on. Seed 002 §7.2.

It searches as the person who asked, fetches no page, and asks what the project knows first.
"""

import asyncio

from actors.platform.search.chunks import Chunker
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.search.hybrid import HybridSearch
from actors.platform.system import AgentDirectory
from actors.platform.text.text_language import language_of_text
from actors.platform.web.providers.search import SearchContext, SearchProvider, providers_of
from actors.systems.research.discovery.discover import discover
from actors.systems.research.discovery.queries import Asking
from actors.systems.research.project_knowledge import StoredKnowledge
from models.config import Config
from models.people.users import UserContext
from models.research.candidates import Discovery, DiscoveryRequest
from models.store.database import Database

_POOL_SIZE = 4


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
