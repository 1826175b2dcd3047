"""Whether two words are forms of one: "inflacja" and "inflacji", "batteries" and "battery", not "battle".

Called by `bearing`. Words are in the form of `normal_form.words`. A beginning that is shared is not enough:
what is left of both must be endings of their language, or they share eight letters and half of the longer
one. Endings are data of each language (`configs/languages/<code>/word_forms.yaml`).
"""

from functools import cache, lru_cache

from actors.platform.text.language import Language
from actors.platform.text.lexicon import word_set

_FILE = "word_forms"
# Letters of a stem at least; of one before a long ending, as in "w|ami".
_STEM, _BEFORE_LONG, _LONG_ENDING = 3, 4, 3
# "unemploy|ment", "arbeitslos|enquote": one family, whatever they end in.
_FAMILY = 8
# Of a compound: letters of the word that is its end, or its beginning, and of what is left.
_PART, _REST = 4, 5


@lru_cache(maxsize=50_000)
def stem(word: str, language: Language) -> str:
    """A word without its ending, and with its stem's last letters as they are before no ending."""
    endings, longest = _endings(language)
    for length in range(min(longest, len(word) - _STEM), 0, -1):
        left = len(word) - length
        if word[left:] in endings and left >= (_STEM if length < _LONG_ENDING else _BEFORE_LONG):
            word = word[:left]
            break
    for soft, hard in _softened(language):
        if word.endswith(soft) and len(word) > _STEM:
            return word.removesuffix(soft) + hard
    return word


def noun_stem(word: str, language: Language) -> str:
    """A word without the longest ending that nouns and adjectives take; no verb's."""
    declined = word_set(language, _FILE, "declined")
    cut = next((at for at in range(_STEM, len(word)) if word[at:] in declined), len(word))
    return word[:cut]


def same_word(one: str, other: str, language: Language) -> bool:
    """Whether two words are forms of one, or of one family of words."""
    if stem(one, language) == stem(other, language):
        return True
    least = min(len(one), len(other))
    shared = next((at for at in range(least) if one[at] != other[at]), least)
    return shared >= _FAMILY and 2 * shared >= max(len(one), len(other))


def is_part_of(word: str, compound: str) -> bool:
    """Whether a German word is the end or the beginning of a compound: "Zinsen" of "Leitzins"."""
    part = stem(word, "de")
    if len(part) < _PART or len(compound) <= len(part):
        return False
    ends = compound.endswith(part) or stem(compound, "de").endswith(part)
    return (ends and len(compound) - len(part) >= _STEM) or (
        compound.startswith(part) and len(compound) - len(part) >= _REST
    )


def subject_of(word: str) -> str:
    """The part of a German compound that tells its subject: "gold" of "goldpreis"; a word itself else."""
    for head in sorted(word_set("de", _FILE, "heads"), key=len, reverse=True):
        if word.endswith(head) and len(word) - len(head) >= _PART:
            return word.removesuffix(head)
    return word


def is_general(word: str, language: Language) -> bool:
    """Whether a word of a question does not tell its subject: "price", "highest", "today"."""
    return word in word_set(language, _FILE, "general")


@cache
def _endings(language: Language) -> tuple[frozenset[str], int]:
    endings = word_set(language, _FILE, "endings")
    return endings, max(map(len, endings), default=0)


@cache
def _softened(language: Language) -> tuple[tuple[str, str], ...]:
    pairs = [one.partition("=") for one in word_set(language, _FILE, "softened")]
    return tuple((soft, hard) for soft, _, hard in sorted(pairs, key=lambda pair: -len(pair[0])))
