"""The specialists who need nothing but the text: opinion, attribution and style review.

Called by the editorial steps, one concern at a time. They differ only in their prompt; the two that
look things up are in fact_check.py and evidence_finding.py.
"""

from typing import Literal

from actors.platform.llm.client import Completions
from actors.systems.editorial.agents.verdicts import Judge
from actors.systems.editorial.briefs import AgentSettings, ConcernBrief
from models.content.editorial import Verdict
from models.llm import Answer


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
