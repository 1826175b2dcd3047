"""Whether a text is about what a question asks.

Called by the agents that answer from sources. Search ranks what there is, and the nearest of a small stock
may be far off. So what the question names must stand in the text, in some form or by its name in another
language. Where other words of it do not, the text must be the nearer in meaning the fewer there are: measured
by `tests/unit/text/questions.yaml`. Takes time linear in the text; long ones are work for a thread.
"""

import re
from itertools import islice

from actors.platform.text.glossary import Naming, is_place, other_names
from actors.platform.text.language import Language, language_of
from actors.platform.text.lexicon import languages
from actors.platform.text.normal_form import words, words_in_parts
from actors.platform.text.relevance import content_words
from actors.platform.text.word_forms import is_general, is_part_of, same_word, stem, subject_of

# Words of a question that count: whoever asks in more words has pasted a text.
_MOST = 64
# By the share of the question's words that a text has: how near it must be. MiniLM reads English; what is in
# one other language is near by that alone, and across languages nothing is.
_ENGLISH = ((2 / 3, 0.3), (1 / 2, 0.5), (0.0, 0.6))
_OTHER = ((2 / 3, 0.45), (1 / 2, 0.6))
_ACROSS = ((2 / 3, 0.2), (1 / 2, 0.5))
# What a text must have of a question's words where nobody knows how near it is.
_UNMEASURED = 3 / 4
# Inflected words share their first letters.
_KEY = 3
# Letters of words that carry meaning where the glossary has them: "Öl".
_SHORT = 2
_TOKEN = re.compile(r"[^\s\"“”„«»()\[\]{},;:!?/–—-]+|[!?]")
_SENTENCE_ENDS = (".", "!", "?")


def bears_on(question: str, text: str, similarity: float | None = None) -> bool:
    """Whether a text is about what a question asks.

    Args:
        similarity: the cosine of its best passage, where that was measured.
    """
    asked, there = language_of(question), language_of(text)
    wanted = _telling(question, asked)
    if not wanted:
        return False
    names = names_written(question, asked)
    found = _found(wanted, text, asked, there)
    missing = wanted - found
    if any(word in names or is_place(word) for word in missing):
        return False
    share = len(found) / len(wanted)
    if not missing or similarity is None:
        return share >= _UNMEASURED
    alike = _ENGLISH if asked == "en" else _OTHER
    floors = alike if asked == there else _ACROSS
    return any(share >= least and similarity >= near for least, near in floors)


def _telling(question: str, language: Language) -> frozenset[str]:
    """The words of a question that tell its subject; all that carry meaning where none does more."""
    carrying = content_words(question)
    said = dict.fromkeys(words(question).split())
    every = list(islice((word for word in said if word in carrying or _is_short_noun(word)), _MOST))
    telling = [word for word in every if not is_general(word, language)]
    return frozenset(telling or every)


def _is_short_noun(word: str) -> bool:
    return len(word) == _SHORT and any(other_names(word, language) for language in languages())


def names_written(question: str, language: Language) -> frozenset[str]:
    """The words of a question that are written as names.

    In German all nouns have capitals, and there only those count that are written in more than one.
    """
    if question.isupper() or question.istitle():
        return frozenset()
    found: set[str] = set()
    begins = True
    for token in _TOKEN.findall(question):
        capitals = sum(letter.isupper() for letter in token)
        if capitals > 1 or (capitals and token[0].isupper() and not begins and language != "de"):
            found.update(words(token).split())
        begins = token.endswith(_SENTENCE_ENDS)
    return frozenset(found)


def _found(wanted: frozenset[str], text: str, asked: Language, there: Language) -> frozenset[str]:
    """Those of the question's words that a text has, in some form or under another name."""
    called = {word: _called(word, asked, there) for word in wanted}
    sought = {(part, name.language) for names in called.values() for name in names for part in name.words}
    seen = _seen(sought, text, compounds=there == "de")
    return frozenset(
        word
        for word, names in called.items()
        if any(all((part, name.language) in seen for part in name.words) for name in names)
    )


def _called(word: str, asked: Language, there: Language) -> frozenset[Naming]:
    """What a word of a question may be called in a text: names are the same in both languages."""
    telling = subject_of(word) if asked == "de" else word
    as_it_is = {Naming(language, (telling,)) for language in (asked, there)}
    # A few words may be in any language: "Zinsen in 2026" is read as English.
    listed = (other_names(telling, each) for each in (languages() if asked == "en" else (asked,)))
    return frozenset(as_it_is).union(*listed)


def _seen(sought: set[tuple[str, Language]], text: str, *, compounds: bool) -> set[tuple[str, Language]]:
    """Those of some words that a text has in some form; in `compounds`, too, where it is German."""
    by_key: dict[str, list[tuple[str, Language]]] = {}
    for word, language in sought:
        by_key.setdefault(word[:_KEY], []).append((word, language))
    german = {word: stem(word, "de") for word, language in sought if language == "de"} if compounds else {}
    seen: set[tuple[str, Language]] = set()
    for part in words_in_parts(text):
        for there in set(part.split()):
            seen.update(each for each in by_key.get(there[:_KEY], ()) if same_word(each[0], there, each[1]))
            seen.update(
                (word, "de") for word, part in german.items() if part in there and is_part_of(word, there)
            )
    return seen
