"""Knowledge: pages are scraped into projects, as sources of what is known. Seed 002."""

from typing import Any

from actors.platform.system import AgentDirectory, System
from actors.systems.knowledge.extraction.prompt import read_prompt
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from models.config import Config
from models.errors import ConfigInvalid
from models.knowledge.extraction import ExtractionResult, ExtractionTask
from models.runtime.workflow_kinds import WorkflowKind


def _scraper(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    return {"settings": ScrapingSettings.of(config), "directory": directory}


def _browser(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    return {
        "scraping": config.knowledge.scraping,
        "outgoing": config.outgoing,
        "directory": directory,
    }


def _host_turns(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    return {"scraping": config.knowledge.scraping, "outgoing": config.outgoing}


def _extractor(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    if directory.database_url is None:
        raise ConfigInvalid("the agent extractor reads the database: make the Directory with database_url")
    settings = config.knowledge.extraction
    return {
        "settings": settings,
        "breaker": config.outages.breaker,
        "prompt": read_prompt(settings),
        "embedding": config.embedding,
        "database_url": directory.database_url,
    }


def _knowledge_index(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    if directory.database_url is None:
        raise ConfigInvalid(
            "the agent knowledge_index reads the database: make the Directory with database_url"
        )
    return {
        "settings": config.knowledge.index,
        "chunks": config.article_generation.knowledge_base,
        "embedding": config.embedding,
        "search": config.search,
        "resources": config.agent("knowledge_index"),
        "breaker": config.outages.breaker,
        "database_url": directory.database_url,
        "directory": directory,
    }


SYSTEM = System(
    name="knowledge",
    roles={
        "host_turns": ("actors.systems.knowledge.agents.turn_keeper:TurnKeeper", _host_turns),
        "scraper": ("actors.systems.knowledge.agents.page_scraper:PageScraper", _scraper),
        "browser": ("actors.systems.knowledge.browsing.browser_engine:PageBrowser", _browser),
        "extractor": ("actors.systems.knowledge.agents.knowledge_extractor:KnowledgeExtractor", _extractor),
        "knowledge_index": (
            "actors.systems.knowledge.index.knowledge_index:KnowledgeIndex",
            _knowledge_index,
        ),
    },
    kinds=(
        WorkflowKind(
            name="extraction",
            graph="actors.systems.knowledge.extraction.graph:EXTRACTION",
            word=None,
            input=ExtractionTask,
            result=ExtractionResult,
            complex=True,
        ),
    ),
    tools=(
        "actors.systems.knowledge.tools.projects:create_project",
        "actors.systems.knowledge.tools.projects:list_projects",
        "actors.systems.knowledge.tools.projects:get_source",
        "actors.systems.knowledge.tools.projects:delete_source",
        "actors.systems.knowledge.tools.discovery:search_web",
        "actors.systems.knowledge.tools.scraping:scrape_urls",
        "actors.systems.knowledge.tools.saving:save_to_database",
        "actors.systems.knowledge.tools.querying:query_knowledge_base",
        "actors.systems.knowledge.tools.entities:list_entities",
        "actors.systems.knowledge.tools.entities:get_entity",
        "actors.systems.knowledge.tools.entities:undo_merge",
    ),
)
