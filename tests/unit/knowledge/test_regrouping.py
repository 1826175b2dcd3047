"""What is left of entities that are one when some go: what still holds, by those that are left."""

from models.knowledge.points import EntityMention, EntityMerge, MergeReason
from models.knowledge.regrouping import regrouped


def mention(id_: int, name: str, *aliases: str, mentions: int = 1) -> EntityMention:
    return EntityMention(
        id=str(id_), name=name, entity_type="organization", aliases=aliases, mentions=mentions
    )


def merge(
    winner: int, merged: int, like: int, reason: MergeReason, score: float | None = None
) -> EntityMerge:
    return EntityMerge(winner=str(winner), merged=str(merged), like=str(like), reason=reason, score=score)


LONG = mention(1, "International Business Machines", "IBM", mentions=9)
SECOND, THIRD = mention(2, "IBM", mentions=3), mention(3, "IBM", mentions=2)
FOURTH = mention(4, "Intl Business Machines", mentions=1)
BEFORE = [
    merge(1, 2, 1, "alias"),
    merge(1, 3, 2, "same_name"),
    merge(1, 4, 1, "spelling", 90.0),
]


def test_what_nobody_leaves_stays_as_it_is() -> None:
    assert sorted(regrouped(BEFORE, [FOURTH, THIRD, SECOND, LONG]), key=lambda m: m.merged) == BEFORE
    assert regrouped([], [LONG]) == []
    assert regrouped(BEFORE, []) == []


def test_one_of_the_name_takes_the_place_of_another() -> None:
    assert regrouped(BEFORE, [LONG, THIRD, FOURTH]) == [
        merge(1, 3, 1, "alias"),
        merge(1, 4, 1, "spelling", 90.0),
    ]


def test_without_the_one_that_gives_the_other_name_they_are_two() -> None:
    assert regrouped(BEFORE, [SECOND, THIRD, FOURTH]) == [merge(2, 3, 2, "same_name")]


def test_the_one_that_is_named_most_often_wins_in_place_of_a_winner() -> None:
    before = [merge(1, 2, 1, "same_name"), merge(1, 3, 1, "same_name"), merge(1, 4, 1, "same_name")]
    left = [mention(2, "A"), mention(3, "A", mentions=5), mention(4, "A")]
    assert regrouped(before, left) == [merge(3, 2, 3, "same_name"), merge(3, 4, 3, "same_name")]


def test_a_misspelling_is_one_of_all_that_have_the_name() -> None:
    before = [merge(1, 2, 1, "same_name"), merge(1, 3, 1, "spelling", 95.0)]
    left = [mention(2, "Goldman"), mention(3, "Goldmann")]
    assert regrouped(before, left) == [merge(2, 3, 2, "spelling", 95.0)]
