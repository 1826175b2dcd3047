"""How a payment stands by the words of one clause: by its verb, and what denies it or leaves it open.

Called by `statuses`, which knows what stands around the clause. Words are small and without accents.
"""

from actors.systems.operations.recognition.arrivals import money_came
from actors.systems.operations.recognition.status_words import PaymentState, finds, listed

_NEAR = 7
# A German verb ends its clause.
_BRACKET = 15
# A clause of more words is not understood.
_LONGEST = 150


def clause_state(words: list[str]) -> tuple[PaymentState, int, int] | None:
    """The state that a clause says, and by which of its words; none if two of them differ."""
    said: list[tuple[PaymentState | None, int, int]] = []
    named: list[tuple[PaymentState | None, int, int]] = []
    # `Wurde INV-7 bezahlt, …`: a question or a condition.
    if listed("inverts").intersection(words[:1]) and _begins_subject(words[1:]):
        return None
    if len(words) > _LONGEST:
        return None
    # `bis heute`, `until now`: no condition.
    followed = zip(words, [*words, ""][1:], strict=True)
    words = ["" if word in listed("until") and after in listed("now") else word for word, after in followed]
    for at, word in enumerate(words):
        if word in listed("paid"):
            said.append(_paid(words, at, at))
        elif word in listed("open") or (
            word in listed("due") and listed("past").intersection(words[at - 1 : at])
        ):
            (named if _is_of_noun(words, at) else said).append(_open(words, at))
        elif (
            word in listed("money", "sums")
            and (verb := _near(words, at, listed("came"), _BRACKET)) is not None
        ):
            found = _paid(words, min(at, verb), max(at, verb))
            said.append(found if money_came(words, at, verb) or found[0] == "open" else (None, *found[1:]))
        elif word in listed("money") and (verb := _near(words, at, listed("wait"))) is not None:
            clear = (
                _before(words, at, listed("if", "think")) is None
                and _before(words, verb, listed("not")) is None
            )
            said.append(("open" if clear else None, min(at, verb), max(at, verb)))
    # `We wired the outstanding sum`: how it was before; if nothing else is said, how it is.
    if not said and not finds(
        "about", [word for word in words if word not in listed("open", "money", "sums")]
    ):
        said = named
    states = {state for state, _, _ in said}
    if len(states) != 1:
        return None
    state, first, last = said[0]
    return (state, first, last) if state is not None else None


def _paid(words: list[str], first: int, last: int) -> tuple[PaymentState | None, int, int]:
    begun = first
    # Far before it what leaves it open is not near enough to say of what it is: `Nobody in our … has paid`.
    far = listed("not", "if", "think", "will").intersection(words[: max(0, first - _NEAR)])
    # `Die Zahlung wird heute eingegangen sein`
    if far or (last > first and listed("if", "think", "will").intersection(words[first + 1 : last])):
        return None, first, last
    if (negated := _before(words, first, listed("not"))) is None and last > first:
        negated = next((n for n in range(first, last) if words[n] in listed("not")), None)
    if _before(words, first, listed("if", "think")) is not None:
        return None, first, last
    if negated is None and (waiting := _before(words, first, listed("wait"))) is not None:
        return "open", waiting, last
    if negated is None:
        if _before(words, first, listed("will")) is not None or words[first] in listed("bare"):
            return None, first, last
        if first == last and words[first] in listed("attribute") and _is_attribute(words, first):
            return None, first, last
        part = _before(words, first, listed("part")) is not None or any(
            word in listed("part") for word in words[last + 1 : last + 3]
        )
        helped = _before(words, first, listed("has"))
        begun = first if helped is None else _first_of(words, helped)
        return ("partly" if part else "paid"), begun, last
    begun = min(negated, first)
    # `Nobody confirms that`, `Nicht wir haben`: another thing is denied.
    that = next((n for n in range(first - 1, -1, -1) if words[n] in listed("that")), 0)
    if listed("not").intersection(words[:that]) or listed("subjects").intersection(
        words[negated + 1 : negated + 2]
    ):
        return None, first, last
    # `no longer` and `not only`, `not until`: what is said of it is another thing.
    if listed("longer", "only").intersection(words[negated + 1 : negated + 2]):
        return None, first, last
    denied = sum(word in listed("not") for word in words[max(0, first - _NEAR) : last])
    if denied > 1 and listed("doubled").isdisjoint(words):
        return None, first, last
    helped = _before(words, negated, listed("has"))
    begun = begun if helped is None or negated - helped > 2 else _first_of(words, helped)
    after = last + 1 if listed("yet_behind").intersection(words[last + 1 : last + 2]) else last
    return "open", begun, after


def _is_of_noun(words: list[str], at: int) -> bool:
    """Whether a word is said of the noun behind it: `the outstanding invoice`."""
    before, after = words[max(0, at - 1) : at], words[at + 1 : at + 2]
    fits = not after[0] or after[0] in listed("bill", "money", "sums", "currencies") if after else False
    return fits and (not before or before[0] in listed("determiners"))


def _begins_subject(words: list[str]) -> bool:
    return bool(words) and (not words[0] or words[0] in listed("determiners", "bill", "subjects", "money"))


def _first_of(words: list[str], at: int) -> int:
    """Where the words of a verb begin that ends there: `has been`."""
    while at and words[at - 1] in listed("has"):
        at -= 1
    return at


def _is_attribute(words: list[str], at: int) -> bool:
    """Whether `paid` is said of what follows, not that it is so: `the paid invoice`, `paid leave`."""
    if _before(words, at, listed("has")) is not None:
        return False
    if at:
        return words[at - 1] in listed("before_attributes")
    return bool(words[1:]) and words[1] not in listed("behind_paid")


def _open(words: list[str], at: int) -> tuple[PaymentState | None, int, int]:
    if _before(words, at, listed("if", "think", "would")) is not None:
        return None, at, at
    negated = _before(words, at, listed("not", "naught"))
    if negated is None:
        return "open", at, at
    longer = words[negated + 1] in listed("longer") if negated + 1 < len(words) else False
    return ("paid", negated, at) if longer and words[at] not in listed("overdue") else (None, at, at)


def _before(words: list[str], at: int, some: frozenset[str]) -> int | None:
    """The last of some words before a place, and near it."""
    return next((n for n in range(at - 1, max(-1, at - 1 - _NEAR), -1) if words[n] in some), None)


def _near(words: list[str], at: int, some: frozenset[str], far: int = _NEAR) -> int | None:
    """The nearest of some words to a place, on either side."""
    found = [n for n in range(max(0, at - far), min(len(words), at + far + 1)) if words[n] in some]
    return min(found, key=lambda n: (abs(n - at), n), default=None)
