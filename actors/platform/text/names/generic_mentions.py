"""Words that name nobody: who `the Company`, `the Chairman` or `we` is, only their text says.

A name that is made of nothing else is no name; `Board of Trade`
and `Bank of England` are.
"""

from collections.abc import Sequence
from functools import cache

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.names.legal_forms import form_words
from models.knowledge.points import EntityType

_FILE = "names"
# Each kind by itself: the `Project Management Institute` is somebody.
_KINDS = (("bodies", "parties", "offices"), ("things",))
# Of these, what a text says in one word is what another says: `president` is one office.
_COMMON_TO_ALL: frozenset[EntityType] = frozenset({"concept"})


def is_generic_mention(written: Sequence[str], entity_type: EntityType) -> bool:
    """Whether a name's words are pronouns, roles and legal forms only, with what points to them."""
    if not written:
        return False
    # `US` and `IT` are no pronouns.
    pronouns = words_of_all(_FILE, "pronouns")
    if all(word.casefold() in pronouns and (len(word) == 1 or not word.isupper()) for word in written):
        return True
    if entity_type in _COMMON_TO_ALL:
        return False
    words = [word.casefold() for word in written]
    return any(_are_roles(words, _words(*keys)) for keys in _KINDS)


@cache
def _words(*keys: str) -> frozenset[str]:
    return frozenset().union(*(words_of_all(_FILE, key) for key in keys))


def _are_roles(words: Sequence[str], roles: frozenset[str]) -> bool:
    # With their plurals, and `the Companys` of `the Company's`.
    named = [word in roles or (word[-1] == "s" and word[:-1] in roles) for word in words]
    beside = _words("pointing", "which") | form_words()
    return all(role or word in beside for word, role in zip(words, named, strict=True)) and (
        any(named) or any(word in form_words() for word in words)
    )


def is_pointing(word: str) -> bool:
    """Whether a word only points: an article, `this`, `our`."""
    return word.casefold() in words_of_all(_FILE, "pointing")
