"""The second look where no model can judge: the words that sentence and quotes share, and how near they are.

Called as a `SupportChecker` on sites whose only model chooses by number. The measure is chosen on WiCE's dev
part, and benchmarks/RESULTS.md (support_check) says how often it is right on the test part: it is a coarse
one. MiniLM reads English; of other languages the words alone are measured.
"""

from collections.abc import Sequence

from actors.platform.search.embedder import Embedder
from actors.platform.text.language import Language
from actors.platform.text.vectors import cosine
from actors.systems.research.synthesis.support_precheck import first_look
from models.llm import Answer
from models.record import Record
from models.research.synthesis import SupportQuestion, SupportVerdict

# What the words count for beside the meaning, and from where on quotes support a sentence: the most that is
# found with 0.7 of it right, on WiCE's dev part. Where the words are all there is, see the second.
WORDS_SHARE, LEAST = 0.3, 0.62
LEAST_WORDS = 0.71


class SupportMeasure(Record):
    """How like its quotes a sentence is: the share of its words that they have, the cosine of the nearest."""

    covered: float
    cosine: float | None

    def measure(self, words_share: float = WORDS_SHARE) -> float:
        """Both in one number, up to 1."""
        if self.cosine is None:
            return self.covered
        return words_share * self.covered + (1 - words_share) * max(0.0, self.cosine)

    @property
    def supports(self) -> bool:
        """Whether that is enough."""
        return self.measure() >= (LEAST_WORDS if self.cosine is None else LEAST)


class MeasuredSupport:
    """Judges by words and by meaning. `embedder` None: by words alone."""

    def __init__(self, embedder: Embedder | None, *, language: Language) -> None:
        self._embedder = embedder if language == "en" else None
        self._language: Language = language

    async def check(self, question: SupportQuestion) -> Answer[SupportVerdict]:
        """See `actors.systems.research.synthesis.ports.SupportChecker`."""
        look = first_look(question.sentence, question.quotes, language=self._language, titles=question.titles)
        if look.refuses or look.look == "exact":
            verdict = SupportVerdict(
                verdict="does_not_support" if look.refuses else "supports", reason=look.reason
            )
            return Answer(value=verdict)
        near = None
        if self._embedder is not None:
            sentence, *quotes = await self._embedder.embed([question.sentence, *question.quotes])
            near = nearest(sentence, quotes)
        likeness = SupportMeasure(covered=look.covered, cosine=near)
        meaning = "" if near is None else f", and the nearest is {near:.2f} of 1 like it"
        verdict = SupportVerdict(
            verdict="supports" if likeness.supports else "does_not_support",
            reason=f"its quotes have {look.covered:.0%} of its words{meaning}",
        )
        return Answer(value=verdict)


def nearest(sentence: Sequence[float], quotes: Sequence[Sequence[float]]) -> float:
    """The cosine of the quote that is nearest to a sentence."""
    return max((cosine(sentence, quote) for quote in quotes), default=0.0)
