"""The differences between two texts as a unified diff, for people. `articles.what_changed` asks.

Lines that stand once in each text are what holds the two together (patience diff); what lies between those
is told as removed and added. Takes n·log n for n lines, whatever they are: `difflib` takes minutes for some.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

_AROUND = 3
# Beyond this a line is cut: one line may be a whole article.
_MOST_OF_LINE = 2000


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> list[str]:
    """The lines of a unified diff with three lines around each change; empty where nothing has changed.

    Lines are told up to 2,000 characters.
    """
    before, after = old.splitlines(), new.splitlines()
    told = [line for hunk in _hunks(_changes(before, after)) for line in _told(hunk, before, after)]
    return [f"--- {old_name}", f"+++ {new_name}", *told] if told else []


# From and to in the old lines, from and to in the new ones.
_Change = tuple[int, int, int, int]


def _changes(before: Sequence[str], after: Sequence[str]) -> list[_Change]:
    """What differs, in order."""
    pairs = [(-1, -1), *_anchors(before, after), (len(before), len(after))]
    found: list[_Change] = []
    for (i, j), (i_end, j_end) in pairwise(pairs):
        start, other = i + 1, j + 1
        while start < i_end and other < j_end and before[start] == after[other]:
            start, other = start + 1, other + 1
        while start < i_end and other < j_end and before[i_end - 1] == after[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
        if start < i_end or other < j_end:
            found.append((start, i_end, other, j_end))
    return found


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that stand once in each, as many as are in the same order in both."""
    once_before, once_after = _once(before), _once(after)
    pairs = [(i, once_after[line]) for line, i in once_before.items() if line in once_after]
    # The longest ascending run: `ends` are the smallest ends of runs of each length.
    ends: list[int] = []
    last: list[int] = []
    previous: list[int | None] = []
    for at, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        previous.append(last[length - 1] if length else None)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [at]
    run: list[tuple[int, int]] = []
    place = last[-1] if last else None
    while place is not None:
        run.append(pairs[place])
        place = previous[place]
    return run[::-1]


def _once(lines: Sequence[str]) -> dict[str, int]:
    counts = Counter(lines)
    return {line: at for at, line in enumerate(lines) if counts[line] == 1}


def _hunks(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Changes that are near enough to be told together."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change[0] - hunk[-1][1] > 2 * _AROUND:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _told(hunk: list[_Change], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    lead = min(_AROUND, first[0])
    trail = min(_AROUND, len(before) - last[1])
    olds = _range(first[0] - lead, last[1] + trail)
    news = _range(first[2] - lead, last[3] + trail)
    yield f"@@ -{olds} +{news} @@"
    at = first[0] - lead
    for start, end, other, other_end in hunk:
        yield from (f" {_cut(line)}" for line in before[at:start])
        yield from (f"-{_cut(line)}" for line in before[start:end])
        yield from (f"+{_cut(line)}" for line in after[other:other_end])
        at = end
    yield from (f" {_cut(line)}" for line in before[at : at + trail])


def _range(start: int, end: int) -> str:
    """As GNU diff writes it: an empty range is named by the line before it."""
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + (end > start)},{end - start}"


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_OF_LINE else f"{line[:_MOST_OF_LINE]}… ({len(line)} characters)"
