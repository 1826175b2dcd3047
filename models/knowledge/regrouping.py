"""What is left of a group of entities that are one, when some of them go.

Called by the store, which then compares nothing: names are held to be the same, or alike, as they were found
to be. A name that is another's alias holds only while an entity that is left says so. Pure.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from models.knowledge.points import EntityMention, EntityMerge, MergeReason


class _Tie(NamedTuple):
    """That an entity is another one, found in this way."""

    other: str
    reason: MergeReason
    score: float | None


def regrouped(before: Sequence[EntityMerge], left: Sequence[EntityMention]) -> list[EntityMerge]:
    """The merges of those that are left. A winner that is left stays one; else it is who is named most often.

    Args:
        before: all merges of the groups, as they were.
        left: the entities of these groups that do not go.
    """
    by_name = _by_name(before)
    living = {entity.id: entity for entity in sorted(left, key=_standing)}
    names: dict[str, list[EntityMention]] = defaultdict(list)
    for entity in living.values():
        names[by_name.get(entity.id, entity.id)].append(entity)
    whole = {name: 0 for name in names}
    for id_ in {id_ for merge in before for id_ in (merge.merged, merge.like)}:
        if id_ not in living:
            whole.pop(by_name.get(id_, id_), None)

    def end(id_: str) -> str | None:
        same = names.get(by_name.get(id_, id_), [])
        return id_ if id_ in living else next((entity.id for entity in same), None)

    edges: dict[str, list[_Tie]] = defaultdict(list)
    for merge in before:
        one, other = end(merge.merged), end(merge.like)
        if one is None or other is None or one == other:
            continue
        ends = by_name.get(one, one), by_name.get(other, other)
        if merge.reason == "alias" and not (
            whole.keys() >= set(ends) or _says(names[ends[0]], names[ends[1]])
        ):
            continue
        edges[one].append(_Tie(other, merge.reason, merge.score))
        edges[other].append(_Tie(one, merge.reason, merge.score))
    winners = {merge.winner for merge in before}
    found: list[EntityMerge] = []
    seen: set[str] = set()
    for top in sorted(living, key=lambda id_: id_ not in winners):
        if top in seen:
            continue
        seen.add(top)
        waiting = [top]
        for like in waiting:
            for edge in edges[like]:
                if edge.other not in seen:
                    seen.add(edge.other)
                    waiting.append(edge.other)
                    found.append(
                        EntityMerge(
                            winner=top, merged=edge.other, like=like, reason=edge.reason, score=edge.score
                        )
                    )
    return found


def _standing(entity: EntityMention) -> tuple[int, int]:
    return -entity.mentions, int(entity.id)


def _by_name(before: Sequence[EntityMerge]) -> dict[str, str]:
    """Of each entity that has the same name as others, the one that stands for them."""
    like = {merge.merged: merge.like for merge in before if merge.reason == "same_name"}
    found: dict[str, str] = {}
    for merged in like:
        head = merged
        while head in like:
            head = like[head]
        found[merged] = found[head] = head
    return found


def _says(one: Sequence[EntityMention], other: Sequence[EntityMention]) -> bool:
    """Whether some give a name of others as theirs."""
    names = [{entity.name.casefold() for entity in some} for some in (one, other)]
    aliases = [{alias.casefold() for entity in some for alias in entity.aliases} for some in (one, other)]
    return not (names[0].isdisjoint(aliases[1]) and names[1].isdisjoint(aliases[0]))
