"""What is said about what was found, where no model writes: sentences put together by code. Pure.

Each rests on evidence: `C1`, a correlation, or `K1`, a conflict, and says no more than that does.
"""

import json
from collections.abc import Mapping, Sequence

from models.operations.evidence import Conflict, ConflictKind, LinkedItems
from models.operations.items import SourceItem
from models.operations.results import EvidencedSentence
from models.text import how_many

MOST_SENTENCES = 12
_TODO: Mapping[ConflictKind, str] = {
    "status": "Find out whether {about} has been paid before anything else is paid for it.",
    "amount": "Have the amount of {about} confirmed by both sides before it is paid.",
    "due_date": "Agree on when {about} is due.",
    "hold": "Pay nothing for {about} until whoever holds it back has released it.",
    "dispute": "Settle the dispute about {about} before it is paid.",
    "duplicate": "Make sure that {about} is paid once.",
    "missing": "Ask for {about}, which one system speaks of and another does not have.",
    "contact": "Confirm the contact of {about} by a way that was known before.",
    "bank_details": "Pay nothing for {about} until its bank details are confirmed at a known number.",
}


def mark_of_conflict(number: int) -> str:
    """How sentences name a conflict."""
    return f"K{number}"


def mark_of_correlation(number: int) -> str:
    """How sentences name a correlation."""
    return f"C{number}"


def bearing_first(linked: LinkedItems, items: Sequence[SourceItem], leads: Sequence[str]) -> list[Conflict]:
    """The conflicts, those first that have to do with what was looked for."""
    bears = {item.id for item in items if _names_one(item, leads)}
    return sorted(linked.conflicts, key=lambda one: not {one.left.item, one.right.item} & bears)


def summary(linked: LinkedItems, conflicts: Sequence[Conflict]) -> tuple[EvidencedSentence, ...]:
    """What belongs together, and each contradiction, the first ones of `conflicts`."""
    told: list[EvidencedSentence] = []
    if linked.correlations:
        marks = [mark_of_correlation(one.number) for one in linked.correlations]
        count = len(linked.correlations)
        told.append(
            EvidencedSentence(
                text=f"{how_many(count, 'pair')} of things in different systems "
                f"{'belongs' if count == 1 else 'belong'} together.",
                evidence=tuple(marks[:MOST_SENTENCES]),
            )
        )
    room = MOST_SENTENCES - len(told) - 1
    told += [
        EvidencedSentence(text=conflict.explanation, evidence=(mark_of_conflict(conflict.number),))
        for conflict in conflicts[:room]
    ]
    if more := conflicts[room:]:
        told.append(
            EvidencedSentence(
                text=f"{how_many(len(more), 'more contradiction')} stand in the results.",
                evidence=tuple(mark_of_conflict(one.number) for one in more[:MOST_SENTENCES]),
            )
        )
    return tuple(told)


def recommendations(conflicts: Sequence[Conflict]) -> tuple[EvidencedSentence, ...]:
    """What to do about each kind of contradiction, each once for what it is about."""
    kept: dict[str, list[str]] = {}
    for conflict in conflicts:
        text = _TODO[conflict.kind].format(about=conflict.about)
        kept.setdefault(text, []).append(mark_of_conflict(conflict.number))
    some = list(kept.items())[:MOST_SENTENCES]
    return tuple(EvidencedSentence(text=text, evidence=tuple(marks)) for text, marks in some)


def _names_one(item: SourceItem, leads: Sequence[str]) -> bool:
    """Whether something that was looked for stands in a thing: all of its words do."""
    said = json.dumps(item.data, ensure_ascii=False, default=str).casefold()
    return any(all(word in said for word in lead.casefold().split()) for lead in leads)
