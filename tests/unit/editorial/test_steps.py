"""The chief editor's desk: what a topic was begun with holds to its end."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel

from actors.systems.editorial.steps import EditorialSteps
from models.config import Config
from models.content.editorial import ArticleResponse
from models.llm import Answer
from tests.fakes.prose import written
from tests.unit.editorial.desk import sample_topic


class Journal:
    """A run's documents, and the briefs that its agents were given."""

    def __init__(self) -> None:
        self.documents: dict[str, BaseModel] = {}
        self.briefs: list[Any] = []

    def under(self, config: Config) -> Any:
        """The run, under a configuration."""
        topic = sample_topic().model_dump(mode="json")
        agent = SimpleNamespace(generate=self._write)
        return SimpleNamespace(
            input=topic,
            config=config,
            created_at=datetime(2026, 3, 1, tzinfo=UTC),
            kept=lambda key, type_: self.documents.get(key),
            once=self._once,
            agent=lambda name: agent,
        )

    async def _once(self, key: str, type_: type[BaseModel], act: Callable[[], Awaitable[Answer[Any]]]) -> Any:
        if key not in self.documents:
            self.documents[key] = (await act()).value
        return self.documents[key]

    async def _write(self, brief: Any) -> Answer[ArticleResponse]:
        self.briefs.append(brief)
        return Answer(
            value=ArticleResponse(headline="H", alternativeHeadline="A", articleBody="B", description="D")
        )


def test_a_topic_that_was_begun_in_quotes_stays_so_whatever_the_configuration_says_meanwhile(
    config: Config,
) -> None:
    journal = Journal()
    rounds = asyncio.run(EditorialSteps(run=journal.under(written(config, "quotes"))).settle_terms())
    later = EditorialSteps(run=journal.under(written(config, "prose")))
    assert asyncio.run(later.settle_terms()) == rounds
    asyncio.run(later.draft())
    assert [brief.writes for brief in journal.briefs] == ["quotes"]
