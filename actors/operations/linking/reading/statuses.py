"""Whether something is paid: by the value of a status, and by what a text says, in three languages.

Called by `reading.item`. Unclear is no status: a question, a condition, a request or what somebody believes
says nothing of how it stands. "Not yet paid", "nie zapłacono" and "noch nicht bezahlt" are open. Nor does a
clause that has a word before its verb which is not known: "much too early to call it paid".
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.knowledge.entities.names import without_accents
from actors.operations.linking.reading import status_words as known
from actors.operations.linking.reading.sentences import sentences
from actors.operations.linking.reading.status_words import PaymentState

_CLAUSE = re.compile(
    r",\s{1,3}(?=(?:but|however|while|whereas|although|though|and|yet|aber|jedoch|während|obwohl|und|doch|ale"
    r"|jednak|natomiast|a|lecz|choć|if|when|wenn|falls|jeśli|please|bitte|prosimy|proszę)\s)"
    r"|(?<!\s)\s{1,3}(?=(?:but|however|whereas|aber|jedoch|ale|natomiast|lecz|although)\s)"
    r"|(?<!\s)\s{1,3}(?=(?:while|and|und|oraz)\s(?:the\s|die\s)?(?:inv|faktur|rechnung|fv))"
    r"|\s[-–—]\s|:\s|,\s(?=[^\W_]{1,12}[-/]\d)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEAR = 7
_LONGEST_QUOTE = 160
# With fewer it is a heading.
_FEWEST_WORDS = 4
# "Bezahlt wurde die Rechnung nicht."
_NOT_BEHIND = frozenset(["not", "nicht", "nie", "never", "niemals", "nigdy", "nobody", "niemand", "nikt"])


class SaidState(NamedTuple):
    """What a clause says of a payment: from where to where the words stand, and those of the clause."""

    state: PaymentState
    start: int
    end: int
    clause: tuple[int, int]
    sentence: tuple[int, int]


def state_of(value: str, *, of_payment: bool) -> PaymentState | None:
    """What the value of a status says; `of_payment`: it is the status of what is to be paid."""
    plain = " ".join(
        without_accents(word) for word in value[:_LONGEST_QUOTE].replace("_", " ").replace("-", " ").split()
    )
    return known.VALUES.get(plain) or (known.OF_PAYMENTS.get(plain) if of_payment else None)


def states_in(text: str) -> Iterator[SaidState]:
    """What the clauses of a text say of payments; none of what is asked, wished, quoted or not clear."""
    for start, end, mark in sentences(text):
        if mark == "?":
            continue
        for first, last in _clauses(text, start, end):
            words = list(_WORD.finditer(text, first, last))
            spelled = [word[0] for word in words]
            found = _state(_plain(spelled))
            if found is None:
                continue
            said, begun, ended = found
            lead = _lead(text[start:first])
            state = _in_its_frame(said, spelled, begun, ended, lead)
            if state is None:
                continue
            left, right = words[begun].start(), words[ended].end()
            if right - left <= _LONGEST_QUOTE:
                yield SaidState(state, left, right, (first, last), (start, end))


def unclear_in(text: str) -> Iterator[tuple[int, int]]:
    """Sentences on payments that say nothing which is read; no questions, wishes or conditions."""
    told = {said.sentence for said in states_in(text)}
    for start, end, mark in sentences(text):
        words = _plain(_WORD.findall(text[start:end]))
        if mark == "?" or len(words) < _FEWEST_WORDS or (start, end) in told:
            continue
        if known.about_payments().search(" ".join(words)) and not (known.IF | known.WILL).intersection(words):
            yield start, end


def _lead(before: str) -> list[str]:
    """The words before a clause that it belongs to: those before a colon; `anything` before `but paid`."""
    words = _plain(_WORD.findall(before))
    leads = before.rstrip().endswith(":") or not known.listed("unsure").isdisjoint(words[-1:])
    return words if leads else []


def _plain(words: list[str]) -> list[str]:
    return [without_accents(word.replace("’", "'")) for word in words]


def _in_its_frame(
    said: PaymentState, spelled: list[str], begun: int, ended: int, lead: list[str]
) -> PaymentState | None:
    """What is said by a clause as a whole: turned round by who denies it; None where a word leaves it open.

    Args:
        lead: the words before a colon, where the clause stands behind one.
    """
    words = _plain(spelled)
    denies, unsure = known.listed("denies"), known.listed("unsure")
    if (denies | unsure | known.THINK | known.IF).intersection(lead):
        return None
    frame = range(ended + 1)
    behind = words[ended + 1 : ended + 1 + _NEAR]
    if unsure.intersection(words[: ended + 1]) or (
        said == "paid" and (denies | unsure | known.THINK | _NOT_BEHIND).intersection(behind)
    ):
        return None
    if any(spelled[n].islower() and words[n] not in known.vocabulary() for n in frame):
        return None
    denied = sum(words[n] in denies or "_".join(words[n : n + 2]) in denies for n in frame)
    if not denied:
        return said
    return "open" if denied == 1 and said == "paid" else None


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in _CLAUSE.finditer(text, start, end):
        if found.start() > start:
            yield start, found.start()
        start = found.end()
    yield start, end


def _state(words: list[str]) -> tuple[PaymentState, int, int] | None:
    """The state that a clause says, and by which of its words; none if two of them differ."""
    said: list[tuple[PaymentState | None, int, int]] = []
    # `bis heute`, `until now`: no condition.
    followed = zip(words, [*words, ""][1:], strict=True)
    words = ["" if word in known.UNTIL and after in known.NOW else word for word, after in followed]
    for at, word in enumerate(words):
        if word in known.PAID:
            said.append(_paid(words, at, at))
        elif word in known.OPEN or (word == "due" and words[at - 1 : at] == ["past"]):
            said.append(_open(words, at))
        elif word in known.MONEY and (verb := _near(words, at, known.CAME)) is not None:
            said.append(_paid(words, min(at, verb), max(at, verb)))
        elif word in known.MONEY and (verb := _near(words, at, known.WAIT)) is not None:
            clear = (
                _before(words, at, known.IF | known.THINK) is None and _before(words, verb, known.NOT) is None
            )
            said.append(("open" if clear else None, min(at, verb), max(at, verb)))
    states = {state for state, _, _ in said}
    if len(states) != 1:
        return None
    state, first, last = said[0]
    return (state, first, last) if state is not None else None


def _paid(words: list[str], first: int, last: int) -> tuple[PaymentState | None, int, int]:
    begun = first
    if (negated := _before(words, first, known.NOT)) is None and last > first:
        negated = next((n for n in range(first, last) if words[n] in known.NOT), None)
    if _before(words, first, known.IF | known.THINK) is not None:
        return None, first, last
    if negated is None and (waiting := _before(words, first, known.WAIT)) is not None:
        return "open", waiting, last
    if negated is None:
        if _before(words, first, known.WILL) is not None or words[first] == "pay":
            return None, first, last
        if first == last and words[first] == "paid" and _is_attribute(words, first):
            return None, first, last
        part = _before(words, first, known.PART) is not None or any(
            word in known.PART for word in words[last + 1 : last + 3]
        )
        helped = _before(words, first, known.HAS)
        begun = first if helped is None else _first_of(words, helped)
        return ("partly" if part else "paid"), begun, last
    begun = min(negated, first)
    # `no longer` and `not only`, `not until`: what is said of it is another thing.
    if any(
        word in known.LONGER or word in ("only", "nur", "tylko") for word in words[negated + 1 : negated + 2]
    ):
        return None, first, last
    if (
        sum(word in known.NOT for word in words[max(0, first - _NEAR) : last]) > 1
        and "nigdy" not in words
        and "nie" not in words
    ):
        return None, first, last
    helped = _before(words, negated, known.HAS)
    begun = begun if helped is None or negated - helped > 2 else _first_of(words, helped)
    after = last + 1 if words[last + 1 : last + 2] in (["yet"], ["noch"], ["jeszcze"]) else last
    return "open", begun, after


def _first_of(words: list[str], at: int) -> int:
    """Where the words of a verb begin that ends there: `has been`."""
    while at and words[at - 1] in known.HAS:
        at -= 1
    return at


def _is_attribute(words: list[str], at: int) -> bool:
    """Whether `paid` is said of what follows, not that it is so: `the paid invoice`, `paid leave`."""
    if _before(words, at, known.HAS) is not None:
        return False
    if at:
        return words[at - 1] in known.BEFORE_ATTRIBUTES
    return bool(words[1:]) and words[1] not in known.BEHIND_PAID


def _open(words: list[str], at: int) -> tuple[PaymentState | None, int, int]:
    if _before(words, at, known.IF | known.THINK | frozenset(["will", "wird", "bedzie"])) is not None:
        return None, at, at
    negated = _before(words, at, known.NOT | frozenset(["nothing", "nichts", "nic"]))
    if negated is None:
        return "open", at, at
    longer = words[negated + 1] in known.LONGER if negated + 1 < len(words) else False
    return ("paid", negated, at) if longer and words[at] not in ("overdue", "uberfallig") else (None, at, at)


def _before(words: list[str], at: int, some: frozenset[str]) -> int | None:
    """The last of some words before a place, and near it."""
    return next((n for n in range(at - 1, max(-1, at - 1 - _NEAR), -1) if words[n] in some), None)


def _near(words: list[str], at: int, some: frozenset[str]) -> int | None:
    """The nearest of some words to a place, on either side."""
    found = [n for n in range(max(0, at - _NEAR), min(len(words), at + _NEAR + 1)) if words[n] in some]
    return min(found, key=lambda n: (abs(n - at), n), default=None)
