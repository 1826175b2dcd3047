"""The agent that takes the second look: whether quotes support a sentence that another agent wrote.

A `SupportChecker`. Unclear is not yes: a verdict is
one of two words, and where the model gives none the check has failed, which leaves the sentence unverified.
Where no model can judge, words and embeddings are measured (`research.synthesis.checker`).
"""

import asyncio

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.text.language import Language
from actors.systems.research.synthesis.measured_support import MeasuredSupport
from models.config import BreakerConfig, EmbeddingConfig, SynthesisConfig
from models.llm import Answer
from models.research.synthesis import SupportQuestion, SupportVerdict
from models.text import one_line, shortened

PROMPT = "judge_support.md"
_NAME = "support_judge"
_LONGEST_REASON, _LONGEST_TITLE = 240, 150
# The reason comes first: a model that has named what is missing is less likely to overlook it.
_SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "minLength": 1, "maxLength": _LONGEST_REASON},
        "verdict": {"type": "string", "enum": ["supports", "does_not_support"]},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}


class SupportJudge:
    """Judges with the model of `research.synthesis.checker_llm`, or by measure.

    Args:
        prompt: shown SENTENCE, QUOTES and TITLES, lists of lines, and LANGUAGE.
        embedding: of what measures; `embedder` stands in for it.
    """

    def __init__(
        self,
        *,
        settings: SynthesisConfig,
        breaker: BreakerConfig,
        prompt: str,
        embedding: EmbeddingConfig,
        completions: Completions | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._checker = settings.checker
        self._prompt = TwoPartPrompt(source=prompt, name=PROMPT)
        self._model = ModelClient(
            agent=_NAME, settings=settings.checker_llm, completions=completions, breaker=breaker
        )
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)

    async def check(self, question: SupportQuestion, language: Language) -> Answer[SupportVerdict]:
        """The verdict, with a reason in `language`, which is the sentence's, too.

        Raises:
            ModelUnavailable: the model, or what embeds, is away.
            ModelReplyInvalid: no reply was a verdict.
            ModelRefused, ModelTimedOut, PromptTooLong: of this question alone.
        """
        if self._checker == "measured":
            return await MeasuredSupport(self._embedder, language=language).check(question)
        system, user = await asyncio.to_thread(
            self._prompt.render,
            SENTENCE=one_line(question.sentence),
            QUOTES=[one_line(quote) for quote in question.quotes],
            TITLES=[shortened(title, _LONGEST_TITLE) for title in question.titles],
            LANGUAGE=language,
        )
        return await self._model.ask_record(
            system=system, user=user, reply=SupportVerdict, accept=_with_reason, schema=_SCHEMA
        )


def _with_reason(verdict: SupportVerdict) -> SupportVerdict:
    if not (reason := shortened(verdict.reason, _LONGEST_REASON)):
        raise RejectedReply("reason is empty: name what carries the verdict")
    return SupportVerdict(verdict=verdict.verdict, reason=reason)
