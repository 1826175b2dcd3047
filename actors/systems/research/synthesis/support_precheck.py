"""The first look at a sentence, by code: whether its quotes have its numbers, its names and its words.

Called by whoever settles sentences, and by the benchmark. What no quote has is foreign; where all is there,
the sentence is supported, in so far as words tell; everything between is for the second look. Pure, and
linear in the sentence and the quotes.
"""

from collections.abc import Sequence
from typing import Literal

from actors.platform.text.language import Language
from actors.platform.text.normal_form import words_in_parts
from actors.platform.text.numbers.number_readings import numbers_in
from actors.platform.text.numbers.unsupported_numbers import unsupported_numbers
from actors.platform.text.relevance import content_words
from actors.platform.text.sentences.sentences import as_read, sentences
from actors.systems.research.synthesis.names import KnownNames
from actors.systems.research.synthesis.opposites import adds_negation, drops_negation, turns_direction
from actors.systems.research.synthesis.word_forms import QuoteWords
from models.record import Record
from models.text import one_line, shortened

Look = Literal["exact", "supported", "contradicted", "foreign", "undecided"]

# From this share of its content words on, a sentence with nothing foreign in it is supported.
_MOST_WORDS = 0.8
_MOST_TOLD = 5
_TOLD = 40


class FirstLook(Record):
    """What code finds. `reason` is for people and for the writer."""

    look: Look
    reason: str

    @property
    def refuses(self) -> bool:
        """Whether the sentence can't stand as it is, whoever looks next."""
        return self.look in ("contradicted", "foreign")


def first_look(
    sentence: str, quotes: Sequence[str], *, language: Language, titles: Sequence[str] = ()
) -> FirstLook:
    """What the quotes have of a sentence.

    Args:
        language: the sentence's; quotes may be in any of the three.
        titles: of the quotes' sources; they may name whom the quotes don't, and support nothing else.
    """
    if is_exact(sentence, quotes):
        return FirstLook(look="exact", reason="it stands in its source, word for word")
    known, named = QuoteWords(quotes), [*quotes, *titles]
    names = KnownNames(named, QuoteWords(named))
    mine = _words_apart_from_numbers(sentence, language)
    same = names.by_acronym(sentence)
    lacking = [word for word in mine if word not in same and not known.has_kin(word)]
    covered = 1 - len(lacking) / len(mine) if mine else 0.0
    numbers = unsupported_numbers(sentence, language, quotes, ())
    if numbers:
        told = _told([number.text.strip() for number in numbers])
        return FirstLook(look="foreign", reason=f"no quote has the number or date {told}")
    missing = names.missing_from(sentence, language)
    if missing.sure:
        return FirstLook(look="foreign", reason=f"no quote has the name {_told(missing.sure)}")
    if against := _opposite(sentence, quotes):
        return FirstLook(look="contradicted", reason=against)
    if missing.doubtful:
        return FirstLook(look="undecided", reason=f"no quote has {_told(missing.doubtful)}")
    if covered >= _MOST_WORDS:
        return FirstLook(look="supported", reason="its quotes have its words")
    return FirstLook(look="undecided", reason=f"its quotes lack words: {_told(lacking)}")


def is_exact(sentence: str, quotes: Sequence[str]) -> bool:
    """Whether a sentence is a quote or a whole sentence of one, word for word, as its reader sees it."""
    line = one_line(sentence)
    return bool(line) and any(_is_of(line, quote) for quote in quotes)


def _is_of(line: str, quote: str) -> bool:
    read = as_read(quote)
    return line == read or (line in read and any(line == one.text for one in sentences(quote)))


def _words_apart_from_numbers(sentence: str, language: Language) -> list[str]:
    """The content words, each once; what is a number or its unit is looked for as such."""
    rest, at = [], 0
    for number in numbers_in(sentence, language):
        rest.append(sentence[at : number.start])
        at = number.end
    parts = (part for text in (*rest, sentence[at:]) for part in words_in_parts(text))
    return sorted({word for part in parts for word in part.split() if content_words(word)})


def _opposite(sentence: str, quotes: Sequence[str]) -> str | None:
    if adds_negation(sentence, quotes):
        return "it denies something, and no quote does"
    if drops_negation(sentence, quotes):
        return "it leaves out the “not” of its quote"
    if turns_direction(sentence, quotes):
        return "it says the opposite of up or down"
    return None


def _told(texts: Sequence[str]) -> str:
    return ", ".join(f"“{shortened(text, _TOLD)}”" for text in list(dict.fromkeys(texts))[:_MOST_TOLD])
