"""What search brings: the two agents that find by meaning. It belongs to no system; several ask it."""

from typing import Any

from actors.platform.system import AgentDirectory, System
from models.config import Config
from models.errors import ConfigInvalid


def _knowledge_base(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    return {
        "settings": config.article_generation.knowledge_base,
        "embedding": config.embedding,
        "breaker": config.outages.breaker,
    }


def _search_index(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    if directory.database_url is None:
        raise ConfigInvalid("the agent search_index reads the database: make the Directory with database_url")
    return {
        "settings": config.article_generation.knowledge_base,
        "embedding": config.embedding,
        "search": config.search,
        "breaker": config.outages.breaker,
        "database_url": directory.database_url,
    }


SYSTEM = System(
    name="search",
    roles={
        "knowledge_base": ("actors.platform.search.knowledge_base:VectorIndex", _knowledge_base),
        "search_index": ("actors.platform.search.article_index:SearchIndex", _search_index),
    },
)
