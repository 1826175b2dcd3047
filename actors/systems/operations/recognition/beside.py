"""What stands behind a payment: whether each sentence there is understood, so that none can take it back.

Called by `statuses`. Who writes "Scrap that" or "two days later it was gone" needs no word that is in a list.
So a sentence that is no courtesy, signature, understood state nor other matter leaves the payment untold.
"""

import re
from collections.abc import Collection, Sequence

from actors.platform.text.language import language_of
from actors.platform.text.normal_form import without_accents
from actors.systems.operations.recognition import status_words as known
from actors.systems.operations.recognition.clauses import Clause
from actors.systems.operations.recognition.status_words import PaymentState

Places = Collection[tuple[int, int]]
# A line of more is no signature.
_LONGEST_SIGNATURE = 6
_LOOKED_BACK = 20
# What a sentence that is no more than a name ends with.
_NOT_HARMLESS = ("money", "not", "no", "paid", "open", "others", "came", "turns")
_NO_MARK = ("", "\n", "\r")


def first_not_understood(
    payment: list[Clause],
    behind: Sequence[tuple[list[Clause], Sequence[PaymentState | None]]],
    text: str,
    names: Places,
) -> list[Clause] | None:
    """The first sentence behind a payment that may take it back; None if each of them is understood.

    Args:
        payment: the sentence that tells of it.
        behind: the sentences there, with what each of their clauses says of a payment.
        names: where in the text companies are named.
    """
    signs = bool(_covered("courtesies", payment, text))
    for some, states in behind:
        courteous = _covered("courtesies", some, text) + [
            (start, end) for start, end in _covered("thanks_for", some, text) if not _denies(text[start:end])
        ]
        if not any(any(one.words) or one.numbers for one in some):
            continue
        if not (_is_state(some, states) or (signs := _is_signature(some, text, names, signs))) and not (
            signs := _is_other_matter(some, text, names, courteous)
        ):
            return some
        signs = signs or bool(courteous)
    return None


def _is_state(some: list[Clause], states: Sequence[PaymentState | None]) -> bool:
    """Whether each clause says how a payment stands; one of no number that it is paid, as was said before."""
    own = any(one.numbers for one in some)
    return None not in states and (own or all(state in ("paid", "partly") for state in states))


def _is_signature(some: list[Clause], text: str, names: Places, signs: bool) -> bool:
    """Whether a line is a name: of a company that is known, of two words, or of one behind a courtesy."""
    places = [place for one in some for place in one.places]
    words = [word for one in some for word in one.words]
    spelled = [word for one in some for word in one.spelled]
    if any(one.numbers for one in some) or not words or len(words) > _LONGEST_SIGNATURE:
        return False
    if all(
        _is_within(place, names) or word in known.listed("signing")
        for place, word in zip(places, words, strict=True)
    ):
        return True
    start, _, mark = some[0].sentence
    before = text[max(0, start - _LOOKED_BACK) : start].rstrip(" \t")
    begins_line = not before or before[-1] in "\n\r"
    if mark not in _NO_MARK or not begins_line:
        return False
    return (len(words) > 1 or signs) and all(
        word in known.listed("signing", "legal_forms")
        or (not shape.islower() and word not in _all_words() and not _is_on_money(word))
        for word, shape in zip(words, spelled, strict=True)
    )


def _is_other_matter(some: list[Clause], text: str, names: Places, courteous: Places) -> bool:
    """Whether it is a courtesy or about another matter, in words that are known alone.

    It has no pronoun that may stand for the payment, no word on money, and denies nothing.
    """
    language = language_of(text)
    pronouns = known.pronouns(language)
    matters = _covered("matters", some, text)
    if not (matters or courteous) or some[0].sentence.mark == "?":
        return False
    harmless = known.listed("plain", "has", "now") - known.listed(*_NOT_HARMLESS)
    if known.finds("takes_back", [word for one in some for word in one.words]):
        return False
    if not matters:
        harmless -= known.listed("finite")
    for one in some:
        for n, (word, place) in enumerate(zip(one.words, one.places, strict=True)):
            if not word or any(_is_within(place, those) for those in (names, courteous, matters)):
                continue
            # `Best regards, Anna Lind, Kern GmbH`
            if (courteous and _is_capital_to_the_end(one, n)) or word in known.listed(
                "legal_forms", "titles"
            ):
                continue
            before_a_matter = n + 1 < len(one.words) and _is_within(one.places[n + 1], matters)
            if word in pronouns and not before_a_matter:
                return False
            if word not in harmless or _is_on_money(word):
                return False
    return True


def _is_capital_to_the_end(clause: Clause, n: int) -> bool:
    """Whether from a word on all have a capital and are names: none says something."""
    return all(
        not clause.spelled[at].islower()
        and (clause.words[at] not in _all_words() or clause.words[at] in known.listed("signing"))
        and not _is_on_money(clause.words[at])
        for at in range(n, len(clause.words))
    )


def _all_words() -> frozenset[str]:
    return known.vocabulary() | known.listed("unsure", "think", "will", "if")


def no_condition() -> re.Pattern[str]:
    """What finds an `if` that makes no condition: `as if`, `bis auf`."""
    return known.pattern_of("no_condition")


def _denies(words: str) -> bool:
    found = {without_accents(word) for word in words.split()}
    return not known.listed("not", "denies", "unsure").isdisjoint(found)


def _is_on_money(word: str) -> bool:
    return known.finds("about", [word]) or known.finds("takes_back", [word])


def _covered(key: str, some: list[Clause], text: str) -> list[tuple[int, int]]:
    """Where in a sentence phrases under a key stand."""
    start, end, _ = some[0].sentence
    return [found.span() for found in known.pattern_of(key).finditer(text, start, end)]


def _is_within(place: tuple[int, int], some: Places) -> bool:
    return any(start <= place[0] and place[1] <= end for start, end in some)
