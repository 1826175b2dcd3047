"""A drafted sentence settled: code looks, another agent looks, the writer mends it once, both look again.

Called for each sentence of a draft, by steps or by `writing`. Code goes before the agent: what no quote has
is refused whatever the agent says. A check that fails leaves the sentence `unverified`, and ends nothing;
what is away (`actors.platform.runtime.outage`) is no failure of a check, and goes through to whoever waits
for it. Pure over its seams.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from actors.platform.runtime.outage import waits_for
from actors.platform.text.language import Language
from actors.platform.text.links import links
from actors.systems.research.synthesis.draft_reply import SectionReply, read_draft
from actors.systems.research.synthesis.ports import RewriteRequest, SectionWriter, SupportChecker
from actors.systems.research.synthesis.support_precheck import first_look
from models.error_lines import error_line, logged
from models.errors import ModelReplyInvalid
from models.llm import Answer, ModelCall
from models.record import Record
from models.research.synthesis import (
    CitablePoint,
    DraftSentence,
    SentenceOutcome,
    SupportQuestion,
    SupportVerdict,
    SynthesisSentence,
)
from models.text import shortened

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
# Nobody waits longer than this for one answer, in seconds, whatever the agent's own limits are.
PATIENCE = 600.0


class _Look(Record):
    """What both looks at a sentence come to: it stands, or doesn't, or nobody could say."""

    stands: bool | None
    reason: str


class SentenceVerifier:
    """Settles sentences of one section. `points` are all that it may cite; `patience` is in seconds."""

    def __init__(
        self,
        points: Sequence[CitablePoint],
        *,
        writer: SectionWriter,
        checker: SupportChecker,
        language: Language,
        patience: float = PATIENCE,
    ) -> None:
        self._points: Mapping[int, CitablePoint] = {point.id: point for point in points}
        self._writer = writer
        self._checker = checker
        self._language: Language = language
        self._patience = patience

    async def settle(self, draft: DraftSentence) -> Answer[SynthesisSentence]:
        """The sentence with its outcome, and the model calls that it took.

        Raises:
            KeyError: it cites a point that was not offered; `read_draft` lets none through.
        """
        calls: list[ModelCall] = []
        look = await self._look(draft, calls)
        if look.stands is None:
            return _settled(draft, "unverified", look.reason, calls)
        if look.stands:
            return _settled(draft, "kept", look.reason, calls)
        mended = await self._rewritten(draft, look.reason, calls)
        if isinstance(mended, str):
            return _settled(draft, "dropped", f"{look.reason}; {mended}", calls)
        again = await self._look(mended, calls)
        if again.stands is None:
            return _settled(mended, "unverified", again.reason, calls)
        if again.stands:
            return _settled(mended, "rewritten", f"at first {look.reason}; now {again.reason}", calls)
        return _settled(mended, "dropped", f"rewritten, and still: {again.reason}", calls)

    async def _look(self, draft: DraftSentence, calls: list[ModelCall]) -> _Look:
        cited = [self._points[point] for point in draft.points]
        quotes = tuple(dict.fromkeys(point.quote for point in cited))
        titles = tuple(dict.fromkeys(point.title for point in cited if point.title))
        first = await asyncio.to_thread(
            first_look, draft.text, quotes, language=self._language, titles=titles
        )
        if first.refuses or first.look == "exact":
            return _Look(stands=not first.refuses, reason=first.reason)
        question = SupportQuestion(sentence=draft.text, quotes=quotes, titles=titles)
        verdict = await asked(lambda: self._checker.check(question, self._language), calls, self._patience)
        if not isinstance(verdict, SupportVerdict):
            return _Look(stands=None, reason=f"the check failed: {_told(str(verdict))}")
        return _Look(stands=verdict.verdict == "supports", reason=_told(verdict.reason))

    async def _rewritten(
        self, draft: DraftSentence, reason: str, calls: list[ModelCall]
    ) -> DraftSentence | str:
        """The sentence in its second form, or why there is none."""
        request = RewriteRequest(sentence=draft, reason=reason, points=tuple(self._points.values()))
        reply = await asked(lambda: self._writer.rewrite(request, self._language), calls, self._patience)
        if not isinstance(reply, SectionReply):
            return f"it was not rewritten: {_told(str(reply))}"
        read = read_draft(reply, self._points, language=self._language, most=1)
        if not read.sentences:
            return "it was rewritten as nothing that cites a point"
        mended = read.sentences[0]
        if mended == draft:
            return "it was not changed"
        return mended


async def asked(ask: Callable[[], Awaitable[Answer[T]]], calls: list[ModelCall], patience: float) -> T | str:
    """What an agent answers; what is wrong, in words, where it fails. Its calls are added to `calls`.

    Raises:
        Exception: what is away, and is waited for.
    """
    try:
        async with asyncio.timeout(patience):
            answer = await ask()
    except ModelReplyInvalid as refused:
        calls += refused.calls
        return error_line(refused)
    except TimeoutError:
        return f"it took longer than {patience:g} s"
    except Exception as error:
        if waits_for(error) is not None:
            raise
        return logged(error, _LOGGER, "synthesis")
    calls += answer.calls
    return answer.value


def _told(reason: str) -> str:
    """A reason for people: one line, and no address in it."""
    line = shortened(reason)
    return "it gave a reason with an address in it" if links(line) else line or "it gave no reason"


def _settled(
    draft: DraftSentence, outcome: SentenceOutcome, reason: str, calls: Sequence[ModelCall]
) -> Answer[SynthesisSentence]:
    sentence = SynthesisSentence(text=draft.text, points=draft.points, outcome=outcome, reason=reason)
    return Answer(value=sentence, calls=tuple(calls))
