"""Knowledge: pages are scraped into projects, as sources of what is known. Seed 002."""

from typing import Any

from actors.knowledge.extraction.prompt import read_prompt
from actors.knowledge.scraping.scraping_settings import ScrapingSettings
from actors.system import AgentDirectory, System
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
        "host_turns": ("actors.knowledge.agents.turn_keeper:TurnKeeper", _host_turns),
        "scraper": ("actors.knowledge.agents.page_scraper:PageScraper", _scraper),
        "browser": ("actors.knowledge.agents.page_browser:PageBrowser", _browser),
        "extractor": ("actors.knowledge.agents.knowledge_extractor:KnowledgeExtractor", _extractor),
        "knowledge_index": ("actors.knowledge.index.knowledge_index:KnowledgeIndex", _knowledge_index),
    },
    kinds=(
        WorkflowKind(
            name="extraction",
            graph="actors.knowledge.extraction.graph:EXTRACTION",
            word=None,
            input=ExtractionTask,
            result=ExtractionResult,
            complex=True,
        ),
    ),
    tools=(
        "actors.knowledge.tools.projects:create_project",
        "actors.knowledge.tools.projects:list_projects",
        "actors.knowledge.tools.projects:get_source",
        "actors.knowledge.tools.projects:delete_source",
        "actors.knowledge.tools.discovery:search_web",
        "actors.knowledge.tools.scraping:scrape_urls",
        "actors.knowledge.tools.saving:save_to_database",
        "actors.knowledge.tools.querying:query_knowledge_base",
        "actors.knowledge.tools.entities:list_entities",
        "actors.knowledge.tools.entities:get_entity",
        "actors.knowledge.tools.entities:undo_merge",
    ),
)
