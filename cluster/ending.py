"""What a command that is told to end still does: undo what is half done, end what it has started."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM, or a terminal that is closed, end the block as Ctrl-C does; in the main thread.

    The first is heard: another one is no reason to leave the undoing half done.

    Raises:
        SystemExit: with 128 and the signal's number, once the block has ended.
    """
    told: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        if not told:
            told.append(number)
            # What psycopg takes for a reason to cancel its statement; SystemExit is none.
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    except KeyboardInterrupt:
        if told:
            raise SystemExit(128 + told[0]) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
