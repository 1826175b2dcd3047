"""What the tests of the editorial agents share: a topic, a draft, settings with the real prompts, ports."""

import re
from pathlib import Path
from typing import Any

from actors.platform.llm.prompts import read_two_part_prompt
from actors.systems.editorial.briefs import AgentSettings, ConcernBrief
from models.config import BreakerConfig, ModelSettings, load
from models.content.editorial import (
    ArticleResponse,
    Concern,
    Passage,
    ProviderEvidence,
    SourceMetadata,
    TopicInput,
)

PROMPTS = Path(__file__).parents[3] / "configs" / "prompts" / "editorial"
PROMPT_FILES = {path.stem: str(path.relative_to(PROMPTS)) for path in sorted(PROMPTS.rglob("*.md"))}
EMBEDDING = load(PROMPTS.parents[1] / "local.yaml", root=PROMPTS.parents[2]).embedding
STYLES = {"NATURE_NEWS": "The finding first, plain verbs."}
_FENCED = re.compile(r'<data name="([^"]+)" mark="([0-9a-f]{12})">\n(.*?)\n</data mark="\2">', re.DOTALL)


def agent_settings(**model: Any) -> AgentSettings:
    """Settings with the prompts that ship, and no wait between tries; `model` changes single values."""
    values: dict[str, Any] = {
        "model": "test-model",
        "api_base": "http://127.0.0.1:1/v1",
        "api_key": "none",
        "context_window": 32768,
        "max_tokens": 500,
        "temperature": 0.0,
        "context_window_threshold": 90,
        "max_retries": 2,
        "retry_delay": 0.0,
        "timeout_seconds": 5.0,
    }
    return AgentSettings(
        model=ModelSettings(**(values | model)),
        breaker=BreakerConfig(faults=5, pause_seconds=1, longest_pause_seconds=1),
        prompts={name: read_two_part_prompt(PROMPTS, file) for name, file in PROMPT_FILES.items()},
        styles=STYLES,
    )


def sample_topic(**values: Any) -> TopicInput:
    """A topic; `values` change single fields."""
    metadata = SourceMetadata(
        source_file="topics/tides.json",
        channel_name="harbour",
        video_id="v1",
        video_title="Tides and towns",
        publish_date="2026-03-01",
        topic_slug="tides",
        topic_title="Tides",
    )
    fields: dict[str, Any] = {
        "source_text": "The gauge at Eastpoint rose by 4 millimetres a year. Dr Amara Osei expects more.",
        "source_metadata": metadata,
        "style_mode": "NATURE_NEWS",
        "target_length_words": "300-400",
        "optional_angle": "what it means for harbour towns",
    }
    return TopicInput(**(fields | values))


def sample_draft(**values: str) -> ArticleResponse:
    """A draft without fault; `values` change single fields."""
    fields = {
        "headline": "The sea at Eastpoint climbs",
        "alternativeHeadline": "A gauge speaks",
        "articleBody": "The gauge rose by 4 millimetres a year, a record for the coast.",
        "description": "A gauge shows a rising sea.",
    }
    return ArticleResponse(**(fields | values))


def sample_brief(*, concern_id: int = 3, excerpt: str = "a record for the coast") -> ConcernBrief:
    """One concern about the sample draft."""
    return ConcernBrief(
        article_id="harbour/tides",
        topic=sample_topic(),
        draft=sample_draft(),
        concern=Concern(
            concern_id=concern_id,
            excerpt=excerpt,
            review_note=f'- "{excerpt}": unsupported_fact: the source text does not say it',
        ),
    )


def verdict_reply(concern_id: int = 3, **values: Any) -> dict[str, Any]:
    """A model's verdict as JSON; `values` change or add fields."""
    return {
        "concern_id": concern_id,
        "rationale": "The source text names no record.",
        "misleading": True,
        "status": "REMOVE",
        "suggested_fix": 'Drop "a record for the coast".',
        "evidence": "The tables list higher rates.",
    } | values


def fenced(prompt: str) -> dict[str, str]:
    """The texts in a prompt's fences by name; the last one where a name comes twice."""
    return {name: text for name, _, text in _FENCED.findall(prompt)}


def outside_fences(prompt: str) -> str:
    """A prompt without its fenced texts: what a model may take as said by us."""
    return _FENCED.sub("", prompt)


class ScriptedKnowledgeBase:
    """A knowledge base with these passages and this version; it records the queries."""

    def __init__(self, *passages: Passage, version: str = "kb-1") -> None:
        self.present_version = version
        self.queries: list[tuple[str, int]] = []
        self._passages = list(passages)

    async def version(self) -> str:
        """The version as it is now."""
        return self.present_version

    async def search(self, query: str, top_k: int) -> list[Passage]:
        """The first `top_k` passages, whatever the query."""
        self.queries.append((query, top_k))
        return self._passages[:top_k]


class ScriptedProvider:
    """An evidence provider with one finding; it records the queries."""

    def __init__(self, finding: ProviderEvidence, *, name: str = "sonar", version: str = "") -> None:
        self.name = name
        self.present_version = version
        self.queries: list[str] = []
        self._finding = finding

    async def version(self) -> str:
        """The version as it is now."""
        return self.present_version

    async def search(self, query: str) -> ProviderEvidence:
        """The finding, whatever the query."""
        self.queries.append(query)
        return self._finding
