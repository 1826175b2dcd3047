"""Which sentences of some sources a text may quote: those that stand by themselves and bear on a request.

Called by whoever writes in quotations. Pure, but for the vectors, which the caller fetches in between: they
are wanted of the `shortlist` alone. What is chosen in the end is never more than what is offered here.
"""

import math
from collections.abc import Sequence

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import language_of
from actors.platform.text.relevance import QuestionWords, content_words
from actors.platform.text.sentences.sentences import Sentence
from models.record import Record

# What the words, the meaning and the place of a sentence count for.
_WORDS, _MEANING, _PLACE = 0.4, 0.4, 0.2
# And how central it is to its source, where that is asked for.
_CENTRAL = 1.0
# How much likeness to what is chosen already counts against a sentence (MMR; Carbonell and Goldstein, 1998).
_SAMENESS = 0.2
# From here on two sentences say the same: as cosine of their vectors, and as share of their words.
_SAME_MEANING = 0.93
_SAME_WORDS = 0.7
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
    found: Sequence[Candidate],
    *,
    vectors: Sequence[Vector] | None,
    request: Vector | None,
    most: int,
    central: bool = False,
) -> list[Candidate]:
    """The best of a shortlist, best first: relevance, less the likeness to what comes before.

    Args:
        central: what is like the others counts for more (LexRank's idea; Erkan and Radev, 2004): wanted of a
            text that tells what its source says, and not of an answer to a question.
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
    if central and units is not None:
        worth = [one + _CENTRAL * share for one, share in zip(worth, _centrality(units), strict=True)]
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


def _centrality(units: Sequence[Vector]) -> list[float]:
    """How like all the others each one is: 1 for the one that is most."""
    middle = [sum(column) for column in zip(*units, strict=True)]
    shares = [_dot(unit, middle) - 1.0 for unit in units]
    most = max(shares, default=0.0)
    return [max(0.0, share / most) if most > 0 else 0.0 for share in shares]


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller one's words that both have."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0


def _unit(vector: Vector) -> list[float]:
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector] if length else list(vector)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))
