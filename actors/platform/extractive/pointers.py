"""Short sentences that point at the one beside them: they turn it round, or say whose it is.

Called by `quotable`. "No laboratory could confirm this." and "Belegt ist das nicht." come along with what
they are on, or it is not offered; nor is what "Imagine the following." leads to without that. Which words
point is in the folders of the languages (`pointers.yaml`).
"""

import re

from actors.platform.text.language import Language
from actors.platform.text.lexicon import phrase_pattern

_FILE, _VOICES = "pointers", "voices"
_WORD = re.compile(r"[\w'’]+")
_LONGEST, _LONGEST_FIRST, _LONGEST_REPLY = 12, 8, 3
# Of the words at the end, so many are looked at.
_LAST = 4


def turns_round(sentence: str, language: Language) -> bool:
    """Whether a sentence denies or takes back what it points at, right before it: `It did not.`, `Really?`"""
    words = _WORD.findall(sentence)
    if not words or len(words) > _LONGEST:
        return False
    if sentence.endswith("?"):
        return len(words) <= _LONGEST_REPLY
    denied = list(phrase_pattern(language, (_FILE, "turns"), (_VOICES, "negation")).finditer(sentence))
    if not denied:
        return False
    is_reply = len(words) <= _LAST and not _WORD.search(sentence, denied[-1].end())
    return is_reply or _points_back(sentence, words, language)


def leads_to(sentence: str, language: Language) -> bool:
    """Whether a sentence leads to what is not the text's own: `Imagine the following.`"""
    words = _WORD.findall(sentence)
    return (
        len(words) <= _LONGEST and phrase_pattern(language, (_FILE, "forward")).search(sentence) is not None
    )


def _points_back(sentence: str, words: list[str], language: Language) -> bool:
    """Whether a pronoun is among its last words or begins a short one, or a noun is for what was told."""
    if phrase_pattern(language, (_FILE, "tellings")).search(sentence):
        return True
    pointers = phrase_pattern(language, (_FILE, "pointers"))
    if len(words) <= _LONGEST_FIRST and words[1:] and words[1].islower() and pointers.fullmatch(words[0]):
        return True
    last = list(_WORD.finditer(sentence))[-_LAST:]
    return any(
        pointers.fullmatch(one[0]) is not None and (place + 1 == len(last) or last[place + 1][0].islower())
        for place, one in enumerate(last)
        if one.start()
    )
