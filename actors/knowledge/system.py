"""Knowledge: pages are scraped into projects, as sources of what is known. Seed 002."""

from typing import Any

from actors.knowledge.scraping.scraping_settings import ScrapingSettings
from actors.system import AgentDirectory, System
from models.config import Config


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


SYSTEM = System(
    name="knowledge",
    roles={
        "host_turns": ("actors.knowledge.agents.turn_keeper:TurnKeeper", _host_turns),
        "scraper": ("actors.knowledge.agents.page_scraper:PageScraper", _scraper),
        "browser": ("actors.knowledge.agents.page_browser:PageBrowser", _browser),
    },
    tools=(
        "actors.knowledge.tools.projects:create_project",
        "actors.knowledge.tools.projects:list_projects",
        "actors.knowledge.tools.projects:get_source",
        "actors.knowledge.tools.projects:delete_source",
        "actors.knowledge.tools.scraping:scrape_urls",
    ),
)
