"""Fusing rankings, and what scopes let a caller see: rules, held by Hypothesis."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.content.search import RRF_K, Place, Reach, fuse, reach_of
from models.people.scopes import ROLES, check_permission, parse_scope

TOPICS = ("macro", "equity", "rates")
keys = st.integers(min_value=1, max_value=12)
ranking = st.lists(keys, unique=True, max_size=8)
rankings = st.lists(ranking, max_size=4)
texts_of_scopes = st.lists(
    st.builds("{}:{}".format, st.sampled_from([*TOPICS, "global"]), st.sampled_from(ROLES)), max_size=4
)


def order(found: list[tuple[int, float]]) -> list[int]:
    return [key for key, _ in found]


def test_the_formula() -> None:
    fused = dict(fuse([[1, 2], [3, 1]]))
    assert fused == pytest.approx({1: 1 / 61 + 1 / 62, 2: 1 / 62, 3: 1 / 61})
    assert dict(fuse([[7]], k=1)) == {7: 0.5}
    assert fuse([]) == fuse([[], []]) == []


@given(rankings)
def test_scores_are_sums_of_reciprocal_ranks_and_fall(given_: list[list[int]]) -> None:
    exact = {
        key: sum((Fraction(1, RRF_K + one.index(key) + 1) for one in given_ if key in one), Fraction())
        for key in {key for one in given_ for key in one}
    }
    fused = fuse(given_)
    assert sorted(order(fused)) == sorted(exact)
    assert [score for _, score in fused] == pytest.approx([float(exact[key]) for key in order(fused)])
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@given(rankings, st.randoms(use_true_random=False))
def test_the_order_of_rankings_does_not_matter(given_: list[list[int]], random: Random) -> None:
    shuffled = list(given_)
    random.shuffle(shuffled)
    assert fuse(given_) == fuse(shuffled)


@given(ranking)
def test_one_ranking_stays_as_it_is(one: list[int]) -> None:
    assert order(fuse([one])) == one
    assert order(fuse([one, one])) == one


@given(ranking, ranking)
def test_what_both_put_first_comes_first(one: list[int], other: list[int]) -> None:
    first = 99
    assert order(fuse([[first, *one], [first, *other]]))[0] == first


@given(st.lists(ranking, min_size=1, max_size=4), st.data())
def test_moving_up_in_a_ranking_never_hurts(given_: list[list[int]], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(given_) - 1))
    if len(given_[which]) < 2:
        return
    place = data.draw(st.integers(1, len(given_[which]) - 1))
    key = given_[which][place]
    better = [list(one) for one in given_]
    better[which][place - 1 : place + 1] = [key, given_[which][place - 1]]
    before, after = fuse(given_), fuse(better)
    assert dict(after)[key] > dict(before)[key]
    assert order(after).index(key) <= order(before).index(key)


@given(ranking, ranking)
def test_found_by_both_beats_found_by_one_at_the_better_rank(one: list[int], other: list[int]) -> None:
    fused = fuse([one, other])
    for key in set(one) & set(other):
        rank = max(one.index(key), other.index(key))
        for alone in set(one) ^ set(other):
            if (one if alone in one else other).index(alone) >= rank:
                assert order(fused).index(key) < order(fused).index(alone)


def test_a_key_counts_once_in_a_ranking() -> None:
    assert fuse([[1, 1, 2]]) == fuse([[1, 2]])


def test_the_newer_goes_first_among_equals() -> None:
    assert order(fuse([[3], [8]])) == order(fuse([[8], [3]])) == [8, 3]


# Reach


@given(texts_of_scopes, st.sampled_from(TOPICS))
def test_reach_is_the_one_permission_rule(texts: list[str], topic: str) -> None:
    scopes = [parse_scope(text) for text in texts]
    reach = reach_of(scopes)
    for role, topics in (("reader", reach.published), ("editor", reach.working)):
        assert (topics is None or topic in topics) == check_permission(scopes, role, topic)


@given(texts_of_scopes, st.sampled_from(TOPICS), st.sets(st.sampled_from(TOPICS)))
def test_who_sees_a_resource(texts: list[str], topic: str, published_in: set[str]) -> None:
    scopes = [parse_scope(text) for text in texts]
    place = Place(source="text", topic=topic, published_in=frozenset(published_in))
    sees = check_permission(scopes, "editor", topic) or any(
        check_permission(scopes, "reader", shown) for shown in published_in
    )
    for include_drafts in (False, True):
        assert place.visible_to(reach_of(scopes), include_drafts=include_drafts) == sees


@given(texts_of_scopes, st.sampled_from(TOPICS), st.booleans())
def test_who_sees_an_article(texts: list[str], topic: str, include_drafts: bool) -> None:
    scopes = [parse_scope(text) for text in texts]
    working = Place(source="article", topic=topic, published_in=frozenset())
    published = Place(source="article", topic=topic, published_in=frozenset([topic]))
    reach = reach_of(scopes)
    editor, reader = (check_permission(scopes, role, topic) for role in ("editor", "reader"))
    assert working.visible_to(reach, include_drafts=include_drafts) == (include_drafts and editor)
    assert published.visible_to(reach, include_drafts=include_drafts) == reader


def test_nobody_sees_nothing() -> None:
    assert reach_of([]) == Reach(published=frozenset(), working=frozenset())
