"""What a question names: numbers, addresses, names. They are what servers are searched for. Pure.

A person sees them in the plan. Without any, everything that the searches list is read.
"""

import re
from collections.abc import Iterable

from actors.platform.text.lexicon import words_of_all

_MOST = 12
_LONGEST = 80
_QUOTED = re.compile(r"[\"“”„«»']([^\"“”„«»']{2,80})[\"“”„«»']")
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,120}")
_WORD = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„«»]{1,80}")
# Words that begin a question and are no part of a name.
_OPENERS = words_of_all("search_terms", "openers")


def search_terms_in(question: str) -> tuple[str, ...]:
    """Names and numbers of a question, in its order, each once; at most 12."""
    found: list[str] = []
    found += [match.group(1).strip() for match in _QUOTED.finditer(question)]
    found += _EMAIL.findall(question)
    run: list[str] = []
    for match in _WORD.finditer(question):
        word = match.group().strip(".'’-")
        bare = word.removesuffix("'s").removesuffix("’s")
        if _names(bare, begun=bool(run)):
            run.append(bare)
            if bare == word and not question[match.end() : match.end() + 1].strip():
                continue
        found.append(" ".join(run))
        run = []
    found.append(" ".join(run))
    return distinct(found, most=_MOST)


def distinct(texts: Iterable[str], *, most: int) -> tuple[str, ...]:
    """The first of each that is not empty, whatever its case."""
    kept: dict[str, str] = {}
    for text in texts:
        plain = " ".join(text.split())[:_LONGEST]
        if len(plain) > 1:
            kept.setdefault(plain.casefold(), plain)
    return tuple(kept.values())[:most]


def _names(word: str, *, begun: bool) -> bool:
    """Whether a word is part of a name or is a number: written with a capital, or with a digit."""
    if any(character.isdigit() for character in word):
        return True
    if word.casefold() in _OPENERS:
        return False
    return word[:1].isupper() or (begun and word in ("&",))
