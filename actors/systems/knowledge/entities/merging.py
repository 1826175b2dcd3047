"""Which entities of a project are one and the same, and why. Precision goes before recall.

The same entities have the same merges in whatever order they come. Never merged: what is of different types;
names that differ in a number, a letter that stands alone or a given name; companies of different legal forms;
who has no name, as `the Company`, and people of whom only one name is known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from actors.platform.text.names.legal_forms import different_forms
from actors.platform.text.names.name_form import (
    NameForm,
    cannot_be_same,
    distinctive_words,
    likeness,
    name_form,
)
from actors.platform.text.names.scripts import is_alphabetic
from actors.platform.text.names.spelling import may_be_alias, spelled_alike, spelling_keys
from actors.systems.knowledge.entities.neighbours import nearest_pairs
from models.knowledge.points import EntityMention, EntityMerge, EntityType, MergeReason

# Names that share a key with more than this many others are not told apart by it.
_MOST_TOGETHER = 40
# Names of one meaning are written differently: those that look alike and are not spelled alike are two.
_MOST_ALIKE = 60.0
# From here on, a model does not tell two names apart: it knows neither, and says nothing of what they mean.
_SAME_TO_MODEL = 0.9999
# What has more names than this is no longer one: links would join all to all.
_MOST_NAMES = 64
# Shorter ones, `C#` and `C++`, mean too much.
_SHORTEST = 4
_ORDER: dict[MergeReason, int] = {"same_name": 0, "alias": 1, "spelling": 2, "meaning": 3}


class _Name(NamedTuple):
    """Entities of one type that have one name; the first of them speaks for all."""

    form: NameForm
    entity_type: EntityType
    members: tuple[EntityMention, ...]


class _Link(NamedTuple):
    """That two names, by their places, are of one entity."""

    reason: MergeReason
    score: float | None

    @property
    def strength(self) -> tuple[int, float]:
        return _ORDER[self.reason], -(self.score or 0.0)


_Links = dict[tuple[int, int], _Link]


def merges(
    entities: Sequence[EntityMention],
    vectors: Mapping[str, Sequence[float]] | None = None,
    *,
    least_cosine: float = 0.95,
    apart: Collection[tuple[str, str]] = (),
) -> list[EntityMerge]:
    """The merges among some entities, by the ids that are merged. Takes time about linear in their number.

    Args:
        vectors: embeddings of names, by entities' ids; without them, nothing is merged by its meaning.
        least_cosine: from which two names mean the same; what is right depends on the embedding model.
        apart: pairs of ids that somebody has said are two: they are never merged, nor by way of a third.

    Raises:
        ValueError: two entities have one id.
    """
    if len({entity.id for entity in entities}) < len(entities):
        raise ValueError("two entities have one id")
    names = _names(entities, apart)
    two = _apart_names(names, apart)
    links = _spelling_links(names)
    links |= _alias_links(names, two)
    for pair, link in _meaning_links(names, vectors or {}, least_cosine).items():
        links.setdefault(pair, link)
    _drop_doubtful(names, links)
    found = [merge for tree in _trees(names, links, two) for merge in _of_tree(names, tree)]
    return sorted(found, key=lambda merge: merge.merged)


def _names(entities: Sequence[EntityMention], apart: Collection[tuple[str, str]]) -> list[_Name]:
    """The entities by their names; those of different legal forms, and vague ones, apart."""
    others, parted = _by_id(apart), {one for one, _ in apart}
    together: dict[tuple[EntityType, str], list[EntityMention]] = defaultdict(list)
    found = []
    for entity in entities:
        form = name_form(entity.name, entity.entity_type)
        if form.vague:
            found.append(_Name(form, entity.entity_type, (entity,)))
        else:
            together[entity.entity_type, form.text].append(entity)
    for (entity_type, _), members in together.items():
        forms = {legal for member in members if (legal := name_form(member.name, entity_type).legal)}
        many = any(different_forms(*pair) for pair in combinations(sorted(forms, key=sorted), 2))
        parts: dict[frozenset[str], list[EntityMention]] = defaultdict(list)
        for member in members:
            parts[name_form(member.name, entity_type).legal if many else frozenset()].append(member)
        for part in parts.values():
            # Who was parted from others comes after them: what nobody has parted is with the others.
            part.sort(key=lambda member: (member.id in parted, _standing(member)))
            for some in _without_pairs(part, others):
                some.sort(key=_standing)
                found.append(_Name(name_form(some[0].name, entity_type), entity_type, tuple(some)))
    return sorted(found, key=lambda name: _standing(name.members[0]))


def _by_id(apart: Collection[tuple[str, str]]) -> dict[str, set[str]]:
    others: dict[str, set[str]] = defaultdict(set)
    for one, other in apart:
        others[one].add(other)
        others[other].add(one)
    return others


def _without_pairs(
    members: Sequence[EntityMention], apart: Mapping[str, set[str]]
) -> list[list[EntityMention]]:
    """Entities of one name in as few lists as it takes; none holds two that are to stay apart."""
    lists: list[dict[str, EntityMention]] = []
    for member in members:
        others = apart.get(member.id, set())
        fitting = next((some for some in lists if some.keys().isdisjoint(others)), None)
        if fitting is None:
            lists.append(fitting := {})
        fitting[member.id] = member
    return [list(some.values()) for some in lists]


def _apart_names(names: Sequence[_Name], apart: Collection[tuple[str, str]]) -> set[tuple[int, int]]:
    """The pairs by the places of their names; of entities that are not here, none."""
    places = {member.id: place for place, name in enumerate(names) for member in name.members}
    pairs = ((places.get(one), places.get(other)) for one, other in apart)
    return {
        (min(one, other), max(one, other)) for one, other in pairs if one is not None and other is not None
    }


def _standing(entity: EntityMention) -> tuple[int, bool, int, str, str]:
    """The lower, the sooner an entity gives its name: often named, with its accents, and in full."""
    return -entity.mentions, entity.name.isascii(), -len(entity.name), entity.name, entity.id


def _spelling_links(names: Sequence[_Name]) -> _Links:
    blocks: dict[tuple[EntityType, str], list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        for key in set(spelling_keys(name.form, name.entity_type)):
            blocks[name.entity_type, key].append(place)
    links: _Links = {}
    for block in blocks.values():
        if len(block) > _MOST_TOGETHER:
            continue
        for pair in combinations(block, 2):
            first, second = names[pair[0]], names[pair[1]]
            if pair not in links and spelled_alike(first.form, second.form, first.entity_type):
                links[pair] = _Link("spelling", round(likeness(first.form, second.form), 2))
    return links


def _alias_links(names: Sequence[_Name], apart: Collection[tuple[int, int]]) -> _Links:
    """Names and their other names; not where several have the same one, unless they are apart."""
    called: dict[tuple[EntityType, str], list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        called[name.entity_type, name.form.text].append(place)
    claims: dict[tuple[EntityType, str], set[int]] = defaultdict(set)
    for place, name in enumerate(names):
        for alias in {alias for member in name.members for alias in member.aliases if alias.strip()}:
            form = name_form(alias, name.entity_type)
            if may_be_alias(name.form, form, name.entity_type):
                claims[name.entity_type, form.text].add(place)
    links: _Links = {}
    for key, places in claims.items():
        if len(places) * len(called[key]) > _MOST_TOGETHER:
            continue
        pairs = {(min(pair), max(pair)) for pair in product(places, called[key])}.difference(apart)
        if len(pairs) == 1:
            links[pairs.pop()] = _Link("alias", None)
    return links


def _meaning_links(names: Sequence[_Name], vectors: Mapping[str, Sequence[float]], least: float) -> _Links:
    """Names that are nearest to each other, of one type, and have no word in common; never people's."""
    by_type: dict[EntityType, list[tuple[int, Sequence[float]]]] = defaultdict(list)
    for place, name in enumerate(names):
        vector = next((vectors[member.id] for member in name.members if member.id in vectors), None)
        if vector is not None and name.entity_type != "person":
            by_type[name.entity_type].append((place, vector))
    links: _Links = {}
    for some in by_type.values():
        near = nearest_pairs([vector for _, vector in some], least, below=_SAME_TO_MODEL)
        for (one, other), cosine in near.items():
            first, second = some[one][0], some[other][0]
            if _may_mean_the_same(names[first].form, names[second].form):
                links[first, second] = _Link("meaning", round(cosine, 4))
    return links


