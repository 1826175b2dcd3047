"""Configuration of knowledge (seed 002): pages, redaction, extraction, and the index.

Part of `models.config`.
"""

from typing import Annotated

from pydantic import Field

from models.config.fields import Count, Positive, ResolvedPath, Secret, Section, Text, Url
from models.config.llm import ModelSettings
from models.knowledge.redaction import PiiKind

RobotsHours = Annotated[Positive, Field(le=24)]


class PolitenessConfig(Section):
    """How the site behaves towards the hosts it fetches from. Rates hold for the whole cluster together."""

    delay_seconds: Positive  # between two requests to one host; a longer crawl-delay of its robots.txt counts
    longest_delay_seconds: Positive  # a host whose crawl-delay is over this is not fetched from
    longest_wait_seconds: Positive  # for a host's turn; tools then say `later`; a batch goes on waiting
    retries: Annotated[int, Field(ge=0)]  # of a page that was answered with 429 or 503, or that broke off
    robots_hours: RobotsHours  # for how long a host's robots.txt is believed (RFC 9309 §2.4: a day at most)


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


class ExtractionConfig(Section):
    """Extraction of knowledge by a model (seed 002 §5, node 6)."""

    prompts_dir: ResolvedPath  # its prompt
    llm: ModelSettings
    chunk_tokens: Count  # of a text that the model is shown at once
    threshold: Annotated[float, Field(ge=0, le=1)]  # what scores less is dropped (FR4)
    sources_at_once: Count  # under way in a batch
    chunks_at_once: Count  # under way of one source
    least_cosine: Annotated[float, Field(ge=0, le=1)]  # from which two names mean the same: the model's own


class EmbeddersConfig(Section):
    """The processes of a batch that embed passages: each loads the model of `serving.embeddings`."""

    replicas: Count  # of them, in each batch
    num_cpus: Positive  # of each
    num_gpus: Annotated[float, Field(ge=0)] = 0.0  # of each: a fraction, where several share one


class IndexConfig(Section):
    """The index that passages of projects are found by. It is made of segments, each whole on its own."""

    dir: ResolvedPath  # its segments; every node must see it
    embedders: EmbeddersConfig
    flat_up_to: Count  # vectors of a segment in which every one is looked at
    ivf_up_to: Count  # vectors of a segment that is an inverted file; what is larger is a graph (HNSW)
    segment_vectors: Count  # of a segment at most
    least_recall: Annotated[float, Field(gt=0, le=1)]  # of the true ten nearest, as measured on itself
    max_memory_mb: Count  # of the segments that an index agent holds; the least used go first
    min_score: Annotated[float, Field(ge=-1, le=1)]  # passages under this cosine are not found by meaning


class KnowledgeConfig(Section):
    """Knowledge: pages, what is known from them, and how that is found."""

    scraping: ScrapingConfig
    redaction: RedactionConfig
    extraction: ExtractionConfig
    index: IndexConfig
