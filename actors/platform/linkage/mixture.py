"""The weights of Fellegi and Sunter, estimated from the pairs themselves: no examples, by EM (Winkler 1988).

Called by `records`. Each respect has a share of each level among pairs that belong together and among the
others. We begin with pairs of which each is nearest to the other, and estimate in turn what the shares are
and which pairs belong together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actors.platform.linkage.candidates import Candidates
from actors.platform.linkage.comparing import LEVELS, Comparison, best_of
from actors.platform.linkage.weights import weight

if TYPE_CHECKING:
    import numpy

_ROUNDS = 40
_SETTLED = 1e-3
# Of each level so many pairs are thought of besides, on either side: none is impossible.
_SMOOTHING = 0.5
# Respects are not independent of each other: together they say less than their sum.
_DEPENDENCE = 0.7
# Equal values say the more, the rarer they are: half of what independence would have, within so many bits.
_MOST_BY_RARITY, _BY_RARITY = 2.0, 0.5
# A record rarely has several partners in the other table: pairs that are worse than its best count less.
RIVALS = 3.0
_OF_RIVALS = 0.25
_MOST_BITS = 60.0


def bits_of(compared: Sequence[Comparison], found: Candidates, *, same: bool) -> numpy.ndarray:
    """The bits that speak for each pair's belonging together, those against it taken off."""
    import numpy

    one, other = best_of(found.nearness, found.pairs, same=same)
    mutual = (found.nearness >= one) & (found.nearness >= other)
    belonging = numpy.where(mutual, numpy.minimum(found.nearness + 0.2, 0.9), 0.0)
    bits = numpy.zeros(len(found.pairs))
    for _ in range(_ROUNDS):
        bits = _weighed(compared, belonging)
        now = 1 / (1 + 2.0 ** -numpy.clip(bits, -_MOST_BITS, _MOST_BITS))
        if not same:
            one, other = best_of(bits, found.pairs, same=same)
            now = numpy.where(bits < numpy.maximum(one, other) - RIVALS, now * _OF_RIVALS, now)
        settled = bool(numpy.abs(now - belonging).max() < _SETTLED)
        belonging = now
        if settled:
            break
    return bits


def _weighed(compared: Sequence[Comparison], belonging: numpy.ndarray) -> numpy.ndarray:
    import numpy

    share = float(numpy.clip(belonging.mean(), 1e-5, 0.9))
    bits = numpy.full(len(belonging), math.log2(share / (1 - share)))
    for levels, frequencies in compared:
        bits += _DEPENDENCE * _weights(levels, belonging)[levels]
        equal = frequencies > 0
        if equal.any():
            usual = numpy.average(frequencies[equal], weights=numpy.maximum(1 - belonging[equal], 1e-6))
            rarer = numpy.log2(usual / frequencies[equal])
            bits[equal] += _BY_RARITY * numpy.clip(rarer, -_MOST_BY_RARITY, _MOST_BY_RARITY)
    return bits


def _weights(levels: numpy.ndarray, belonging: numpy.ndarray) -> numpy.ndarray:
    """The bits of each level, 0 of what cannot be said; a higher level never says less than a lower one."""
    import numpy

    matching = numpy.bincount(levels, belonging, minlength=LEVELS)[1:] + _SMOOTHING
    random = numpy.bincount(levels, 1 - belonging, minlength=LEVELS)[1:] + _SMOOTHING
    matching, random = matching / matching.sum(), random / random.sum()
    # Levels that few pairs have are thrown together with their neighbours, until bits rise with the level.
    pools: list[tuple[float, float, int]] = []
    for one, other in zip(matching.tolist(), random.tolist(), strict=True):
        pools.append((one, other, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] > pools[-1][0] * pools[-2][1]:
            last, before = pools.pop(), pools.pop()
            pools.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    found = [weight(one, other) for one, other, size in pools for _ in range(size)]
    bits: numpy.ndarray = numpy.array([0.0, *found])
    return bits
