"""The columns of two tables, laid beside each other, and the values as they are compared.

Called by `records`. Columns of one name belong together; others by the words that their values have in
common. What a column is called means nothing here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from actors.platform.text.normal_form import words

_LONGEST = 2_000
_LOOKED_AT = 2_000
# The cosine of two columns' words from which they hold the same thing.
_LEAST_ALIKE = 0.2
# A number may be written in two words, or one: `DS-40` and `DS40`.
_LONGEST_JOINED = 12

TableRecord = Mapping[str, str]


@dataclass(frozen=True)
class Column:
    """What two tables say of one thing: a value of each record, empty where there is none."""

    left: list[str]
    right: list[str]


def columns_of(left: Sequence[TableRecord], right: Sequence[TableRecord]) -> list[Column]:
    """The columns that both tables have, by name, else by what stands in them."""
    ours, theirs = _names(left), _names(right)
    pairs = [(name, name) for name in ours if name in theirs]
    pairs += _alike(left, right, [n for n in ours if n not in theirs], [n for n in theirs if n not in ours])
    found = [Column(_values(left, one), _values(right, other)) for one, other in pairs]
    return [column for column in found if any(column.left) and any(column.right)]


def texts_of(columns: Sequence[Column], left: bool) -> list[str]:
    """All that each record says in some columns, on one line."""
    sides = [column.left if left else column.right for column in columns]
    return [joined(" ".join(filter(None, values))) for values in zip(*sides, strict=True)]


def plain(value: object) -> str:
    """A value as it is compared: its words in small letters, without accents and punctuation."""
    return words(str(value)[:_LONGEST]) if value is not None else ""


def joined(text: str) -> str:
    """A text's words, and behind them those which may be one number, as one."""
    some = text.split()
    numbers = [
        one + other
        for one, other in pairwise(some)
        if len(one + other) <= _LONGEST_JOINED and any(map(str.isdigit, one + other))
    ]
    return " ".join([*some, *numbers])


def _names(records: Sequence[TableRecord]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))


def _values(records: Sequence[TableRecord], name: str) -> list[str]:
    return [plain(record.get(name)) for record in records]


def _alike(
    left: Sequence[TableRecord], right: Sequence[TableRecord], ours: list[str], theirs: list[str]
) -> list[tuple[str, str]]:
    """Columns of different names whose values are alike, each once, the most alike first."""
    one_side = {name: _word_counts(left, name) for name in ours}
    other_side = {name: _word_counts(right, name) for name in theirs}
    scored = sorted(
        (-_cosine(one_side[one], other_side[other]), one, other) for one in ours for other in theirs
    )
    pairs: list[tuple[str, str]] = []
    for score, one, other in scored:
        free = all(one != first and other != second for first, second in pairs)
        if -score >= _LEAST_ALIKE and free:
            pairs.append((one, other))
    return pairs


def _word_counts(records: Sequence[TableRecord], name: str) -> Counter[str]:
    values = (plain(record.get(name)) for record in records[:_LOOKED_AT])
    return Counter(word for value in values for word in set(value.split()))


def _cosine(first: Counter[str], second: Counter[str]) -> float:
    both = sum(count * second[word] for word, count in first.items() if word in second)
    sizes = sum(n * n for n in first.values()) * sum(n * n for n in second.values())
    return float(both / sizes**0.5) if sizes else 0.0
