"""Whether a word stands in some quotes in another form: of English, Polish and German, without a dictionary.

Called by the first look. Two rules, both on words in `normal_form`: names and numbers' neighbours must be one
word but for an ending of inflection; other words may share a beginning. Time and memory are linear in the
quotes, whatever stands in them: each word gives a few keys, and keys are looked up.
"""

from collections.abc import Iterable

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.normal_form import words_in_parts

# Endings of inflection, longest first; what is left has at least `_STEM` letters.
_ENDINGS = sorted(words_of_all("quote_endings", "endings"), key=lambda ending: (-len(ending), ending))
_STEM = 3
# A stem's last letter may change as well, where enough is left: `Niemcy`, `w Niemczech`.
_CHANGES = 5
# Longer words are as good as cut; and how much of a word is its beginning.
_LONGEST = 24
_ENDING, _BEGINNING = 2, 4
# A shorter word of the quotes that a longer one of the sentence begins with: `announced`, `announcement`.
_ROOT, _LONGEST_TAIL = 5, 6


def stem(word: str) -> str:
    """A word without its ending of inflection."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word


def inflections(word: str) -> frozenset[str]:
    """The keys of a word: two words may be forms of one where they have a key in common."""
    if len(word) <= _STEM:
        return frozenset([word])
    short = stem(word)
    return frozenset([short, short[:-1]]) if len(short) >= _CHANGES else frozenset([word, short])


class QuoteWords:
    """The words of some quotes, read once."""

    def __init__(self, quotes: Iterable[str]) -> None:
        self._words: set[str] = set()
        for quote in quotes:
            for part in words_in_parts(quote):
                self._words.update(word[:_LONGEST] for word in part.split())
        self._forms = {key for word in self._words for key in inflections(word)}
        self._stems = {short for word in self._words if len(short := stem(word)) >= _ROOT}
        self._beginnings = {
            word[:length] for word in self._words for length in range(_BEGINNING, len(word) + 1)
        }

    def __contains__(self, word: str) -> bool:
        """Whether the word itself stands there."""
        return word[:_LONGEST] in self._words

    def has_form(self, word: str) -> bool:
        """Whether a form of the word stands there, so that a name may be the same name."""
        word = word[:_LONGEST]
        return word in self._words or not self._forms.isdisjoint(inflections(word))

    def has_kin(self, word: str) -> bool:
        """Whether a word of the same beginning stands there, so that it may be of the same meaning."""
        word = word[:_LONGEST]
        if self.has_form(word) or word[: max(_BEGINNING, len(word) - _ENDING)] in self._beginnings:
            return True
        tails = range(max(_ROOT, len(word) - _LONGEST_TAIL), len(word))
        return any(word[:length] in self._stems for length in tails)
