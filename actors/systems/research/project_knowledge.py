"""What a project knows already: discovery asks it before anybody else. Seed 002, FR2."""

from collections.abc import Collection, Mapping, Sequence

from actors.platform.system import AgentDirectory
from actors.systems.knowledge.querying import query_project, unsearched
from models.config import SearchConfig
from models.research.candidates import KnownPage
from models.store.database import Database
from models.store.knowledge import sources
from models.text import shortened

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
