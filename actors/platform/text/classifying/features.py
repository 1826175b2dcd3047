"""What of a text counts for what it asks: letter sequences, and words cut to their stems with neighbours.

Letter sequences see through misspellings and endings in any language; stems, pairs of neighbours and pairs
with a gap see what is asked (`is … decided`, `nr 0`, `u nas`). Linear in the length of the text. Used by
`similarity.py` for messages and by `training.py` for examples.
"""

import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

_SHORTEST, _LONGEST = 2, 5
# Polish and German put most of their endings after the fifth letter; English has few to lose.
_STEM = 5
_NEAR = 3  # how many words apart two may be to count as a pair
_GAP_WEIGHT = 0.5


class Counts(NamedTuple):
    """The features of a text by number (uint32), and how damped a count each has."""

    keys: Any
    values: Any


def letters(text: str) -> Counts:
    """The letter sequences of a text in normal form; a word's ends count as letters."""
    found: Counter[bytes] = Counter()
    for word, times in Counter(text.split()).items():
        padded = f" {word} ".encode()
        for size in range(_SHORTEST, _LONGEST + 1):
            for start in range(len(padded) - size + 1):
                found[padded[start : start + size]] += times
    return _counts(found)


def stems(text: str) -> Counts:
    """The stems of a text in normal form, alone and in pairs, and where it begins and ends."""
    found: dict[bytes, float] = {}
    cut = ["^", *(word[:_STEM] for word in text.split()), "$"]
    for at, stem in enumerate(cut):
        alone = stem.encode()
        found[alone] = found.get(alone, 0) + 1
        for apart, other in enumerate(cut[at + 1 : at + 1 + _NEAR]):
            pair = (f"{stem}|{other}" if apart else f"{stem} {other}").encode()
            found[pair] = found.get(pair, 0) + (_GAP_WEIGHT if apart else 1)
    return _counts(found)


def signs(found: Mapping[str, float]) -> Counts:
    """What was noticed in a text, by name, and how often: more than 0 each."""
    return _counts({name.encode(): times for name, times in found.items()})


def _counts(found: dict[bytes, Any]) -> Counts:
    # Not hash(): it differs from process to process.
    keys = np.fromiter((zlib.crc32(feature) for feature in found), dtype=np.uint32, count=len(found))
    times = np.fromiter(found.values(), dtype=np.float32, count=len(found))
    return Counts(keys, 1 + np.log(times))
