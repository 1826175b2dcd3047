"""The patterns of robots.txt rules: which match a path, and which of those counts. RFC 9309 §2.2.2.

Used by `robots`. Whoever wrote the patterns and the path, a judgement takes time linear in their lengths:
nothing is compiled or tried twice, and what would take long is cut, so that it disallows more.
"""

import re
from collections.abc import Iterable

# Of the patterns with `*` in one table, as many letters are compared as they stand.
_STARRED_LETTERS = 50_000

_CODE = re.compile(r"%[0-9A-Fa-f]{2}")
_NO_PLAIN_ASCII = re.compile(r"[^\x21-\x7e]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# A rule: whether it allows, and its pattern, escaped.
Rule = tuple[bool, str]
# How much a rule counts: its length, and whether it allows.
_Weight = tuple[int, bool]
_NO_RULE: _Weight = (0, True)


class PatternTable:
    """Patterns to look a path up in. The longest that matches counts; of two as long, the one that allows."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        begins: dict[str, _Weight] = {}
        ends: dict[str, _Weight] = {}
        starred: dict[str, _Weight] = {}
        left = _STARRED_LETTERS
        for allowed, pattern in rules:
            weight, table, text = (len(pattern), allowed), begins, pattern
            if "*" in pattern:
                left -= len(pattern)
                if left >= 0:
                    table = starred
                elif allowed:
                    continue
                else:
                    # All that begins alike, with the weight that it had.
                    text = pattern[: pattern.index("*")]
            elif pattern.endswith("$"):
                table, text = ends, pattern[:-1]
            table[text] = max(weight, table.get(text, weight))
        self._begins, self._ends = begins, ends
        # No more than the root of twice the letters of all patterns: a thousand, for 500 kB.
        self._lengths = {len(text) for text in begins}
        self._starred = sorted(
            ((weight, _Starred(text)) for text, weight in starred.items()),
            key=lambda rule: rule[0],
            reverse=True,
        )

    def allows(self, path: str) -> bool:
        """Whether a path may be fetched; it may where no pattern matches."""
        best = max(_NO_RULE, self._ends.get(path, _NO_RULE))
        for length in self._lengths:
            best = max(best, self._begins.get(path[:length], _NO_RULE))
        for weight, pattern in self._starred:
            if weight <= best:
                break
            if pattern.matches(path):
                return weight[1]
        return best[1]


class _Starred:
    """A pattern with stars. Its pieces are looked for from the left, each behind the last, and none again."""

    def __init__(self, pattern: str) -> None:
        ended = pattern.endswith("$")
        self._head, *pieces = pattern.removesuffix("$").split("*")
        self._tail = pieces.pop() if ended else ""
        self._pieces = [piece for piece in pieces if piece]

    def matches(self, path: str) -> bool:
        if not path.startswith(self._head):
            return False
        at = len(self._head)
        for piece in self._pieces:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return at + len(self._tail) <= len(path) and path.endswith(self._tail)


def escaped(octets: str) -> str:
    """A text with what is no printable ASCII percent-encoded. One letter of `octets` is one octet."""
    return _NO_PLAIN_ASCII.sub(lambda found: f"%{ord(found.group()):02X}", capitals(octets))


def capitals(text: str) -> str:
    """A text with its escapes in capitals: `%aa` is `%AA`."""
    return _CODE.sub(lambda found: found.group().upper(), text)


def unescaped(text: str) -> str:
    """An escaped text without the escapes that no reader needs (`%7E` is `~`), and `$` only at its end."""

    def undone(found: re.Match[str]) -> str:
        letter = chr(int(found.group()[1:], 16))
        return letter if letter in _UNRESERVED else found.group()

    text = _CODE.sub(undone, text)
    return text[:-1].replace("$", "%24") + text[-1:] if "$" in text else text
