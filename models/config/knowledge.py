"""Configuration of knowledge (seed 002): fetching pages politely, reading them, and redaction.

Part of `models.config`.
"""

from typing import Annotated

from pydantic import Field

from models.config.fields import Count, Positive, ResolvedPath, Secret, Section, Text, Url
from models.knowledge.redaction import PiiKind


class PolitenessConfig(Section):
    """How the site behaves towards the hosts it fetches from. Rates hold for the whole cluster together."""

    delay_seconds: Positive  # between two requests to one host; a longer crawl-delay of its robots.txt counts
    longest_delay_seconds: Positive  # a host whose crawl-delay is over this is not fetched from
    longest_wait_seconds: Positive  # for a host's turn; what waits longer is left for the next submission
    retries: Annotated[int, Field(ge=0)]  # of a page that was answered with 429 or 503, or that broke off
    robots_hours: Positive  # for how long a host's robots.txt is believed (RFC 9309 §2.4: a day at most)


class BrowserConfig(Section):
    """Chromium, for pages that are made by scripts. Each browser is an actor."""

    executable: Text  # `auto`: what is found on the node; or a path to Chromium or Chrome
    tabs: Count  # pages open at once in each browser
    timeout_seconds: Positive  # of one page, until its browser gives it up
    recycle_pages: Count  # pages until a browser is begun anew
    max_memory_mb: Count  # of a browser's processes together; over it, it is begun anew


class FirecrawlConfig(Section):
    """A self-hosted API that speaks Firecrawl's `/v1/scrape`. Addresses of pages go there."""

    url: Url  # of the API
    api_key: Secret | None = None  # where the API asks for one


class ScrapingConfig(Section):
    """Fetching pages and finding the text in them."""

    user_agent: Text  # the first word is what robots.txt rules are looked up by
    timeout_seconds: Positive  # of one request with its redirects
    max_bytes: Count  # of one page, unpacked
    in_flight: Count  # pages under way at once in each scraper
    readers: Count  # processes of each scraper that find the text in pages
    reading_seconds: Positive  # until a page that can't be read is given up, and its reader ended
    politeness: PolitenessConfig
    browser: BrowserConfig
    firecrawl: FirecrawlConfig | None = None


class RedactionConfig(Section):
    """What personal data is taken out of pages before anything of them is kept."""

    kinds: tuple[PiiKind, ...] = Field(strict=False)  # none: nothing is taken out
    names_model: ResolvedPath | None = None  # a folder with a token-classification model: names go too


class KnowledgeConfig(Section):
    """Knowledge: pages that are fetched, and what is taken out of them before they are kept."""

    scraping: ScrapingConfig
    redaction: RedactionConfig
