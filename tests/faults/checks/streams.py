"""Streams are gapless and in order, by polling and over SSE; and the readers have had time to see it all."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence


def streams(
    written: Collection[int], polled: Sequence[int], visible: Sequence[int], streamed: Sequence[int]
) -> Iterator[str]:
    """No gap, nothing twice, one order.

    Args:
        written: the ids of all events that there are.
        polled: what the polling reader was told, in its order.
        visible: those of them that the streaming reader may see.
        streamed: what it was told, in its order.
    """
    if twice := [i for i, n in Counter(polled).items() if n > 1]:
        yield f"the polling reader was told twice of {twice[:5]}"
    if list(polled) != sorted(polled):
        yield "the polling reader was told out of order"
    if missing := set(written) - set(polled):
        yield f"the polling reader was not told of {sorted(missing)[:5]}"
    if invented := set(polled) - set(written):
        yield f"the polling reader was told of {sorted(invented)[:5]}, which are gone"
    if list(streamed) != list(visible):
        twice = [i for i, n in Counter(streamed).items() if n > 1]
        missed = sorted(set(visible) - set(streamed))
        yield f"the stream differs from what was to see: missed {missed[:5]}, twice {twice[:5]}"
