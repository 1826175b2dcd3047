"""A specialist's question to its model, and the verdict that comes back.

The specialists own a Judge each; the fact checker and the evidence finder give it what they found. The
model never sees a place for citations: those come from the pipeline alone (seed 004 §4), and any that a
model writes are dropped.
"""

from typing import Any, Literal, NamedTuple

from pydantic import model_validator

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.systems.editorial.agents.material import draft_text, topic_material
from actors.systems.editorial.agents.verdict_choices import choose_verdict, reasons
from actors.systems.editorial.briefs import AgentSettings, ConcernBrief
from models.content.editorial import SpecialistName, Verdict, VerdictStatus
from models.llm import Answer
from models.record import Record


class Specialist:
    """Judges one concern from the source, the draft and the style. The prompt is named after the role."""

    def __init__(
        self,
        *,
        role: Literal["opinion", "attribution", "style_review"],
        settings: AgentSettings,
        completions: Completions | None = None,
    ) -> None:
        self._judge = Judge(role=role, settings=settings, completions=completions)

    async def evaluate(self, brief: ConcernBrief) -> Answer[Verdict]:
        """The verdict on the concern; it has no citations.

        Raises:
            ModelReplyInvalid: no reply was a verdict on this concern.
        """
        if brief.writes == "quotes":
            return await self._judge.choose(brief)
        return await self._judge.verdict(self._judge.question(brief), concern_id=brief.concern.concern_id)


class VerdictReply(Record):
    """What a model answers: a Verdict without citations. The reason comes before what follows from it."""

    concern_id: int
    rationale: str
    misleading: bool
    status: VerdictStatus
    suggested_fix: str | None = None
    evidence: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_citations(cls, reply: Any) -> Any:
        if isinstance(reply, dict):
            return {key: value for key, value in reply.items() if key != "citations"}
        return reply


class RenderedPrompt(NamedTuple):
    """A rendered prompt."""

    system: str
    user: str

    def __str__(self) -> str:
        return f"{self.system}\n{self.user}"


class Judge:
    """Puts one concern to a model in a specialist's words. The prompt has the specialist's name."""

    def __init__(
        self, *, role: SpecialistName, settings: AgentSettings, completions: Completions | None = None
    ) -> None:
        self._settings = settings
        self._prompt = settings.prompt(role)
        self._choice_prompt = settings.prompt("quotation_verdict")
        self._model = ModelClient(
            agent=role, settings=settings.model, completions=completions, breaker=settings.breaker
        )

    def question(self, brief: ConcernBrief, **found: object) -> RenderedPrompt:
        """The prompt about one concern; `found` are the specialist's own names for it."""
        return RenderedPrompt(
            *self._prompt.render(
                **topic_material(brief.topic, settings=self._settings),
                DRAFT=draft_text(brief.draft),
                CONCERN=brief.concern,
                **found,
            )
        )

    async def verdict(
        self, question: RenderedPrompt, *, concern_id: int, citations: list[str] | None = None
    ) -> Answer[Verdict]:
        """The model's verdict on the concern, with the pipeline's `citations` (None: there are none).

        Raises:
            ModelReplyInvalid: no reply was a verdict on this concern.
        """

        def accept(reply: VerdictReply) -> Verdict:
            if reply.concern_id != concern_id:
                raise RejectedReply(f"concern_id is {reply.concern_id}, but must be {concern_id}")
            return Verdict(**reply.model_dump(), citations=citations or None)

        return await self._model.ask_record(
            system=question.system,
            user=question.user,
            reply=VerdictReply,
            accept=accept,
            schema=verdict_schema(concern_id),
        )

    async def choose(self, brief: ConcernBrief) -> Answer[Verdict]:
        """The verdict on a quotation: the model chooses it, and what it rests on, from closed lists."""
        offered = reasons(brief)
        system, user = self._choice_prompt.render(
            **topic_material(brief.topic, settings=self._settings), CONCERN=brief.concern, REASONS=offered
        )
        return await choose_verdict(self._model, system=system, user=user, brief=brief, offered=offered)


def verdict_schema(concern_id: int) -> dict[str, Any]:
    """VerdictReply's JSON schema with the id fixed and every field asked for."""
    schema = VerdictReply.model_json_schema()
    schema["properties"]["concern_id"] = {"type": "integer", "const": concern_id}
    schema["required"] = list(schema["properties"])
    return schema
