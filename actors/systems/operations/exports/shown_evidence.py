"""What correlations and conflicts rest on, each side with its words and where they stand. Pure.

Called by all forms that people read. The words are exactly those of the record: how they are kept from doing
anything is up to each form.
"""

from collections.abc import Iterable, Mapping

from actors.systems.operations.summary import mark_of_conflict, mark_of_correlation
from models.operations.evidence import Evidence
from models.operations.exports import ApprovedResults
from models.operations.items import SourceItem
from models.operations.results import ComprehensiveResults
from models.record import Record


class EvidenceSide(Record):
    """Words of an item: `place` is where they stand in it, `item_place` where that stood in its answer."""

    agent: str
    item: str
    server: str
    tool: str
    call: int | None
    item_place: str
    place: str
    words: str
    mock: bool


class EvidencePair(Record):
    """Two sides that say the same, or not. `score` is the match's; None of a conflict."""

    kind: str
    score: float | None
    left: EvidenceSide
    right: EvidenceSide

    @property
    def mock(self) -> bool:
        """Whether either side is a stand-in's."""
        return self.left.mock or self.right.mock


class MarkedEvidence(Record):
    """A correlation (`C1`) or a conflict (`K1`): `kind`, `about` and `explanation` are a conflict's."""

    mark: str
    kind: str
    about: str
    explanation: str
    score: float | None
    pairs: tuple[EvidencePair, ...]


def conflicts(approved: ApprovedResults) -> tuple[MarkedEvidence, ...]:
    """The contradictions, in their order."""
    results = approved.results
    side = _Sides(approved)
    return tuple(
        MarkedEvidence(
            mark=mark_of_conflict(one.number),
            kind=one.kind,
            about=one.about,
            explanation=one.explanation,
            score=None,
            pairs=(
                EvidencePair(kind=one.kind, score=None, left=side.of(one.left), right=side.of(one.right)),
            ),
        )
        for one in results.conflicts
    )


def correlations(approved: ApprovedResults) -> tuple[MarkedEvidence, ...]:
    """What belongs together, in its order."""
    side = _Sides(approved)
    return tuple(
        MarkedEvidence(
            mark=mark_of_correlation(one.number),
            kind="",
            about="",
            explanation="",
            score=one.score,
            pairs=tuple(
                EvidencePair(
                    kind=match.kind, score=match.score, left=side.of(match.left), right=side.of(match.right)
                )
                for match in one.matches
            ),
        )
        for one in approved.results.matches
    )


def cited_items(results: ComprehensiveResults) -> tuple[SourceItem, ...]:
    """The items that anything rests on, in the order in which they were found."""
    named = {mark for said in _sentences(results) for mark in said}
    for conflict in results.conflicts:
        named |= {conflict.left.item, conflict.right.item}
    for correlation in results.matches:
        named |= {correlation.left, correlation.right}
        named |= {side.item for match in correlation.matches for side in (match.left, match.right)}
    return tuple(item for id_, item in _items(results).items() if id_ in named)


class _Sides:
    def __init__(self, approved: ApprovedResults) -> None:
        self._items = _items(approved.results)
        # Where a stand-in answered an agent, each of its items counts as one's.
        self._mocked = approved.mocked

    def of(self, evidence: Evidence) -> EvidenceSide:
        item = self._items.get(evidence.item)
        return EvidenceSide(
            agent=evidence.item.partition("/")[0] if item is None else item.agent,
            item=evidence.item,
            server="" if item is None else item.server,
            tool="" if item is None else item.tool,
            call=None if item is None else item.call,
            item_place="" if item is None else item.path,
            place=evidence.path,
            words=evidence.words,
            mock=item is not None and (item.mock or item.agent in self._mocked),
        )


def _items(results: ComprehensiveResults) -> Mapping[str, SourceItem]:
    return {item.id: item for one in results.results if one.result is not None for item in one.result.items}


def _sentences(results: ComprehensiveResults) -> Iterable[tuple[str, ...]]:
    analysis = results.analysis
    return (said.evidence for said in (*analysis.executive_summary, *analysis.recommendations))
