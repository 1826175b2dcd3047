"""Article review: what a draft says that its source does not.

Called by the editorial steps, which parse the bullets. An empty review means no concerns; one that can't be
parsed fails the topic (seed 004 §6.1.1) and is not kept, so that a retry asks for another.
"""

import asyncio

from actors.platform.llm.client import Completions, ModelClient, strip_fence
from actors.systems.editorial.agents.material import draft_text, topic_material
from actors.systems.editorial.agents.number_check import number_bullets
from actors.systems.editorial.agents.quotation_review import QuotationReview
from actors.systems.editorial.briefs import AgentSettings, ReviewBrief
from actors.systems.editorial.bullets import parse_bullets
from models.content.editorial import ArticleReviewRaw
from models.errors import ReviewUnreadable
from models.llm import Answer


class ArticleReview:
    """Lists a draft's unsupported additions as Markdown bullets. Prompt: `article_review`."""

    def __init__(self, *, settings: AgentSettings, completions: Completions | None = None) -> None:
        self._settings = settings
        self._prompt = settings.prompt("article_review")
        self._model = ModelClient(
            agent="article_review", settings=settings.model, completions=completions, breaker=settings.breaker
        )
        self._quotations = QuotationReview(settings=settings, completions=completions)

    async def review(self, brief: ReviewBrief) -> Answer[ArticleReviewRaw]:
        """The review's text, without thinking and without a code fence around the whole.

        What a model says of a draft in prose is followed by its numbers that the source does not have.
        """
        if brief.writes == "quotes":
            return await self._quotations.review(brief)
        system, user = self._prompt.render(
            **topic_material(brief.topic, settings=self._settings), DRAFT=draft_text(brief.draft)
        )
        answer = await self._model.ask_text(system=system, user=user, accept=strip_fence)
        numbers = await asyncio.to_thread(number_bullets, brief.draft, brief.topic)
        return Answer(
            value=ArticleReviewRaw(markdown_bullets=_joined(answer.value, numbers)), calls=answer.calls
        )


def _joined(review: str, more: str) -> str:
    """A review with more bullets; as it is where it can't be read, which no bullet of ours may hide."""
    try:
        parse_bullets(review)
    except ReviewUnreadable:
        return review
    return "\n".join(part.rstrip("\n") for part in (review, more) if part.strip())
