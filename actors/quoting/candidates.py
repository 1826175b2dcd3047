"""Which sentences of some sources a text may quote: those that stand by themselves and bear on a request.

Called by whoever writes in quotations. Pure, but for the vectors, which the caller fetches in between: they
are wanted of the `shortlist` alone. What is chosen in the end is never more than what is offered here.
"""

import math
import re
from collections.abc import Iterable, Sequence

from actors.quoting.sentences import Sentence, as_read, sentences
from actors.quoting.standing import faults, says_nothing
from actors.text.language import Language, language_of
from actors.text.relevance import QuestionWords, content_words
from models.record import Record

# What the words, the meaning and the place of a sentence count for.
_WORDS, _MEANING, _PLACE = 0.4, 0.4, 0.2
# How much likeness to what is chosen already counts against a sentence (MMR; Carbonell and Goldstein, 1998).
_SAMENESS = 0.35
# From here on two sentences say the same: as cosine of their vectors, and as share of their words.
_SAME_MEANING = 0.93
_SAME_WORDS = 0.7
# Sentences of one source that are looked at: those of a long one are ranked by words and place first.
_MOST_OF_SOURCE = 4000
_OPENING, _CLOSING = "“„«»", "”“»«"
# Characters of what is quoted in one piece.
_LONGEST = 400
# "Ruth Adeyemi (Labour): …", "The Minister for Housing (Sarah Whitcombe): …"
_NAME = r"[A-ZÀ-Ž][\w.'’-]{0,30}"
_SPEAKER = re.compile(
    rf"{_NAME}(?: (?:{_NAME}|for|of|the|and|von|der|des|für|und|w|do|ds\.|i|z)){{0,7}}"
    r"(?: \([^()]{1,40}\)){0,2}: (?=\S)"
)
_TAKES_BACK: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"(?:but|however|yet|still|nevertheless|instead|that said)\b", re.IGNORECASE),
    "pl": re.compile(r"(?:ale|jednak|jednakże|lecz|natomiast|mimo to|tymczasem)\b", re.IGNORECASE),
    "de": re.compile(r"(?:aber|doch|jedoch|allerdings|dennoch|trotzdem|stattdessen)\b", re.IGNORECASE),
}

Vector = Sequence[float]


class Candidate(Record):
    """A sentence that may be quoted. `source` counts from 0, `start` and `end` are of that source's text."""

    source: int
    sentence: Sentence
    relevance: float

    @property
    def text(self) -> str:
        """The sentence."""
        return self.sentence.text


def quotable(text: str, language: Language) -> list[Sentence]:
    """What of a source can be quoted by itself, in order.

    A sentence that leans on the one before comes along with it: "The bank cut its rate. It gave no reason."
    One that is taken back at once is quoted with what takes it back, or not at all; what somebody says whose
    name stands before it, with that name: in a transcript no later paragraph of the same turn is.
    """
    found: list[Sentence] = []
    run: Sentence | None = None
    spoken: int | None = None
    everything = [_without_marks(one, text) for one in sentences(text, language)]
    is_transcript = _is_transcript(everything)
    for one in everything:
        wrong = faults(one.text, language)
        is_empty = wrong == ("fragment",) and says_nothing(one.text)
        if _takes_the_word(one, spoken):
            spoken = one.paragraph
            wrong = () if is_empty else wrong
        elif spoken is not None and (is_transcript or one.paragraph == spoken) and (not wrong or is_empty):
            wrong = ("needs_antecedent",)
        if run is not None and wrong == ("needs_antecedent",) and one.paragraph == run.paragraph:
            joined = run.model_copy(update={"text": f"{run.text} {one.text}", "end": one.end})
            if len(joined.text) <= _LONGEST:
                run = joined
                continue
            if takes_back(one.text, language):
                run = None
        if run is not None and not says_nothing(run.text):
            found.append(run)
        run = None if wrong else one
        if len(found) >= _MOST_OF_SOURCE:
            return found
    return found if run is None or says_nothing(run.text) else [*found, run]


def names_speaker(sentence: str) -> bool:
    """Whether a sentence begins with the name of who says it."""
    return _SPEAKER.match(sentence) is not None


