"""The seams of synthesis with agents behind them: each is asked for one question's language.

Made by the steps of a workflow. An agent serves workflows in several languages, so its verbs are told which;
whoever settles sentences need not know.
"""

from typing import Any

from actors.platform.text.language import Language
from actors.systems.research.synthesis.draft_reply import SectionReply
from actors.systems.research.synthesis.ports import RewriteRequest
from models.llm import Answer
from models.research.synthesis import SectionOffer, SupportQuestion, SupportVerdict


class AgentWriter:
    """A `SectionWriter`. `agent` is a stand-in for the agent `ResearchWriter`."""

    def __init__(self, agent: Any, *, language: Language) -> None:
        self._agent = agent
        self._language: Language = language

    async def write(self, offer: SectionOffer) -> Answer[SectionReply]:
        """See `SectionWriter`."""
        answer: Answer[SectionReply] = await self._agent.write(offer, self._language)
        return answer

    async def rewrite(self, request: RewriteRequest) -> Answer[SectionReply]:
        """See `SectionWriter`."""
        answer: Answer[SectionReply] = await self._agent.rewrite(request, self._language)
        return answer


class AgentChecker:
    """A `SupportChecker`. `agent` is a stand-in for the agent `SupportJudge`."""

    def __init__(self, agent: Any, *, language: Language) -> None:
        self._agent = agent
        self._language: Language = language

    async def check(self, question: SupportQuestion) -> Answer[SupportVerdict]:
        """See `SupportChecker`."""
        answer: Answer[SupportVerdict] = await self._agent.check(question, self._language)
        return answer
