"""Every agent that a workflow asks, played in this process without a model: same question, same answer.

`asked` tells who was asked what, in order. A topic whose slug is in `unreadable` gets a review that no one
can read, which fails it; a question with the word nothing finds nothing.
"""

from typing import Any

from actors.systems.drafting.draft import Draft, DraftBrief, DraftPossible, Statement
from actors.systems.drafting.subject import OnSubject, SubjectBrief
from actors.systems.editorial.briefs import (
    ConcernBrief,
    MappingBrief,
    ReviewBrief,
    RevisionBrief,
    WritingBrief,
)
from models.config import Config
from models.content.drafting import Branch, Finding, Findings, SearchBrief
from models.content.editorial import (
    ArticleResponse,
    ArticleReviewRaw,
    ConcernMapping,
    ConcernMappingResult,
    SpecialistName,
    Verdict,
)
from models.llm import Answer

_SPECIALISTS: tuple[SpecialistName, ...] = ("fact_check", "style_review")


class Cast:
    """Stands where a directory does."""

    def __init__(self, config: Config, *, unreadable: str = "") -> None:
        self.asked: list[str] = []
        self.database_url = None
        self._players: dict[str, Any] = {
            "writer": _Writer(),
            "article_review": _Reviewer(unreadable),
            "concern_mapping": _Mapper(),
            "knowledge_base": _KnowledgeBase(),
            "drafter": _Drafter(),
            "oracle": _Oracle(),
            **{name: _Specialist() for name in _SPECIALISTS},
            **{branch: _Finder(branch) for branch in ("web_search", "data_download", "resource_query")},
        }

    def agent(self, role: str) -> Any:
        """The player of a role."""
        return _Noted(role, self._players[role], self.asked)


class _Noted:
    """A player whose calls are noted."""

    def __init__(self, role: str, player: Any, asked: list[str]) -> None:
        self._role, self._player, self._asked = role, player, asked

    def __getattr__(self, verb: str) -> Any:
        act = getattr(self._player, verb)

        async def call(*args: Any) -> Any:
            self._asked.append(f"{self._role}.{verb}")
            return await act(*args)

        return call


class _KnowledgeBase:
    async def refresh(self) -> None:
        return None


class _Writer:
    async def generate(self, brief: WritingBrief) -> Answer[ArticleResponse]:
        return _article(1, brief.topic.source_text)

    async def revise(self, brief: RevisionBrief) -> Answer[ArticleResponse]:
        return _article(2, brief.topic.source_text)


class _Reviewer:
    def __init__(self, unreadable: str) -> None:
        self._unreadable = unreadable

    async def review(self, brief: ReviewBrief) -> Answer[ArticleReviewRaw]:
        if brief.topic.source_metadata.topic_slug == self._unreadable:
            return Answer(value=ArticleReviewRaw(markdown_bullets="I have no opinion."))
        return Answer(value=ArticleReviewRaw(markdown_bullets='- "The mill": when?\n- "four": sure?\n'))


class _Mapper:
    async def map(self, brief: MappingBrief) -> Answer[ConcernMappingResult]:
        pairs = zip(brief.concerns, _SPECIALISTS, strict=True)
        mappings = [
            ConcernMapping(
                concern_id=concern.concern_id,
                concern_type="unsupported_fact",
                selected_agent=agent,
                confidence="high",
                reason="It is what they are for.",
            )
            for concern, agent in pairs
        ]
        return Answer(value=ConcernMappingResult(mappings=mappings))


class _Specialist:
    """Has the first concern of a first draft rewritten, and keeps all else."""

    async def evaluate(self, brief: ConcernBrief) -> Answer[Verdict]:
        number = brief.concern.concern_id
        rewrite = number == 1 and brief.draft.headline.endswith("1")
        return Answer(
            value=Verdict(
                concern_id=number,
                misleading=rewrite,
                status="REWRITE" if rewrite else "KEEP",
                rationale="The source says so." if not rewrite else "The source does not say so.",
                suggested_fix="Say what the source says." if rewrite else None,
            )
        )


class _Finder:
    def __init__(self, branch: Branch) -> None:
        self._branch = branch

    async def find(self, brief: SearchBrief) -> Findings:
        if "nothing" in brief.query:
            return Findings(branch=self._branch, found=(), note="nothing was found")
        name = f"Found by {self._branch}"
        found = Finding(kind="text", name=name, description=None, content=f"{name}.", source="test")
        return Findings(branch=self._branch, found=(found,))


class _Drafter:
    async def enough(self, brief: DraftBrief) -> Answer[DraftPossible]:
        return Answer(value=DraftPossible(to_write_from=True))

    async def on_subject(self, brief: SubjectBrief) -> Answer[OnSubject]:
        return Answer(value=OnSubject(about=(True,) * len(brief.findings)))

    async def write(self, brief: DraftBrief) -> Answer[Draft]:
        numbers = range(1, len(brief.sources) + 1)
        said = tuple(Statement(text=f"Source {n} says so.", sources=(n,)) for n in numbers)
        return Answer(value=Draft(headline=f"On {brief.query}", statements=said))


class _Oracle:
    async def answer(self, question: str) -> str:
        return f"Yes: {question}"


def _article(number: int, source: str) -> Answer[ArticleResponse]:
    article = ArticleResponse(
        headline=f"The mill grinds {number}",
        alternativeHeadline="Rye",
        articleBody=source,
        description="On a mill.",
    )
    return Answer(value=article)
