"""The chief editor's desk: what each node of the graph does, for one topic.

Every outcome is kept in the workflow's documents under its step's name (`draft/1`, `verdict/1/2`) before
the graph moves on; the files of the run (seed 004 §7.2) are written from what was kept.
"""

import asyncio
from dataclasses import InitVar, dataclass
from typing import Any, TypeVar

from actors.editorial.artifacts import RunArtifacts, article_path, artifacts_dir, run_id, write_atomically
from actors.editorial.briefs import ConcernBrief, MappingBrief, ReviewBrief, RevisionBrief, WritingBrief
from actors.editorial.bullets import parse_bullets
from actors.editorial.feedback import compile_feedback
from actors.editorial.report import article_metadata, best_round, editor_report
from actors.runtime.run import Run
from models.editorial import (
    ArticleGenerationResult,
    ArticleResponse,
    ArticleReviewRaw,
    ArticleReviewResult,
    Concern,
    ConcernMappingResult,
    IterationReport,
    Outcome,
    Record,
    TopicInput,
    Verdict,
    WriterFeedback,
)
from models.llm import Answer

R = TypeVar("R", bound=Record)


class Review(Record):
    """A review as written and as parsed."""

    raw: ArticleReviewRaw
    parsed: ArticleReviewResult


@dataclass(kw_only=True)
class Desk:
    """One topic on the chief editor's desk. Its verbs are the graph's nodes; `round_` counts from 1."""

    run: InitVar[Run]

    def __post_init__(self, run: Run) -> None:
        settings = run.config.article_generation.editor
        self.topic = TopicInput.model_validate(run.input)
        self.rounds = settings.editor_max_rounds
        self._run = run
        self._output = settings.output
        self._run_id = run_id(started=run.created_at, topic=self.topic)
        self._artifacts = RunArtifacts(
            directory=artifacts_dir(settings.output, self.topic.source_metadata, self._run_id),
            save_intermediate=settings.output.save_intermediate_results,
        )

    async def write(self) -> None:
        """The first draft."""
        draft = await self._run.once(
            "draft/1",
            ArticleResponse,
            lambda: self._agent("writer").generate(WritingBrief(topic=self.topic)),
        )
        await self._save(self._artifacts.writer_draft, 1, draft)

    async def review(self, round_: int) -> list[int]:
        """Review the round's draft; the ids of its concerns. A review without bullets fails the topic."""
        draft = self._draft(round_)

        async def read() -> Answer[Review]:
            answer = await self._agent("article_review").review(ReviewBrief(topic=self.topic, draft=draft))
            await self._save(self._artifacts.article_review_raw, round_, answer.value)
            parsed = parse_bullets(answer.value.markdown_bullets)
            return Answer(value=Review(raw=answer.value, parsed=parsed), calls=answer.calls)

        review = await self._run.once(f"review/{round_}", Review, read)
        await self._save(self._artifacts.article_review_raw, round_, review.raw)
        await self._save(self._artifacts.article_review, round_, review.parsed)
        return [concern.concern_id for concern in review.parsed.concerns]

    async def assign(self, round_: int) -> None:
        """Give each concern of the round to one specialist."""
        brief = MappingBrief(topic=self.topic, draft=self._draft(round_), concerns=self._concerns(round_))
        mapping = await self._run.once(
            f"mapping/{round_}", ConcernMappingResult, lambda: self._agent("concern_mapping").map(brief)
        )
        await self._save(self._artifacts.concern_mapping, round_, mapping)

    async def consult(self, round_: int, concern_id: int) -> None:
        """One concern's verdict, from the specialist it was given to."""
        mapping = self._kept(f"mapping/{round_}", ConcernMappingResult)
        chosen = next(m.selected_agent for m in mapping.mappings if m.concern_id == concern_id)
        brief = ConcernBrief(
            article_id=f"{self.topic.source_metadata.channel_name}/{self.topic.source_metadata.topic_slug}",
            topic=self.topic,
            draft=self._draft(round_),
            concern=next(c for c in self._concerns(round_) if c.concern_id == concern_id),
        )
        await self._run.once(
            f"verdict/{round_}/{concern_id}", Verdict, lambda: self._agent(chosen).evaluate(brief)
        )

    async def judge(self, round_: int) -> int:
        """How many verdicts of the round keep the draft from passing."""
        verdicts = self._verdicts(round_)
        await self._save(self._artifacts.verdicts, round_, verdicts)
        return sum(verdict.blocks for verdict in verdicts)

    async def revise(self, round_: int) -> None:
        """The next round's draft, from this round's feedback."""
        feedback = self._feedback(round_)
        await self._save(self._artifacts.feedback, round_, feedback)
        supplied = [c for r in range(1, round_ + 1) for v in self._verdicts(r) for c in v.citations or []]
        brief = RevisionBrief(
            topic=self.topic,
            draft=self._draft(round_),
            feedback=feedback,
            citations=list(dict.fromkeys(supplied)),
        )
        draft = await self._run.once(
            f"draft/{round_ + 1}", ArticleResponse, lambda: self._agent("writer").revise(brief)
        )
        await self._save(self._artifacts.writer_draft, round_ + 1, draft)

    async def file(self, round_: int, *, blocking: int) -> Outcome:
        """File the article and its report: the canonical JSON (seed 004 §7.1) and the run's files."""
        outcome: Outcome = "blocked" if blocking else "passed"

        async def settle() -> Answer[ArticleGenerationResult]:
            return Answer(value=self._result(round_, outcome=outcome, error=None))

        result = await self._run.once("result", ArticleGenerationResult, settle)
        await self._publish(result)
        return outcome

    async def file_failure(self, reason: str) -> None:
        """File a topic that ended in an error: the reason, and what there is of draft and report."""
        await self._publish(self._result(self._finished_rounds(), outcome=None, error=reason))

    def _result(self, round_: int, *, outcome: Outcome | None, error: str | None) -> ArticleGenerationResult:
        iterations = [self._iteration(number, last=number == round_) for number in range(1, round_ + 1)]
        report = editor_report(iterations, outcome=outcome) if iterations else None
        article = None
        if outcome == "passed":
            article = iterations[-1].article_draft
        elif iterations:
            article = best_round(iterations).article_draft
        else:
            article = self._run.kept("draft/1", ArticleResponse)
        return ArticleGenerationResult(
            success=outcome == "passed",
            article=article,
            metadata=article_metadata(self.topic),
            editor_report=report,
            artifacts_dir=str(self._artifacts.directory),
            error=error,
        )

    def _iteration(self, round_: int, *, last: bool) -> IterationReport:
        concerns = self._concerns(round_)
        mapping = self._run.kept(f"mapping/{round_}", ConcernMappingResult)
        return IterationReport(
            iteration_number=round_,
            concerns=concerns,
            mappings=mapping.mappings if mapping else [],
            verdicts=self._verdicts(round_),
            feedback_to_writer=None if last else self._feedback(round_),
            article_draft=self._draft(round_),
        )

    def _finished_rounds(self) -> int:
        """How many rounds had all their verdicts when the topic failed."""
        done = 0
        while (review := self._run.kept(f"review/{done + 1}", Review)) and all(
            self._run.kept(f"verdict/{done + 1}/{c.concern_id}", Verdict) for c in review.parsed.concerns
        ):
            done += 1
        return done

    def _feedback(self, round_: int) -> WriterFeedback:
        feedback: WriterFeedback = compile_feedback(iteration=round_, verdicts=self._verdicts(round_))
        return feedback

    def _draft(self, round_: int) -> ArticleResponse:
        return self._kept(f"draft/{round_}", ArticleResponse)

    def _concerns(self, round_: int) -> list[Concern]:
        return self._kept(f"review/{round_}", Review).parsed.concerns

    def _verdicts(self, round_: int) -> list[Verdict]:
        """The round's verdicts, ordered by concern, however the specialists finished."""
        ids = sorted(concern.concern_id for concern in self._concerns(round_))
        return [self._kept(f"verdict/{round_}/{concern_id}", Verdict) for concern_id in ids]

    def _kept(self, key: str, type_: type[R]) -> R:
        found = self._run.kept(key, type_)
        assert found is not None, f"step {key} has been passed but left no document"
        return found

    def _agent(self, role: str) -> Any:
        return self._run.directory.agent(role)

    async def _publish(self, result: ArticleGenerationResult) -> None:
        await self._save(self._artifacts.finish, result)
        source = self.topic.source_metadata
        path = article_path(self._output, channel_name=source.channel_name, topic_slug=source.topic_slug)
        await self._save(write_atomically, path, result.model_dump_json(indent=2))

    async def _save(self, write: Any, *what: Any) -> None:
        await asyncio.to_thread(write, *what)