def _takes_the_word(one: Sentence, spoken: int | None) -> bool:
    """Whether a sentence begins with who says it: in a turn under way with more than a word ("Namely: …")."""
    tag = _SPEAKER.match(one.text)
    return tag is not None and (one.paragraph != spoken or " " in tag[0].strip())


def _without_marks(one: Sentence, text: str) -> Sentence:
    """The words of a quotation whose footnote says who said them, without its quotation marks.

    So a text of quotations, an article of this site's own, can be quoted again.
    """
    if not text.startswith("[^", one.end) or one.text[:1] not in _OPENING or one.text[-1:] not in _CLOSING:
        return one
    start, end = one.start + 1, one.end - 1
    inner = as_read(text[start:end])
    return (
        one.model_copy(update={"text": inner, "start": start, "end": end}) if one.text[1:-1] == inner else one
    )


def _is_transcript(found: Iterable[Sentence]) -> bool:
    """Whether somebody has the word more than once."""
    named = [tag[0] for one in found if (tag := _SPEAKER.match(one.text))]
    return len(set(named)) < len(named)


def takes_back(sentence: str, language: Language) -> bool:
    """Whether a sentence begins by taking back what was said before it."""
    return _TAKES_BACK[language].match(sentence) is not None


def shortlist(sources: Sequence[str], request: str, *, most: int) -> list[Candidate]:
    """At most `most` sentences by the request's words and by their place, best first, none of them twice.

    Each source is read in its own language.
    """
    wanted = QuestionWords(request)
    asked = max(1, wanted.count)
    found = []
    for number, text in enumerate(sources):
        for place, sentence in enumerate(quotable(text, language_of(text))):
            shared = wanted.shared_with(sentence.text) / asked
            worth = _WORDS * shared + _PLACE / (1 + place / 3)
            found.append(Candidate(source=number, sentence=sentence, relevance=worth))
    found.sort(key=lambda one: (-one.relevance, one.source, one.sentence.start))
    kept: list[Candidate] = []
    words: list[frozenset[str]] = []
    for one in found:
        if len(kept) == most:
            break
        mine = content_words(one.text)
        if not any(_overlap(mine, other) >= _SAME_WORDS for other in words):
            kept.append(one)
            words.append(mine)
    return kept


def ranked(
    found: Sequence[Candidate], *, vectors: Sequence[Vector] | None, request: Vector | None, most: int
) -> list[Candidate]:
    """The best of a shortlist, best first: relevance, less the likeness to what comes before.

    Args:
        vectors: of the candidates, in their order; None where there are none: then the words decide.
        request: the vector of the request.
    """
    units = None if vectors is None else [_unit(vector) for vector in vectors]
    aim = None if request is None else _unit(request)
    words = [content_words(one.text) for one in found]

    def likeness(one: int, other: int) -> float:
        shared = _overlap(words[one], words[other])
        return shared if units is None else max(shared, _dot(units[one], units[other]))

    worth = [
        one.relevance + (_MEANING * max(0.0, _dot(units[n], aim)) if units and aim is not None else 0.0)
        for n, one in enumerate(found)
    ]
    left = list(range(len(found)))
    nearest = [0.0] * len(found)
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda n: (worth[n] - _SAMENESS * nearest[n], -n))
        chosen.append(best)
        left.remove(best)
        for n in left:
            nearest[n] = max(nearest[n], likeness(n, best))
        left = [n for n in left if nearest[n] < (_SAME_WORDS if units is None else _SAME_MEANING)]
    return [found[n].model_copy(update={"relevance": worth[n]}) for n in chosen]


def in_order(found: Sequence[Candidate]) -> list[Candidate]:
    """As their sources have them: the source of the best first, and each source's sentences in its order."""
    first: dict[int, int] = {}
    for one in found:
        first.setdefault(one.source, len(first))
    return sorted(found, key=lambda one: (first[one.source], one.sentence.start))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller one's words that both have."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0


def _unit(vector: Vector) -> list[float]:
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector] if length else list(vector)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))
