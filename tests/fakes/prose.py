"""A site whose model writes: what most tests of agents are about; those of quotations take local.yaml's."""

from typing import Any

from models.config import Config
from models.content.quoting import Written

_WRITER = {"max_tokens": 400, "max_retries": 2}
_REVIEW = {"max_tokens": 160, "max_retries": 2}
_DRAFTER = {"max_tokens": 500, "max_retries": 2}
_ASSISTANT = {"max_tokens": 160}


def in_prose(raw: dict[str, Any]) -> dict[str, Any]:
    """The settings of configs/local.yaml, with models that write."""
    agents = raw["article_generation"]["agents"]
    agents["writer_llm"].update(writes="prose", **_WRITER)
    agents["article_review_llm"].update(_REVIEW)
    raw["drafting"]["llm"].update(writes="prose", **_DRAFTER)
    raw["chat"]["assistant_llm"].update(writes="prose", **_ASSISTANT)
    return raw


def written(config: Config, how: Written) -> Config:
    """The configuration with a writer that writes so."""
    desk = config.article_generation
    writer = desk.agents.writer_llm.model_copy(update={"writes": how})
    agents = desk.agents.model_copy(update={"writer_llm": writer})
    return config.model_copy(update={"article_generation": desk.model_copy(update={"agents": agents})})
