"""Which segment is to be made next: a function of what there is, so that whoever goes on comes to the same.

Called by the building. What is fresh goes into one segment with those that are not much larger, so segments
grow by doubling and stay few; each passage is built in again only a few times in its life. A segment that has
lost a fifth of its passages, or its file, is made anew.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from models.store.knowledge.segments import Filling

_LIVING = 0.8
# One is built in again with what is half its size or more.
_FOLDED = 2


class SegmentPlan(NamedTuple):
    """What the next segment is made of: the passages of these segments, and with `fresh` those of none."""

    segment_ids: tuple[int, ...]
    fresh: bool
    passages: int


def next_part(
    fillings: Sequence[Filling], fresh: int, *, made_with: str, most: int, damaged: Collection[str]
) -> SegmentPlan | None:
    """What to make next; None where the index is as it should be.

    Args:
        fresh: passages that are in no segment.
        most: passages of a segment at most.
        damaged: segments' files that are not what was written.
    """
    ours = sorted(
        (each for each in fillings if each.segment.made_with == made_with and each.living),
        key=lambda each: (each.living, each.segment.id),
    )
    chosen: list[int] = []
    passages = min(fresh, most)
    if not fresh:
        worn = [each for each in ours if _is_worn(each, damaged)]
        if not worn:
            return None
        chosen, passages = [worn[0].segment.id], worn[0].living
    for each in ours:
        if (
            each.segment.id not in chosen
            and each.living <= _FOLDED * passages
            and passages + each.living <= most
        ):
            chosen.append(each.segment.id)
            passages += each.living
    return SegmentPlan(tuple(chosen), fresh > 0, passages)


def to_remove(fillings: Sequence[Filling], made_with: str, *, few: int) -> list[int]:
    """Segments that nothing is found in: empty ones, and another model's with `few` passages at most."""
    return [
        each.segment.id
        for each in fillings
        if not each.living or (each.segment.made_with != made_with and each.living <= few)
    ]


def _is_worn(filling: Filling, damaged: Collection[str]) -> bool:
    return filling.living < _LIVING * filling.segment.vectors or filling.segment.file in damaged
