"""The agent that takes the second look: whether quotes support a sentence that another agent wrote.

A `SupportChecker`. Unclear is not yes: a verdict is
one of two words, and where the model gives none the check has failed, which leaves the sentence unverified.
"""

import asyncio

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.language import Language
from models.config import BreakerConfig, SynthesisConfig
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
    """Judges with the model of `research.synthesis.checker_llm`.

    Args:
        prompt: shown SENTENCE, QUOTES and TITLES, lists of lines, and LANGUAGE.
    """

    def __init__(
        self,
        *,
        settings: SynthesisConfig,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._prompt = TwoPartPrompt(source=prompt, name=PROMPT)
        self._model = ModelClient(
            agent=_NAME, settings=settings.checker_llm, completions=completions, breaker=breaker
        )

    async def check(self, question: SupportQuestion, language: Language) -> Answer[SupportVerdict]:
        """The verdict, with a reason in `language`, which is the sentence's, too.

        Raises:
            ModelUnavailable: the model is away.
            ModelReplyInvalid: no reply was a verdict.
            ModelRefused, ModelTimedOut, PromptTooLong: of this question alone.
        """
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
