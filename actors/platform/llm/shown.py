"""What a model says, as people see it: without what can't be seen, whole or as it comes.

All that is taken from a reply goes through here, so no answer, approval or document that is made of one hides
anything. Whether a mark is seen depends on what stands around it, and a stream is cut anywhere: the end of
what has come waits for what follows it.
"""

import json

import regex

from models.json_once import read_once
from models.text import seen, seen_within

# The end that what follows may belong to: marks, joiners and pictures, which go together.
_OPEN_END = regex.compile(r"[^\p{L}\p{N}\p{P}\p{Zs}\n]{1,64}\Z")
# As far back as any rule looks for what a character stands on.
_LOOKED_BACK = 32


def shown_json(said: str) -> str:
    """JSON whose texts hold only what is seen, however it was escaped; what is no JSON is as it was."""
    try:
        value = read_once(said)
    except (ValueError, RecursionError):
        return said
    shown = seen_within(value)
    return said if shown == value else json.dumps(shown, ensure_ascii=False)


class ShownPieces:
    """One streamed text: its pieces together are what `models.text.seen` makes of the whole."""

    def __init__(self) -> None:
        self._before = self._open = ""

    def feed(self, piece: str) -> str:
        """What may be given out, now that `piece` has come."""
        text = self._open + piece
        end = _OPEN_END.search(text)
        whole = text[: end.start()] if end else text
        self._open = text[len(whole) :]
        return self._give(whole)

    def finish(self) -> str:
        """What is left when the text has ended."""
        text, self._open = self._open, ""
        return self._give(text)

    def _give(self, text: str) -> str:
        given = seen(self._before + text)[len(self._before) :]
        self._before = (self._before + given)[-_LOOKED_BACK:]
        return given
