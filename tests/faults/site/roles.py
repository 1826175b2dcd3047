"""What the campaign's processes are: a runner with its agents inside, a dispatcher, a replica of the app,
a batch's driver, one of pages.

The agents are the product's own classes, asking the scripted model server over HTTP, those of the chat too;
only the branches of a drafted article's research, the knowledge base, the search indices and hosts' turns are
played.
"""

import asyncio
import importlib
import logging
import math
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from actors.platform import systems
from actors.platform.runtime.outbox import Dispatcher
from actors.platform.runtime.runner import Runner
from actors.platform.system import AgentRole
from actors.platform.systems import load
from actors.systems.knowledge.parsing.page_reading import PageReading, UnreadablePage
from actors.systems.knowledge.scraping.open_scraper import open_scraper
from actors.systems.knowledge.scraping.scraper import Scraper
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from models.config import Config
from models.content.editorial import Passage
from models.knowledge.pages import EngineChoice, PageText
from models.knowledge.reach import PageReach
from models.store.database import Database
from tests.fakes.agents import ROLES as TEST_ROLES
from tests.fakes.cast import Cast
from tests.fakes.local_agents import LocalAgent, NoIndex
from tests.fakes.outside.open_turns import OpenTurns
from tests.faults import defects
from tests.faults.site import knowledge_driver
from tests.faults.site.books import BOOKS, WRITTEN
from tests.faults.site.chooser import PlayedChooser
from tests.faults.site.counting import count_when_asked
from tests.faults.site.driver import drive
from tests.faults.site.kinds import kinds
from tests.faults.site.pages import UNREADABLE_TEXT
from tests.faults.site.telling import tell_when_asked


@dataclass(frozen=True)
class Order:
    """A process that is to be. `name` is unique; `topics` is a driver's folder.

    `called` is what a runner calls itself, where that is another's name.
    """

    role: Literal["runner", "dispatcher", "api", "driver", "knowledge_driver"]
    name: str
    config: str
    url: str
    log: str
    release: int = 1
    defect: int | None = None
    port: int = 0
    topics: str = ""
    called: str = ""


def live(order: Order) -> None:
    """Be that process, until SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    tell_when_asked()
    if order.defect:
        defects.put_back(order.defect)
    config = load(Path(order.config), root=Path(order.config).parent)
    _ROLES[order.role](order, config)


def _runner(order: Order, config: Config) -> None:
    async def run() -> None:
        async with Database(
            url=order.url,
            pool_size=config.database.pool_size,
            patience_seconds=math.inf,
            application=f"signoff {order.name}",
        ) as database:
            runner = Runner(
                name=order.called or order.name,
                config=config,
                database=database,
                directory=_Players(config, order.url, _played(config)),  # type: ignore[arg-type]
                kinds=kinds(order.release),
            )
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, runner.stop)
            count_when_asked(database, Path(order.log))
            await runner.run()

    asyncio.run(run())


def _dispatcher(order: Order, config: Config) -> None:
    async def run() -> None:
        async with Database(url=order.url, pool_size=4, application=f"signoff {order.name}") as database:
            dispatcher = Dispatcher(config=config, database=database, poll_seconds=0.2)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, dispatcher.stop)
            await dispatcher.run()

    asyncio.run(run())


def _api(order: Order, config: Config) -> None:
    import uvicorn

    from serve.answering import ChatAgents
    from serve.api import make_app

    players: Any = _Players(config, order.url, {"search_index": NoIndex()})
    app = make_app(config, order.url, assistant=ChatAgents(players))
    uvicorn.run(app, host="127.0.0.1", port=order.port, log_level="warning", timeout_graceful_shutdown=1)


def _driver(order: Order, config: Config) -> None:
    drive(Path(order.topics), config, order.url)


def _knowledge_driver(order: Order, config: Config) -> None:
    players: Any = _Players(config, order.url, {})
    knowledge_driver.drive(Path(order.topics), config, order.url, players)


_ROLES: dict[str, Callable[[Order, Config], None]] = {
    "runner": _runner,
    "dispatcher": _dispatcher,
    "api": _api,
    "driver": _driver,
    "knowledge_driver": _knowledge_driver,
}


class _Players:
    """Stands where a directory does: every agent lives in this process. Some are played."""

    def __init__(self, config: Config, database_url: str, played: dict[str, Any]) -> None:
        self.database_url = database_url
        self._config = config
        self._agents = {role: LocalAgent(player) for role, player in played.items()}

    def agent(self, role: str) -> Any:
        """The agent of a role, made when it is first asked for."""
        if role not in self._agents:
            table: dict[str, AgentRole] = {**systems.roles(), **TEST_ROLES}
            path, arguments = table[role]
            module, _, name = path.partition(":")
            made = getattr(importlib.import_module(module), name)
            given: dict[str, Any] = {**arguments(self._config, self)}  # type: ignore[arg-type]
            if BOOKS.get(role) == WRITTEN:
                given |= {"chooses": "model", "completions": PlayedChooser()}
            self._agents[role] = LocalAgent(made(**given))
        return self._agents[role]


def _played(config: Config) -> dict[str, Any]:
    """Who is played in a runner: what a research looks into, and the knowledge base."""
    cast = Cast(config)
    branches = ("web_search", "data_download", "resource_query")
    return {
        "knowledge_base": _EmptyKnowledgeBase(),
        "knowledge_index": NoIndex(),
        "scraper": _Scraper(config),
        **{branch: cast.agent(branch) for branch in branches},
    }


class _Scraper:
    """The agent `scraper`, whose hosts have no turns, and whose readers give up on one text.

    Its engines are opened with the first page.
    """

    def __init__(self, config: Config) -> None:
        self._settings = ScrapingSettings.of(config)
        self._opening = asyncio.Lock()
        self._scraper: Scraper | None = None

    async def scrape(self, url: str, engine: EngineChoice = "auto", reach: PageReach | None = None) -> Any:
        return await (await self._open()).scrape(url, engine, reach)

    async def read_text(self, page: PageText) -> PageReading:
        if page.text == UNREADABLE_TEXT:
            raise UnreadablePage("it can't be read in time", "timeout")
        return await (await self._open()).read_text(page)

    async def _open(self) -> Scraper:
        async with self._opening:
            if self._scraper is None:
                # Kept, because what it opens is closed when nobody holds it any more.
                self._engines = open_scraper(self._settings, OpenTurns())
                self._scraper = await self._engines.__aenter__()
            return self._scraper


class _EmptyKnowledgeBase:
    """A knowledge base without documents."""

    async def refresh(self) -> str:
        return "none"

    async def version(self) -> str:
        return "none"

    async def search(self, query: str, top_k: int) -> list[Passage]:
        return []
