"""Records of two tables, or of one, that are about the same: whatever their columns, without examples.

`benchmarks.linkage` measures it. The weights are those by which the items of operations are linked
(`weights`), but estimated from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.platform.linkage.candidates import candidates
from actors.platform.linkage.columns import columns_of, texts_of
from actors.platform.linkage.comparing import best_of, comparisons
from actors.platform.linkage.mixture import RIVALS, bits_of
from actors.platform.linkage.weights import probability
from models.record import Record


class LinkedPair(Record):
    """Two records that are about the same: their places, and how probable that is, above 0.5."""

    left: int
    right: int
    score: float


def link_records(left: Sequence[Mapping[str, str]], right: Sequence[Mapping[str, str]]) -> list[LinkedPair]:
    """Pairs of a record on the left and one on the right, in the order of their places.

    A record may be in several pairs, if these are about equally sure.
    """
    return _linked(left, right)


def deduplicate_records(records: Sequence[Mapping[str, str]]) -> list[LinkedPair]:
    """Pairs of records of one table, `left` before `right`, in the order of their places."""
    return _linked(records, None)


def _linked(left: Sequence[Mapping[str, str]], right: Sequence[Mapping[str, str]] | None) -> list[LinkedPair]:
    same = right is None
    columns = columns_of(left, left if right is None else right)
    if not columns:
        return []
    found = candidates(texts_of(columns, True), None if same else texts_of(columns, False))
    if not len(found.pairs):
        return []
    bits = bits_of(comparisons(columns, found, same=same), found, same=same)
    kept = bits > 0
    if not same:
        one, other = best_of(bits, found.pairs, same=same)
        kept &= (bits >= one - RIVALS) & (bits >= other - RIVALS)
    return [
        LinkedPair(left=one, right=other, score=round(probability(worth), 4))
        for (one, other), worth in zip(found.pairs[kept].tolist(), bits[kept].tolist(), strict=True)
    ]
