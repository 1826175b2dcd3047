"""What announces a clause, before a colon or in the line above it: whose words it may be then.

Called by `statuses`. "Kern writes:" and "To do:" leave untold what follows; "Note:" and a greeting don't, nor
what is known word by word and names no one. A line with a colon announces the paragraph under it.
"""

from collections.abc import Sequence

from actors.systems.operations.recognition import status_words as known
from actors.systems.operations.recognition.clauses import Clause


def lead_of(before: list[Clause], text: str) -> list[str]:
    """The words before a clause that it belongs to: those before a colon; `anything` before `but paid`."""
    words = [word for one in before for word in one.words]
    if not words:
        return []
    leads = _has_colon(before, text) or words[-1] in known.listed("unsure")
    return words if leads else []


def is_plain_lead(words: list[str]) -> bool:
    """Whether a lead only announces: `Note`, `Status of`, `Payment`; a number alone, or nothing."""
    said = [word for word in words if word]
    if not said:
        return True
    turned = known.listed("not", "no", "denies", "unsure", "think", "if", "will", "reports", "tells")
    return (
        turned.union(known.listed("speakers")).isdisjoint(said)
        and not known.listed("announces").isdisjoint(said)
        and known.vocabulary().union(known.listed("announces")).issuperset(said)
    )


def announced(every: Sequence[list[Clause]], text: str) -> set[int]:
    """Which sentences stand under a line with a colon that may say whose words they are."""
    found: set[int] = set()
    is_under, is_first = False, False
    for at, some in enumerate(every):
        start = some[0].sentence.start
        if at and not is_first and _is_parted(text, every[at - 1][0].sentence.end, start):
            is_under = False
        if is_under:
            found.add(at)
        is_first = False
        if any(one.words for one in some) and _has_colon(some, text):
            words = [word for one in some for word in one.words]
            greets = known.pattern_of("courtesies").match(text[start : some[-1].end].lstrip()) is not None
            is_under = is_first = not (greets or is_plain_lead(words))
    return found


def _has_colon(before: list[Clause], text: str) -> bool:
    """Whether a colon stands right behind the last of some clauses, or ends it."""
    last = before[-1]
    said = text[last.start : last.end].rstrip()
    return text[last.end : last.end + 20].lstrip()[:1] == ":" or said.endswith(":")


def _is_parted(text: str, end: int, start: int) -> bool:
    return text.count("\n", end, start) > 1
