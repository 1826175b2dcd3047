"""What of a streamed reply is meant for people: its text without `<think>…</think>`.

`actors.platform.llm.chat_model` feeds it a reply's deltas. A tag may be split over deltas in any way, so what
could be the beginning of one is held back until it is known.
"""

import re

_TAG = re.compile(r"</?think>")
# The longest end of a text that may yet become a tag.
_PART_OF_TAG = re.compile(r"<(?:/?(?:t(?:h(?:i(?:n(?:k)?)?)?)?)?)?\Z")


class Spoken:
    """One reply. White space at its beginning and end is left out: an empty answer gives nothing at all.

    A `</think>` that was never opened is dropped; what stood before it has been given out by then. Models
    whose template opens the tag for them need an endpoint that separates the reasoning itself.
    """

    def __init__(self) -> None:
        self.thinking = False
        self._begun = False
        self._space = ""
        self._part = ""

    def feed(self, delta: str) -> str:
        """What may be given out, now that `delta` has come."""
        text, spoken = self._part + delta, ""
        begin = 0
        for tag in _TAG.finditer(text):
            if not self.thinking:
                spoken += text[begin : tag.start()]
            self.thinking = tag.group() == "<think>"
            begin = tag.end()
        part = _PART_OF_TAG.search(text, begin)
        end = part.start() if part else len(text)
        self._part = text[end:]
        if not self.thinking:
            spoken += text[begin:end]
        return self._give(spoken)

    def finish(self) -> str:
        """What is left when the reply has ended: the beginning of a tag that never became one."""
        part, self._part = self._part, ""
        return "" if self.thinking else self._give(part)

    def _give(self, spoken: str) -> str:
        text = self._space + spoken if self._begun else spoken.lstrip()
        given = text.rstrip()
        self._space = text[len(given) :] if self._begun or given else ""
        self._begun = self._begun or bool(given)
        return given