def _may_mean_the_same(first: NameForm, second: NameForm) -> bool:
    return (
        (is_alphabetic(first.text) or is_alphabetic(second.text))
        and not (first.vague or second.vague)
        and first.marks == second.marks
        and distinctive_words(first).isdisjoint(distinctive_words(second))
        and likeness(first, second) < _MOST_ALIKE
        and not any(form.text.isascii() and len(form.text) < _SHORTEST for form in (first, second))
    )


def _drop_doubtful(names: Sequence[_Name], links: _Links) -> None:
    """Take out what joins a name to two that can't be one: the weaker link, or both."""
    neighbours: dict[int, list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for pair in links:
        neighbours[pair[0]].append((pair[1], pair))
        neighbours[pair[1]].append((pair[0], pair))
    doubtful: set[tuple[int, int]] = set()
    for around in neighbours.values():
        if len(around) > _MOST_TOGETHER:
            doubtful.update(pair for _, pair in around)
            continue
        for (one, pair), (other, second) in combinations(around, 2):
            if cannot_be_same(names[one].form, names[other].form, names[one].entity_type):
                ranks = _ORDER[links[pair].reason], _ORDER[links[second].reason]
                doubtful.update(
                    link for link, rank in ((pair, ranks[0]), (second, ranks[1])) if rank == max(ranks)
                )
    for pair in doubtful:
        del links[pair]


def _trees(
    names: Sequence[_Name], links: _Links, apart: Collection[tuple[int, int]]
) -> Iterator[dict[int, list[tuple[int, _Link]]]]:
    """Names that are one, joined by their strongest links; no two of them can't be one; few together."""
    sets = {place: [place] for place in range(len(names))}
    trees: dict[int, list[tuple[int, _Link]]] = {place: [] for place in range(len(names))}
    for pair in sorted(links, key=lambda pair: (links[pair].strength, pair)):
        one, other = sets[pair[0]], sets[pair[1]]
        if (
            one is other
            or len(one) + len(other) > _MOST_NAMES
            or _cannot_be_one(names, one, other, links, apart)
        ):
            continue
        one.extend(other)
        sets.update(dict.fromkeys(other, one))
        trees[pair[0]].append((pair[1], links[pair]))
        trees[pair[1]].append((pair[0], links[pair]))
    for place, members in sets.items():
        if place == min(members):
            yield {member: trees[member] for member in sorted(members)}


def _cannot_be_one(
    names: Sequence[_Name],
    one: Sequence[int],
    other: Sequence[int],
    links: _Links,
    apart: Collection[tuple[int, int]],
) -> bool:
    pairs = [(min(pair), max(pair)) for pair in product(one, other)]
    return any(
        pair in apart
        or (
            pair not in links
            and cannot_be_same(names[pair[0]].form, names[pair[1]].form, names[pair[0]].entity_type)
        )
        for pair in pairs
    )


def _of_tree(names: Sequence[_Name], tree: Mapping[int, list[tuple[int, _Link]]]) -> Iterator[EntityMerge]:
    # Names lie by their standing: the first is the winner's.
    top = min(tree)
    winner = names[top].members[0].id
    seen, waiting = {top}, [top]
    for place in waiting:
        own = names[place].members[0].id
        for member in names[place].members[1:]:
            yield EntityMerge(winner=winner, merged=member.id, like=own, reason="same_name")
        for neighbour, link in sorted(tree[place], key=lambda side: side[0]):
            if neighbour not in seen:
                seen.add(neighbour)
                waiting.append(neighbour)
                merged = names[neighbour].members[0].id
                yield EntityMerge(
                    winner=winner, merged=merged, like=own, reason=link.reason, score=link.score
                )
