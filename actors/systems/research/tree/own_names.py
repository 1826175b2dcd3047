"""Names for nodes without a model: a label or entity that their points share, else their most telling words.

Called by growing, which names nodes at once: a tree has always names. The same points have the same names, in
any language; where no words are shared, as in a script without blanks, the middle point gives its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from actors.platform.text.normal_form import words
from actors.platform.text.relevance import subject_words
from models.research.trees import MOST_NAME, TreePoint, name_key, plain_name
from models.text import cut, shortened

# Of a point's text, as much tells what it is about.
_BEGINNING = 400
_MOST_WORDS = 3
_LONGEST_WORD = 30
# A word or label is telling where as large a part of the points has it, and two at least.
_PART_WITH_WORD = 0.12
_PART_WITH_LABEL = 1 / 3
_SHORT = 60
# A word with one of these is code or an address.
_NO_WORD = frozenset("()[]{}<>=|\\/`*_@:")
_NAMELESS = "…"


def own_names(
    groups: Sequence[Sequence[TreePoint]], middles: Sequence[TreePoint], taken: Iterable[str]
) -> list[str]:
    """Names for sibling nodes by the points in and below each; no two are the same, and none is taken.

    Args:
        middles: of each group the point that speaks for it, the nearest to its middle.
    """
    everywhere = Counter(key for group in groups for point in group for key in _said(point))
    used = {name_key(name) for name in taken}
    found = []
    for group, middle in zip(groups, middles, strict=True):
        name = distinct(_name(group, middle, everywhere), used)
        used.add(name_key(name))
        found.append(name)
    return found


def distinct(name: str, taken: Collection[str], *more: str) -> str:
    """The name, shortened; where its key is taken, with one of `more` or a number. Never empty."""
    name = shortened(plain_name(cut(name, 10 * MOST_NAME)), MOST_NAME) or _NAMELESS
    wanted = [name, *(_with(name, addition) for addition in more if plain_name(addition))]
    # Among one more than are taken, one is free.
    wanted += [_with(name, str(number)) for number in range(2, len(taken) + 3)]
    return next(each for each in wanted if name_key(each) not in taken)


def _with(name: str, addition: str) -> str:
    ending = f" ({shortened(addition, MOST_NAME // 2)})"
    return shortened(name, MOST_NAME - len(ending)) + ending


def _name(group: Sequence[TreePoint], middle: TreePoint, everywhere: Mapping[tuple[str, str], int]) -> str:
    here = Counter(key for point in group for key in _said(point))

    def telling(sort: str, part: float) -> list[str]:
        least = max(2, part * len(group))
        keys = [key for key, count in here.items() if key[0] == sort and count >= least]
        return [key[1] for key in sorted(keys, key=lambda key: (-(here[key] ** 2) / everywhere[key], key))]

    if labels := telling("label", _PART_WITH_LABEL):
        return _as_written(labels[0], [label for point in group for label in _labels(point)])
    written = [word for point in group for word in _written(point.text)]
    if found := telling("word", _PART_WITH_WORD)[:_MOST_WORDS]:
        return ", ".join(_as_written(word, written) for word in found)
    return shortened(cut(middle.text, _BEGINNING), _SHORT)


def _said(point: TreePoint) -> set[tuple[str, str]]:
    """The labels and words of a point, each as it is compared."""
    return {("label", _key(label)) for label in _labels(point)} | {
        ("word", _key(word)) for word in _written(point.text)
    }


def _labels(point: TreePoint) -> list[str]:
    labels = [*point.categories, *([point.text] if point.kind in ("category", "entity") else [])]
    return [line for label in labels if plain_name(line := shortened(cut(label, _BEGINNING), MOST_NAME))]


@lru_cache(maxsize=32_768)
def _written(text: str) -> tuple[str, ...]:
    found = subject_words(shortened(text, _BEGINNING))
    return tuple(
        word
        for word in found
        if len(word) <= _LONGEST_WORD and plain_name(word) and _NO_WORD.isdisjoint(word)
    )


def _as_written(key: str, written: Iterable[str]) -> str:
    """What is compared by a key, as it is written most often."""
    counts = Counter(word for word in written if _key(word) == key)
    return min(counts, key=lambda word: (-counts[word], word))


@lru_cache(maxsize=32_768)
def _key(text: str) -> str:
    return words(text) or text.casefold()
