"""What is said about what was found, where no model writes: sentences put together by code. Pure.

Each rests on evidence: `C1`, a correlation, or `K1`, a conflict, and says no more than that does.
"""

from collections.abc import Mapping, Sequence

from models.operations.evidence import Conflict, ConflictKind, LinkedItems
from models.operations.results import AgentResult, EvidencedSentence
from models.text import how_many

MOST_SENTENCES = 12
_TODO: Mapping[ConflictKind, str] = {
    "status": "Find out whether {about} has been paid before anything else is paid for it.",
    "amount": "Have the amount of {about} confirmed by both sides before it is paid.",
    "due_date": "Agree on when {about} is due.",
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


def summary(results: Sequence[AgentResult], linked: LinkedItems) -> tuple[EvidencedSentence, ...]:
    """What was read, what belongs together, and each contradiction, the first ones."""
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
    told += [
        EvidencedSentence(text=conflict.explanation, evidence=(mark_of_conflict(conflict.number),))
        for conflict in linked.conflicts
    ]
    return tuple(told[:MOST_SENTENCES])


def recommendations(conflicts: Sequence[Conflict]) -> tuple[EvidencedSentence, ...]:
    """What to do about each kind of contradiction, each once for what it is about."""
    kept: dict[str, list[str]] = {}
    for conflict in conflicts:
        text = _TODO[conflict.kind].format(about=conflict.about)
        kept.setdefault(text, []).append(mark_of_conflict(conflict.number))
    return tuple(
        EvidencedSentence(text=text, evidence=tuple(marks))
        for text, marks in list(kept.items())[:MOST_SENTENCES]
    )
