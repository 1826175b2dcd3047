"""The chief editor's desk: what each node of the graph does, for one topic.

Every outcome is kept in the workflow's journal under its step's name (`draft/1`, `verdict/1/2`) before the
graph moves on, and `actors.systems.editorial.rounds` reads it back by that name; the files of the run are
written once it has ended (`actors.systems.editorial.files`).
"""

from dataclasses import InitVar, dataclass
from datetime import UTC, datetime

from actors.platform.runtime.run import Run
from actors.systems.editorial.artifacts import run_folder
from actors.systems.editorial.briefs import (
    ConcernBrief,
    MappingBrief,
    ReviewBrief,
    RevisionBrief,
    WritingBrief,
)
from actors.systems.editorial.bullets import parse_bullets
from actors.systems.editorial.rounds import Review, Rounds, Terms
from models.content.editorial import (
    ArticleGenerationResult,
    ConcernMappingResult,
    Outcome,
    TopicInput,
    Verdict,
    WrittenArticle,
)
from models.llm import Answer


@dataclass(kw_only=True)  # as LangGraph wants a context to be
class EditorialSteps:
    """One topic on the chief editor's desk: what the graph's nodes do. `round_` counts from 1."""

    run: InitVar[Run]

    def __post_init__(self, run: Run) -> None:
        self.topic = TopicInput.model_validate(run.input)
        self._settings = run.config.article_generation.editor
        self._writes = run.config.article_generation.agents.writer_llm.writes
        self._run = run
        folder = run_folder(self._settings.output, self.topic, started=run.created_at)
        self._rounds = Rounds(topic=self.topic, kept=run.kept, artifacts_dir=folder)

    async def settle_terms(self) -> int:
        """How many rounds there are at most."""

        async def settle() -> Answer[Terms]:
            day = datetime.now(UTC).date().isoformat()
            terms = Terms(rounds=self._settings.editor_max_rounds, writes=self._writes, day=day)
            return Answer(value=terms)

        return (await self._run.once("terms", Terms, settle)).rounds

    async def draft(self) -> None:
        """The first draft."""
        brief = WritingBrief(topic=self.topic, writes=self._rounds.terms().writes)
        await self._run.once("draft/1", WrittenArticle, lambda: self._run.agent("writer").generate(brief))

    async def review(self, round_: int) -> list[int]:
        """Review the round's draft; the ids of its concerns. A review that can't be read fails the topic."""
        terms = self._rounds.terms()
        brief = ReviewBrief(
            topic=self.topic, draft=self._rounds.draft(round_), writes=terms.writes, day=terms.day
        )

        async def read() -> Answer[Review]:
            answer = await self._run.agent("article_review").review(brief)
            parsed = parse_bullets(answer.value.markdown_bullets)
            return Answer(value=Review(raw=answer.value, parsed=parsed), calls=answer.calls)

        review = await self._run.once(f"review/{round_}", Review, read)
        return [concern.concern_id for concern in review.parsed.concerns]

    async def assign(self, round_: int) -> None:
        """Give each concern of the round to one specialist."""
        draft, concerns = self._rounds.draft(round_), self._rounds.concerns(round_)
        writes = self._rounds.terms().writes
        brief = MappingBrief(topic=self.topic, draft=draft, concerns=concerns, writes=writes)
        await self._run.once(
            f"mapping/{round_}", ConcernMappingResult, lambda: self._run.agent("concern_mapping").map(brief)
        )

    async def consult(self, round_: int, concern_id: int) -> None:
        """One concern's verdict, from the specialist it was given to."""
        mappings = self._rounds.mapping(round_).mappings
        chosen = next(m.selected_agent for m in mappings if m.concern_id == concern_id)
        brief = ConcernBrief(
            article_id=f"{self.topic.source_metadata.channel_name}/{self.topic.source_metadata.topic_slug}",
            topic=self.topic,
            draft=self._rounds.draft(round_),
            concern=next(c for c in self._rounds.concerns(round_) if c.concern_id == concern_id),
            writes=self._rounds.terms().writes,
        )
        await self._run.once(
            f"verdict/{round_}/{concern_id}", Verdict, lambda: self._run.agent(chosen).evaluate(brief)
        )

    def blocking(self, round_: int) -> int:
        """How many verdicts of the round keep the draft from passing."""
        return sum(verdict.blocks for verdict in self._rounds.verdicts(round_))

    async def revise(self, round_: int) -> None:
        """The next round's draft, from this round's feedback."""
        earlier = range(1, round_ + 1)
        supplied = [c for r in earlier for v in self._rounds.verdicts(r) for c in v.citations or []]
        brief = RevisionBrief(
            topic=self.topic,
            draft=self._rounds.draft(round_),
            feedback=self._rounds.feedback(round_),
            citations=list(dict.fromkeys(supplied)),
            objections=tuple(words for r in earlier for words in self._rounds.objections(r)),
            writes=self._rounds.terms().writes,
        )
        await self._run.once(
            f"draft/{round_ + 1}", WrittenArticle, lambda: self._run.agent("writer").revise(brief)
        )

    async def conclude(self, round_: int, *, blocking: int) -> Outcome:
        """Keep the article and its report: what becomes the canonical JSON (seed 004 §7.1), after the end."""
        outcome: Outcome = "blocked" if blocking else "passed"

        async def settle() -> Answer[ArticleGenerationResult]:
            now = datetime.now(UTC)
            return Answer(value=self._rounds.result(round_, outcome=outcome, error=None, at=now))

        await self._run.once("result", ArticleGenerationResult, settle)
        return outcome
