"""The words with which people say that something is paid, or not, in each language that has them.

Called by `statuses` and what it calls. A mail may be in any language, so a word counts in whichever it is.
They are compared in small letters, without accents. Which words these are is in the folders of the languages
(`payments.yaml`).
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Literal

from actors.platform.text.language import Language
from actors.platform.text.lexicon import folders, lexicon, phrase_pattern, phrase_set, word_set
from actors.platform.text.normal_form import without_accents
from actors.platform.text.word_forms import noun_stem

PaymentState = Literal["paid", "partly", "open", "void"]

_FILE = "payments"
_PLAIN = ("plain", "signing", "matters", "courtesies", "thanks_for")
# A shorter one is that of many words.
_STEM = 4
# All of what says something of a payment; `plain` changes nothing of it.
_SAYING = ("paid", "open", "money", "came", "wait", "not", "longer", "until", "now", "part", "has")


@cache
def listed(*keys: str) -> frozenset[str]:
    """The words under keys of `payments.yaml`, of all languages, and as `of_language` marks them."""
    some = [(word, one) for one in folders(_FILE) for key in keys for word in _words(one, key)]
    return frozenset(chain.from_iterable((word, of_language(word, one)) for word, one in some))


@cache
def _words(language: Language, *keys: str) -> frozenset[str]:
    keys = keys or tuple(lexicon(language, _FILE))
    return frozenset(without_accents(word) for key in keys for word in word_set(language, _FILE, key))


def of_language(word: str, language: Language | None) -> str:
    """A word; one that is a word of other languages too is marked as that of its own: `by~pl`.

    "by" is "would" in Polish, and "do" is "to".
    """
    if language is None or word not in _words(language):
        return word
    is_shared = any(word in _words(other) for other in folders(_FILE) if other != language)
    return f"{word}~{language}" if is_shared else word


@lru_cache(maxsize=20_000)
def is_foreign(word: str, language: Language | None) -> bool:
    """Whether it is known in another language alone, where it changes nothing: "bar" is German for cash."""
    if language is None or not word or word in _words(language):
        return False
    others = [one for one in folders(_FILE) if one != language and word in _words(one)]
    return bool(others) and not any(word in _meaning(one) for one in others)


@cache
def _meaning(language: Language) -> frozenset[str]:
    """The words of a language that say something of a payment, or leave it open."""
    return _words(language, *(key for key in lexicon(language, _FILE) if key not in _PLAIN))


def language_of_words(words: Sequence[str]) -> Language | None:
    """The language of which more of some words are known than of each other; None where none is that."""
    counts = sorted(
        ((sum(word in _words(one) for word in words), one) for one in folders(_FILE)), reverse=True
    )
    return counts[0][1] if counts[0][0] > counts[1][0] else None


@cache
def phrases(key: str) -> frozenset[str]:
    """The phrases under a key, of all languages, without accents."""
    return frozenset(map(without_accents, spelled(key)))


@cache
def spelled(key: str) -> frozenset[str]:
    """The phrases under a key, of all languages, as they are spelled."""
    return frozenset().union(*(phrase_set(one, _FILE, key) for one in folders(_FILE)))


@cache
def values(*, of_payment: bool) -> dict[str, PaymentState]:
    """What the values of a status say; `of_payment`: it is the status of what is to be paid."""
    states: tuple[PaymentState, ...] = ("paid", "partly", "open", "void")
    kind = "bill" if of_payment else "value"
    return {value: state for state in states for value in phrases(f"{kind}_{state}")}


@cache
def vocabulary() -> frozenset[str]:
    """The words that are known: those of which each says something of a payment, or changes nothing of it."""
    parts_of_nouns = ("determiners", "adjectives", "bill", "sums", "currencies", "times", "objects")
    return listed(*_SAYING, "plain", "denies", "reports", "titles", "yes", "no", "yet", *parts_of_nouns)


@lru_cache(maxsize=20_000)
def is_declined(word: str) -> bool:
    """Whether an unknown word is another form of a noun or adjective that is known: `voller`."""
    return not any(word in _words(one) for one in folders(_FILE)) and any(
        noun_stem(word, one) in _plain_stems(one) for one in folders(_FILE)
    )


@cache
def _plain_stems(language: Language) -> frozenset[str]:
    plain = _words(language, "plain") - _words(
        language, *_SAYING, "finite", "if", "will", "unsure", "subjects"
    )
    stems = {noun_stem(word, language) for word in plain}
    return frozenset(one for one in stems if len(one) >= _STEM)


@cache
def finder(key: str) -> re.Pattern[str]:
    """What finds a word of those under a key in a text of small letters without accents; `*`: any ending."""
    some = "|".join(sorted(re.escape(word).replace(r"\*", r"\w{0,30}") for word in listed(key)))
    return re.compile(rf"(?<!\w)(?:{some})(?!\w)")


def finds(key: str, words: list[str]) -> bool:
    """Whether one of some words is one under a key; `*` there: with any ending."""
    return finder(key).search(" ".join(words)) is not None


@cache
def pronouns(language: Language) -> frozenset[str]:
    """The pronouns of a language that may stand for a payment; what is one here is another word there."""
    some = _words(language, "pronouns")
    return some | {of_language(word, language) for word in some}


@cache
def pattern_of(key: str) -> re.Pattern[str]:
    """What finds phrases under a key in a text as it stands."""
    return re.compile(
        "|".join(phrase_pattern(one, (_FILE, key)).pattern for one in folders(_FILE)), re.IGNORECASE
    )
