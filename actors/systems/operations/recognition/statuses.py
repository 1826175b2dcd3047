"""Whether something is paid: by the value of a status, and by what a text says, in three languages.

Called by `reading.claims`. Unclear is no status: a question, a condition, a request, hearsay, or what is
taken back behind it. "Not yet paid", "nie zapłacono" and "paid: no" are open. Nor does a sentence say a thing
with a word that is not known: "much too early to call it paid"; nor before a sentence that is not understood.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from actors.platform.text.normal_form import without_accents
from actors.platform.text.numbers.amounts import amounts
from actors.platform.text.numbers.dates import days
from actors.systems.operations.recognition import status_words as known
from actors.systems.operations.recognition.beside import Places, first_not_understood, no_condition
from actors.systems.operations.recognition.clause_states import clause_state
from actors.systems.operations.recognition.clauses import Clause, clauses
from actors.systems.operations.recognition.invoices import number_like_tokens
from actors.systems.operations.recognition.known_words import is_known, is_one_statement
from actors.systems.operations.recognition.leads import announced, is_plain_lead, lead_of
from actors.systems.operations.recognition.status_words import PaymentState
from actors.systems.operations.recognition.wholes import is_between_marks, is_whole

_LONGEST_QUOTE = 160
# With fewer it is a heading.
_FEWEST_WORDS = 4
# A label has no more: `Already paid: no`.
_LONGEST_LABEL = 3
# How many clauses behind one may take back what it says; a sentence of more is not understood.
_LOOKED_AHEAD = 20
_MARK = re.compile(r"\s{0,3}[:=–—-]\s{0,3}")
# What is crossed, or a box that is not.
_CROSSED = re.compile(r"[✗✘✕❌☐]|\[ ?\]")
_ENDED = re.compile(r"[,;.(]")
_NUMBER_BEHIND = re.compile(r"[.:#\s]{0,3}\d")
_DONE: tuple[PaymentState, ...] = ("paid", "partly")


class SaidState(NamedTuple):
    """What a clause says of a payment: from where to where the words stand, and those of the clause."""

    state: PaymentState
    start: int
    end: int
    clause: tuple[int, int]
    sentence: tuple[int, int]


class UnclearSentence(NamedTuple):
    """A sentence on payments; it is understood where something was read of each of some of its clauses.

    `says`: how a payment stands, were it clear; a sum or a day that was read of it is not that.
    """

    start: int
    end: int
    clauses: tuple[tuple[int, int], ...]
    says: bool


def state_of(value: str, *, of_payment: bool) -> PaymentState | None:
    """What the value of a status says; `of_payment`: it is the status of what is to be paid."""
    plain = " ".join(
        without_accents(word) for word in value[:_LONGEST_QUOTE].replace("_", " ").replace("-", " ").split()
    )
    said = known.values(of_payment=False).get(plain)
    return said or (known.values(of_payment=True).get(plain) if of_payment else None)


def answer_of(value: str) -> bool | None:
    """What a value says to whether something is paid: yes, no, or neither; it says nothing else."""
    words = set(re.findall(r"[^\W_]+", without_accents(value[:_LONGEST_QUOTE])))
    no = known.listed("not") | known.listed("no")
    if words & no and words <= no | known.listed("yet"):
        return False
    return True if words and words <= known.listed("yes") else None


def names_others(sentence: str) -> bool:
    """Whether a sentence is about everything else, or an account as a whole."""
    words = map(without_accents, re.findall(r"[^\W\d_]+", sentence))
    return not known.listed("others").isdisjoint(words)


def is_on_payments(value: str) -> bool:
    """Whether a value has a word that has to do with payments, or with one that did not stay."""
    words = [without_accents(word) for word in re.findall(r"[^\W\d_]+", value[:_LONGEST_QUOTE])]
    return known.finds("about", words) or known.finds("takes_back", words)


def states_in(text: str, names: Places = ()) -> Iterator[SaidState]:
    """What the clauses of a text say of payments; none of what is asked, wished, quoted or not clear.

    Args:
        names: where in it companies are named.
    """
    every = _framed_sentences(text)
    done = (one.end for some, states in every for one in _told(some, states, text) if one.state in _DONE)
    first_done = min(done, default=len(text))
    said_of = announced([some for some, _ in every], text)
    for at, (some, states) in enumerate(every):
        left_open = at in said_of or _is_left_open(*every[max(0, at - 1) : at])
        for said in _told(some, states, text):
            if said.state in _DONE and (left_open or _takes_back(every, at, said, text, names) is not None):
                continue
            # What is said of no number, and is otherwise than what was said before it.
            is_against = said.state == "open" and not any(one.numbers for one in some)
            if is_against and first_done < some[0].start:
                continue
            yield said


class _Framed(NamedTuple):
    """What a clause says by itself and what stands before it in its sentence; None where that is nothing."""

    state: PaymentState
    start: int
    end: int


_Sentence = tuple[list[Clause], list[_Framed | None]]


def _framed_sentences(text: str) -> list[_Sentence]:
    return [(some, [_framed(some, at, text) for at in range(len(some))]) for some in clauses(text)]


def _framed(some: list[Clause], at: int, text: str) -> _Framed | None:
    clause = some[at]
    # A sentence of more is not understood.
    if len(some) > _LOOKED_AHEAD or clause.sentence.mark == "?" or not (found := clause_state(clause.words)):
        return None
    said, begun, ended = found
    state, answered = _answered(said, text, clause, ended)
    if answered is None and state is not None:
        state = _in_its_frame(said, clause, begun, ended, some[:at], text)
        state = state if state and _stands(state, some[at + 1 :], text) else None
    if state is None:
        return None
    return _Framed(state, clause.places[begun][0], answered or clause.places[ended][1])


def _told(some: list[Clause], states: list[_Framed | None], text: str) -> Iterator[SaidState]:
    for clause, framed in zip(some, states, strict=True):
        if framed is not None and framed.end - framed.start <= _LONGEST_QUOTE:
            sentence = (clause.sentence.start, clause.sentence.end)
            yield SaidState(framed.state, framed.start, framed.end, (clause.start, clause.end), sentence)


def _is_left_open(*before: _Sentence) -> bool:
    """Whether the sentence before tells of what somebody says or doubts, and not what that is."""
    if not before:
        return False
    some, states = before[-1]
    words = [word for one in some for word in one.words]
    return not any(states) and (_is_hearsay(words) or not known.listed("tells").isdisjoint(words))


def _takes_back(
    every: list[_Sentence], at: int, said: SaidState, text: str, names: Places
) -> list[Clause] | None:
    """The first sentence behind one that may take back what it says."""
    behind = [
        (some, [one and one.state for one in states])
        for some, states in every[at + 1 : at + 1 + _LOOKED_AHEAD]
    ]
    return first_not_understood(every[at][0], behind, text, names)


def unclear_in(text: str, names: Places = ()) -> Iterator[UnclearSentence]:
    """Sentences on payments, each with what must be read of it; no questions, wishes or conditions.

    Whoever calls knows what was read. A question that is answered at once says something.
    """
    told, asked = False, None
    every = _framed_sentences(text)
    taking_back = {
        found[0].sentence.start
        for at, (some, states) in enumerate(every)
        for said in _told(some, states, text)
        if said.state in _DONE and (found := _takes_back(every, at, said, text, names)) is not None
    }
    for some, _ in every:
        start, end, mark = some[0].sentence
        words = [word for clause in some for word in clause.words]
        said = any(clause_state(one.words) or _is_label(one, text) for one in some)
        answered = answer_of(_ENDED.split(text[start:end], maxsplit=1)[0]) is not None
        if asked is not None and (answered or _doubts(words)):
            yield UnclearSentence(asked, end, (), says=True)
        asked = start if mark == "?" and (said or _is_about(words)) else None
        wished = known.listed("if", "will").difference(known.listed("may_be")).intersection(words)
        excepts = no_condition().search(text, start, end) is not None
        wished = wished if not excepts else frozenset()
        is_about = _is_about(words) or (
            not known.listed("came").isdisjoint(words) and next(amounts(text[start:end]), None) is not None
        )
        back = (told or is_about) and known.finds("takes_back", words)
        told = told or said
        is_long = len(words) >= _FEWEST_WORDS or _is_hearsay(words)
        is_shown = said or (not wished and (back or (is_about and is_long)))
        if (mark != "?" and is_shown) or start in taking_back:
            yield UnclearSentence(start, end, tuple(_to_be_read(some, text)), says=said or excepts)


def _is_label(clause: Clause, text: str) -> bool:
    """Whether it is a word on payments that is answered behind it."""
    return _is_about(clause.words) and _answer_at(text, clause.end, clause.sentence.end) is not None


def _to_be_read(some: list[Clause], text: str) -> Iterator[tuple[int, int]]:
    """The clauses that say a thing of their own: of a number, or that something is not so; no answers."""
    denies = known.listed("not").union(known.listed("denies"), known.listed("unsure"))
    for before, clause in zip([None, *some], some, strict=False):
        end = clause.sentence.end
        if before is not None and _answer_at(text, before.end, end) is not None:
            continue
        is_denied = not denies.isdisjoint(clause.words)
        is_about = _is_about(clause.words)
        says = (is_about and (clause.numbers or is_denied)) or (clause.numbers and is_denied)
        if says or known.finds("takes_back", clause.words):
            answered = _answer_at(text, clause.end, end)
            yield clause.start, answered[1] if answered else clause.end


def _is_about(words: list[str]) -> bool:
    return known.finds("about", words)


def _answered(
    said: PaymentState, text: str, clause: Clause, ended: int
) -> tuple[PaymentState | None, int | None]:
    """What a label says by the answer behind it, `paid: no`, and where that ends; None where nothing answers.

    A label with neither an answer, a number nor a day says nothing.
    """
    place, end = clause.places[ended][1], clause.sentence.end
    behind = _MARK.match(text, place, end)
    if behind is None or ended >= _LONGEST_LABEL:
        return said, None
    if (found := _answer_at(text, place, end)) is not None:
        answer, answered = found
        return (said if answer else ("open" if said == "paid" else None)), answered
    is_label = behind[0].strip() in (":", "=")
    return (None if is_label and not _names_a_thing(text[behind.end() : end]) else said), None


def _answer_at(text: str, place: int, end: int) -> tuple[bool, int] | None:
    """The yes or no that stands behind a mark at a place, and where it ends."""
    behind = _MARK.match(text, place, end)
    if behind is None:
        return None
    words = _ENDED.split(text[behind.end() : min(end, behind.end() + _LONGEST_QUOTE)], maxsplit=1)[0].rstrip()
    answer = answer_of(words)
    return None if answer is None else (answer, behind.end() + len(words))


def _names_a_thing(rest: str) -> bool:
    """Whether what a label is of begins so: a number of something, or a day."""
    some = chain(number_like_tokens(rest, 0, len(rest)), ((start, end) for start, end, _ in days(rest)))
    return any(not rest[:start].strip(" #(*_") for start, _ in some)


def _in_its_frame(
    said: PaymentState, clause: Clause, begun: int, ended: int, before: list[Clause], text: str
) -> PaymentState | None:
    """What is said by a clause as a whole: turned round by who denies it; None where a word leaves it open.

    Args:
        before: the clauses before it, in its sentence.
    """
    words = clause.words
    denies, unsure = known.listed("denies"), known.listed("unsure") | known.listed("think")
    lead = lead_of(before, text)
    if (denies | unsure | known.listed("if")).intersection(lead) or _CROSSED.search(
        text, clause.start, clause.end
    ):
        return None
    # `all but INV-2041 have been paid`
    if before and known.listed("excepting").intersection(before[-1].words[-1:]):
        return None
    if unsure.intersection(words[: ended + 1]) or not is_known(clause, range(ended + 1), text):
        return None
    if said in _DONE and (
        _is_hearsay([*(word for one in before for word in one.words), *words])
        or _is_open(clause, range(ended + 1, len(words)), text)
        or not is_one_statement(clause, ended)
        or not is_whole(clause, begun, ended, text)
        or is_between_marks(clause.places[ended][0], text)
        or not is_plain_lead(lead)
        or not all(one.numbers or is_known(one, range(len(one.words)), text) for one in before)
    ):
        return None
    frame = range(ended + 1)
    denying = [n for n in frame if words[n] in denies or "_".join(words[n : n + 2]) in denies]
    denied = len(denying)
    if not denied:
        return said
    # `The dispute was settled`, `We disputed it and paid`.
    nouns, joined = known.listed("determiners"), known.listed("joins")
    if any(
        nouns.intersection(words[max(0, n - 1) : n]) or joined.intersection(words[n:begun]) for n in denying
    ):
        return None
    return "open" if denied == 1 and said == "paid" else None


def _is_hearsay(words: list[str]) -> bool:
    return not (known.listed("reports") | known.listed("unsure") | known.listed("think")).isdisjoint(words)


def _is_open(clause: Clause, some: range, text: str) -> bool:
    """Whether words behind "paid" leave it open: `Bezahlt wurde sie nicht`, `paid by mistake`."""
    if not is_known(clause, some, text) or known.finds("takes_back", [clause.words[n] for n in some]):
        return True
    turned = known.listed("not") | known.listed("no") | known.listed("denies", "if", "open_behind")
    return any(
        clause.words[n] in turned and not _NUMBER_BEHIND.match(text, clause.places[n][1]) for n in some
    )


def _stands(state: PaymentState, rest: list[Clause], text: str) -> bool:
    """Whether none of the other clauses of its sentence, behind a clause, takes back what it says."""
    for one in rest:
        if state in _DONE and (_is_hearsay(one.words) or not is_known(one, range(len(one.words)), text)):
            return False
        # `… - or was it`
        if state in _DONE and known.listed("or").intersection(one.words[:1]):
            return False
        if one.numbers:
            # `KR-77 was paid, KR-79 sorry`
            return state not in _DONE or not known.finds("turns", one.words) or bool(clause_state(one.words))
        wished = known.listed("if", "will").intersection(one.words)
        if known.listed("not").intersection(one.words) or (
            known.finds("about", one.words) and not wished and clause_state(one.words) is None
        ):
            return False
    return state not in _DONE or not any(
        (known.finds("takes_back", one.words) and not one.numbers)
        or known.listed("only").intersection(one.words)
        for one in rest
    )


def _doubts(words: list[str]) -> bool:
    return not known.listed("not", "denies", "unsure", "think").isdisjoint(words)
