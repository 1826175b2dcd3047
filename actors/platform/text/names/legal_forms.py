"""Legal forms at the end of a company's name: which there are, and when they make two of one name."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from actors.platform.text.lexicon import phrases_of_all, words_of_all

_FILE = "names"
_LONGEST_FORM = 4
_SHORTEST_JOINED = 2
# It says little: `Ford Motor Co.` and `Ford Motor Co. Ltd.` are one.
_WEAK_FORM = "co"


def form_words() -> frozenset[str]:
    """The words that legal forms are written with; letters by themselves say nothing."""
    return _forms().words


def is_form_word(word: str) -> bool:
    """Whether a word in small letters may be of a legal form: `ag`, `sp`."""
    return word in _forms().words or word in _forms().capital.values()


class _Forms(NamedTuple):
    """Legal forms by how they are written: in any letters, in these capitals, together with a name."""

    spelled: dict[tuple[str, ...], str]
    capital: dict[str, str]
    joined: dict[str, str]
    words: frozenset[str]


@cache
def _forms() -> _Forms:
    pairs = [one.partition("=") for one in phrases_of_all(_FILE, "forms")]
    spelled = {tuple(form.split()): same or form for form, _, same in pairs}
    pairs = [one.partition("=") for one in words_of_all(_FILE, "joined_forms")]
    # The longer ones first.
    pairs.sort(key=lambda pair: (-len(pair[0]), pair[0]))
    joined = {form: same or form for form, _, same in pairs}
    words = {word for form in spelled for word in form if len(word) > 1}
    capital = {form: form.casefold() for form in words_of_all(_FILE, "capital_forms")}
    return _Forms(spelled, capital, joined, frozenset(words) | frozenset(joined))


def without_legal_forms(written: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """A company's words without its legal forms, and these. At least one word stays."""
    words = list(written)
    forms = set[str]()
    while words:
        for size in range(min(_LONGEST_FORM, len(words) - 1), 0, -1):
            last = words[-size:]
            form = _forms().spelled.get(tuple(word.casefold() for word in last))
            form = form or (_forms().capital.get(last[0]) if size == 1 else None)
            if form:
                forms.add(form)
                words = words[:-size]
                break
        else:
            if forms and len(words) > 1 and words[-1].casefold() in ("and", "und", "i"):
                words = words[:-1]  # of `GmbH & Co. KG`
                continue
            break
    if len(words) > 1 and words[0] in ("株", "주"):
        forms.add(_forms().spelled[words[0],])
        words = words[1:]
    return _without_joined(words, forms), frozenset(forms)


def _without_joined(words: list[str], forms: set[str]) -> list[str]:
    for written, form in _forms().joined.items():
        if words and words[-1].endswith(written):
            rest = [*words[:-1], words[-1].removesuffix(written)]
        elif words and words[0].startswith(written):
            rest = [words[0].removeprefix(written), *words[1:]]
        else:
            continue
        rest = [word for word in rest if word]
        if len("".join(rest)) >= _SHORTEST_JOINED:
            forms.add(form)
            return rest
    return words


def different_forms(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two companies of one name have legal forms that make them two. One without any is either's."""
    if not first or not second or first == second:
        return False
    one, other = first - {_WEAK_FORM}, second - {_WEAK_FORM}
    if one and other:
        return one != other
    return not (_WEAK_FORM in first and _WEAK_FORM in second)
