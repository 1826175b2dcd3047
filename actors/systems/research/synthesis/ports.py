"""The seams of synthesis: who writes a section, and who takes the second look at a sentence.

Agents stand behind them, and scripted ones in tests. What any of them raises is no verdict: see
`verification`.
"""

from typing import Protocol

from actors.platform.text.language import Language
from actors.systems.research.synthesis.draft_reply import SectionReply
from models.llm import Answer
from models.record import Record
from models.research.synthesis import (
    CitablePoint,
    DraftSentence,
    SectionOffer,
    SupportQuestion,
    SupportVerdict,
)


class RewriteRequest(Record):
    """A sentence that its quotes don't support, why, and the points that it may cite instead.

    `reason` may have words of a model and of sources in it: a prompt fences it.
    """

    sentence: DraftSentence
    reason: str
    points: tuple[CitablePoint, ...]


class SectionWriter(Protocol):
    """A model that writes."""

    async def write(self, offer: SectionOffer, language: Language) -> Answer[SectionReply]:
        """A draft of a section in `language`, from the points offered alone."""
        ...

    async def rewrite(self, request: RewriteRequest, language: Language) -> Answer[SectionReply]:
        """One sentence in place of another one."""
        ...


class SupportChecker(Protocol):
    """Another agent than the writer: whether quotes support a sentence."""

    async def check(self, question: SupportQuestion, language: Language) -> Answer[SupportVerdict]:
        """The verdict; whatever it raises leaves the sentence unverified."""
        ...
