"""Whether a sentence says the opposite of its quotes: by words of negation, and by those of up and down.

Called by the first look. What is found here is a reason to look again, and never says that something is
supported. Of three languages at once: `nie` is Polish for not, and German for never. Linear in all texts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.normal_form import words
from actors.platform.text.relevance import content_words
from actors.systems.research.synthesis.word_forms import QuoteWords

_SENTENCE = re.compile(r"[.!?\n]+\s")
_CLAUSE = re.compile(r"[.,;:!?()–—\n]+")
# In the form of `normal_form.words`: `n't` is a word of its own, `isn t`.
_NEGATIONS = words_of_all("opposites", "negations")
# `Not only` denies nothing; nor does a `t` that no negation was written with.
_NOT_ONLY, _SHORTENED = words_of_all("opposites", "not_only"), words_of_all("opposites", "shortened")
# What denies without any of these words, by the beginnings of the words.
_DENIES = tuple(words_of_all("opposites", "denies"))
# Content words behind a negation that it denies.
_DENIED, _BEHIND = 2, 7
_DIRECTIONS = {
    **dict.fromkeys(words_of_all("opposites", "up"), 1),
    **dict.fromkeys(words_of_all("opposites", "down"), -1),
}


def is_negated(text: str) -> bool:
    """Whether a text has a word that denies something."""
    return any(_negations(words(clause).split()) for clause in _CLAUSE.split(text))


def denies(text: str) -> bool:
    """Whether a text denies anything, with a word of negation or another one."""
    told = words(text).split()
    return is_negated(text) or any(word.startswith(_DENIES) for word in told)


def drops_negation(sentence: str, quotes: Iterable[str]) -> bool:
    """Whether a sentence that denies nothing says what a sentence of a quote denies, and most of that."""
    if denies(sentence):
        return False
    said = QuoteWords([sentence])
    return any(
        denied and all(map(said.has_form, denied)) and _is_about(told, said)
        for quote in quotes
        for told in _SENTENCE.split(quote)
        for denied in _denied_words(told)
    )


def _denied_words(sentence: str) -> Iterator[list[str]]:
    """What each negation of a sentence denies: two content words behind it in its clause, else before it."""
    for clause in _CLAUSE.split(sentence):
        told = words(clause).split()
        for place in _negations(told):
            behind = [word for word in told[place + 1 : place + 1 + _BEHIND] if content_words(word)]
            before = [word for word in told[max(0, place - _BEHIND) : place] if content_words(word)]
            yield behind[:_DENIED] or before[-_DENIED:]


def _is_about(told: str, said: QuoteWords) -> bool:
    """Whether most content words of a quote's sentence are said."""
    content = content_words(told)
    return 2 * sum(map(said.has_kin, content)) > len(content)


def adds_negation(sentence: str, quotes: Iterable[str]) -> bool:
    """Whether a sentence denies something, and no quote does."""
    return is_negated(sentence) and not any(map(denies, quotes))


def turns_direction(sentence: str, quotes: Iterable[str]) -> bool:
    """Whether a sentence says only that something rises, and its quotes only that it falls; or so."""
    said = _directions(sentence)
    told = {way for quote in quotes for way in _directions(quote)}
    return len(said) == 1 and len(told) == 1 and said != told


def _directions(text: str) -> set[int]:
    return {_DIRECTIONS[word] for word in words(text).split() if word in _DIRECTIONS}


def _negations(told: Sequence[str]) -> list[int]:
    """The places of a clause's words of negation."""
    return [
        place
        for place, word in enumerate(told)
        if word in _NEGATIONS
        and (word != "t" or (place > 0 and told[place - 1] in _SHORTENED))
        and not (place + 1 < len(told) and told[place + 1] in _NOT_ONLY)
    ]
