"""Article review: what a draft says that its source does not.

Called by the editorial steps, which parse the bullets. An empty review means no concerns; one that can't be
parsed fails the topic (seed 004 §6.1.1) and is not kept, so that a retry asks for another.
"""

from actors.editorial.agents.material import draft_text, topic_material
from actors.editorial.briefs import AgentSettings, ReviewBrief
from actors.llm.client import Completions, ModelClient, strip_fence
from models.content.editorial import ArticleReviewRaw
from models.llm import Answer


class ArticleReview:
    """Lists a draft's unsupported additions as Markdown bullets. Prompt: `article_review`."""

    def __init__(self, *, settings: AgentSettings, completions: Completions | None = None) -> None:
        self._settings = settings
        self._prompt = settings.prompt("article_review")
        self._model = ModelClient(
            agent="article_review", settings=settings.model, completions=completions, breaker=settings.breaker
        )

    async def review(self, brief: ReviewBrief) -> Answer[ArticleReviewRaw]:
        """The review's text, without thinking and without a code fence around the whole."""
        system, user = self._prompt.render(
            **topic_material(brief.topic, settings=self._settings), DRAFT=draft_text(brief.draft)
        )
        return await self._model.ask_text(
            system=system,
            user=user,
            accept=lambda text: ArticleReviewRaw(markdown_bullets=strip_fence(text)),
        )
