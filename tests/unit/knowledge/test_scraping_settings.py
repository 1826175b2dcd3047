"""An engine that a site has not is refused before any page is marked for it."""

import pytest

from actors.systems.knowledge.scraping.scraping_settings import check_engine
from models.config import Config, FirecrawlConfig
from models.errors import InputInvalid


def test_firecrawl_is_refused_where_no_api_is_configured(config: Config) -> None:
    without = _with(config, None)
    with pytest.raises(InputInvalid, match=r"knowledge\.scraping\.firecrawl"):
        check_engine("firecrawl", without)
    for engine in ("auto", "http", "browser"):
        check_engine(engine, without)
    check_engine("firecrawl", _with(config, FirecrawlConfig(url="http://firecrawl.internal:3002")))


def _with(config: Config, api: FirecrawlConfig | None) -> Config:
    scraping = config.knowledge.scraping.model_copy(update={"firecrawl": api})
    knowledge = config.knowledge.model_copy(update={"scraping": scraping})
    return config.model_copy(update={"knowledge": knowledge})
