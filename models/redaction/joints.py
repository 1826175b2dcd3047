"""Texts whose words are broken: over lines, by escapes that colour, by what can't be seen.

A secret may be broken anywhere, as terminals, MIME and Python's own printers do. `Joined` is the text without
the breaks, and knows where each of its characters stood.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

# A line's end with what is put around it: a backslash or =, the next line's indent, quotation marks of both.
_LINE_END = r"\\{0,8}=?(?:\r?\n|\\r\\n|\\n)[ \t]*+"
_JOINT = re.compile(
    rf"""['"][ \t]{{0,8}}{_LINE_END}b?['"]|{_LINE_END}"""
    r"""|\x1b\[[0-9;]{0,20}[A-Za-z]|[\0\u00AD\u034F\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]"""
)


def unbroken(text: str) -> str:
    """A text without its breaks."""
    return _JOINT.sub("", text)


class Joined:
    """A text without its breaks; `text` is the very same where there are none."""

    def __init__(self, text: str) -> None:
        self._whole = text
        self._at: list[int] = []  # where, in the text without breaks, each break was
        self._gone: list[int] = [0]  # how long all breaks up to there were
        kept, end = [], 0
        for joint in _JOINT.finditer(text):
            kept.append(text[end : joint.start()])
            end = joint.end()
            self._at.append(joint.start() - self._gone[-1])
            self._gone.append(self._gone[-1] + len(joint[0]))
        self.text = "".join([*kept, text[end:]]) if self._at else text

    def replaced(self, spans: Iterable[tuple[int, int]], instead: str) -> str:
        """The whole text, breaks and all, with something else for some spans of `text`."""
        told, end = [], 0
        for first, last in sorted(spans):
            start = first + self._gone[bisect_right(self._at, first)]
            if start >= end:
                told += [self._whole[end:start], instead]
            end = max(end, last + self._gone[bisect_left(self._at, last)])
        return "".join([*told, self._whole[end:]])
