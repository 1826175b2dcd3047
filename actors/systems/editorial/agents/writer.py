"""The writer: a first draft from a source text, and a revision from the editor's feedback.

Called by the editorial steps. Where a topic is written in quotes, code puts its article together, and the
model only chooses (`actors.systems.editorial.agents.quoted_article`). A draft in prose is not taken on trust:
one that is blank, or whose footnotes and links are not backed by the source or by this run's citations (seed
004 §6.2), goes back to the model `max_retries` times, and then the topic fails.
"""

from collections.abc import Collection

from actors.platform.extractive.choosing import Chooser
from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.systems.editorial.agents.footnotes import footnote_faults
from actors.systems.editorial.agents.material import draft_text, topic_material
from actors.systems.editorial.agents.quoted_article import QuotedArticles
from actors.systems.editorial.briefs import AgentSettings, RevisionBrief, WritingBrief
from models.config import EmbeddingConfig
from models.content.editorial import ArticleResponse, WrittenArticle
from models.errors import NothingToQuote
from models.llm import Answer


class Writer:
    """Writes and revises drafts. Prompts: `writer`, `revision` and `choose`.

    `embedding` is of what compares meanings; `embedder` stands in for it.
    """

    def __init__(
        self,
        *,
        settings: AgentSettings,
        embedding: EmbeddingConfig,
        embedder: Embedder | None = None,
        completions: Completions | None = None,
    ) -> None:
        self._settings = settings
        self._writing = settings.prompt("writer")
        self._revision = settings.prompt("revision")
        self._model = ModelClient(
            agent="writer", settings=settings.model, completions=completions, breaker=settings.breaker
        )
        chooser = Chooser(
            agent="writer",
            settings=settings.model,
            breaker=settings.breaker,
            prompt=settings.source("choose"),
            completions=completions,
        )
        embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=settings.breaker)
        self._quoted = QuotedArticles(chooser=chooser, embedder=embedder)

    async def generate(self, brief: WritingBrief) -> Answer[WrittenArticle]:
        """The first draft. It has no footnotes: no verdict has supplied a citation yet.

        Raises:
            ModelReplyInvalid: no draft was usable after the configured retries.
            NothingToQuote: no sentence of the source can be quoted by itself.
        """
        if brief.writes == "quotes":
            return await self._quoted.put_together(brief.topic)
        system, user = self._writing.render(**topic_material(brief.topic, settings=self._settings))
        return await self._draft(system, user, source_text=brief.topic.source_text, citations=())

    async def revise(self, brief: RevisionBrief) -> Answer[WrittenArticle]:
        """The draft with the feedback worked in; footnotes may cite `brief.citations` only.

        Raises:
            ModelReplyInvalid: no draft was usable after the configured retries.
        """
        if brief.writes == "quotes":
            return await self._without_objections(brief)
        system, user = self._revision.render(
            **topic_material(brief.topic, settings=self._settings),
            DRAFT=draft_text(brief.draft),
            FEEDBACK=brief.feedback,
            CITATIONS=brief.citations,
        )
        return await self._draft(system, user, source_text=brief.topic.source_text, citations=brief.citations)

    async def _without_objections(self, brief: RevisionBrief) -> Answer[WrittenArticle]:
        """Another choice, without what verdicts were against; the same draft where nothing else is left."""
        try:
            return await self._quoted.put_together(brief.topic, without=brief.objections)
        except NothingToQuote:
            return Answer(value=WrittenArticle.model_validate(brief.draft.model_dump()))

    async def _draft(
        self, system: str, user: str, *, source_text: str, citations: Collection[str]
    ) -> Answer[WrittenArticle]:
        def accept(article: ArticleResponse) -> WrittenArticle:
            faults = [
                f"{field} is blank."
                for field in ("headline", "articleBody")
                if not getattr(article, field).strip()
            ]
            faults += footnote_faults(article, source_text=source_text, citations=citations)
            if faults:
                raise RejectedReply(" ".join(faults))
            return WrittenArticle(**article.model_dump())

        return await self._model.ask_record(system=system, user=user, reply=ArticleResponse, accept=accept)
