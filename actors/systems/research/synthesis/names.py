"""The names that a sentence names, as far as spelling tells, and which of them are in none of some quotes.

Called by the first look. A name is a capitalised word within a sentence, or one in capitals or with figures
in it (`ECB`, `G7`). What begins a sentence may be any word, and in German so may any capital: such names are
doubtful. `ECB` is the `European Central Bank`, either way. Linear in the sentence and in the quotes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from actors.platform.text.language import Language
from actors.platform.text.normal_form import words
from actors.platform.text.numbers.number_readings import numbers_in
from actors.platform.text.relevance import content_words
from actors.systems.research.synthesis.word_forms import QuoteWords
from models.record import Record
from models.text import word_list

_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+){0,6}")
_MOST = 300
# Behind these, as at the beginning, a capital says nothing.
_BEGINS = re.compile(r"(?:[.!?:;“„«»\"(–—][”“»\"')\s]{0,4}|\A[\s“„«»\"'(]{0,4})\Z")
_LOOKED_BACK = 8
# Letters of an acronym, each of which begins a word.
_ACRONYM = range(2, 7)
# What is written with a capital and names nobody: days, and what stands before names.
_NO_NAMES = frozenset(
    word_list(
        "i monday tuesday wednesday thursday friday saturday sunday mr mrs ms dr prof sir president king "
        "queen prime minister chancellor pan pani herr frau"
    )
)


class MissingNames(Record):
    """Names that no quote has, as the sentence writes them. `doubtful` ones may be other words."""

    sure: tuple[str, ...]
    doubtful: tuple[str, ...]


class KnownNames:
    """The names and the acronyms of some quotes."""

    def __init__(self, quotes: Iterable[str], known: QuoteWords) -> None:
        self._known = known
        self._acronyms: set[str] = set()
        initials = []
        for quote in quotes:
            capitals = [token for token in _tokens(quote) if token[0].isupper()]
            initials.append("".join(token[0] for token in capitals).lower())
            self._acronyms.update(short for token in capitals if (short := _acronym(token)))
        self._initials = " ".join(initials)

    def missing_from(self, sentence: str, language: Language) -> MissingNames:
        """The sentence's names that no quote has, in no form, each once; those of months are numbers'."""
        numbers = {at for one in numbers_in(sentence, language) for at in range(one.start, one.end)}
        tokens = [found for found in _TOKEN.finditer(sentence) if found.start() not in numbers][:_MOST]
        spelled = self._spelled_out([token[0] for token in tokens])
        sure: list[str] = []
        doubtful: list[str] = []
        for place, token in enumerate(tokens):
            word = token[0]
            if place in spelled or not _may_be_name(word) or self._has(word):
                continue
            if _is_marked(word):
                sure.append(word)
            elif word[0].isupper() and content_words(word):
                before = sentence[max(0, token.start() - _LOOKED_BACK) : token.start()]
                is_doubtful = language == "de" or _BEGINS.search(before) is not None
                (doubtful if is_doubtful else sure).append(word)
        return MissingNames(sure=tuple(dict.fromkeys(sure)), doubtful=tuple(dict.fromkeys(doubtful)))

    def by_acronym(self, sentence: str) -> frozenset[str]:
        """The words of a sentence that quotes have as an acronym, or the other way round: in `words` form."""
        tokens = list(_tokens(sentence))[:_MOST]
        shortened = [token for token in tokens if _acronym(token) and self._has(token)]
        found = [*shortened, *(tokens[place] for place in self._spelled_out(tokens))]
        return frozenset(part for token in found for part in words(token).split())

    def _has(self, word: str) -> bool:
        parts = [part for part in words(word).split() if len(part) > 1]
        if parts and all(map(self._known.has_form, parts)):
            return True
        short = _acronym(word)
        return short is not None and (
            short in self._acronyms or short in self._known or short in self._initials
        )

    def _spelled_out(self, tokens: Sequence[str]) -> set[int]:
        """The places of words that are an acronym of the quotes, written out."""
        capitals = [place for place, token in enumerate(tokens) if token[0].isupper()]
        initials = "".join(tokens[place][0] for place in capitals).lower()
        found: set[int] = set()
        for length in _ACRONYM:
            for at in range(len(initials) - length + 1):
                if initials[at : at + length] in self._acronyms:
                    found.update(capitals[at : at + length])
        return found


def _tokens(text: str) -> Iterator[str]:
    return (found[0] for found in _TOKEN.finditer(text))


def _may_be_name(word: str) -> bool:
    return word[0].isalpha() and words(word) not in _NO_NAMES


def _is_marked(word: str) -> bool:
    """Whether no other word is written so: in capitals, with a capital or a figure within it."""
    return len(word) > 1 and any(char.isupper() or char.isdecimal() for char in word[1:])


def _acronym(word: str) -> str | None:
    """The letters of `ECB`, `U.S.` or `ECB's`, in lower case; None where it is no acronym."""
    bare = re.sub(r"['’]s\Z", "", word).replace(".", "")
    return bare.lower() if bare.isalpha() and bare.isupper() and len(bare) in _ACRONYM else None
