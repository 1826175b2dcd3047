"""The web addresses in a message, and the message with a word in place of each.

What an address says (`/research/analysis`) is no wish of who wrote it. Linear in the message: each run of
characters without a blank is looked at once.
"""

import re
from typing import NamedTuple

# Stands for an address in texts that are classified; nobody types it.
MARK = "urlhere"

_SCHEMES = ("http://", "https://", "www.")
_BEFORE = "<([{\"'`„“”‚‘«»*_"
_AFTER = ".,;:!?)]}>\"'`“”’«»*_"
_HOST_END = re.compile(r"[/?#:]")
_LABEL = re.compile(r"[a-z0-9-]+")
# Without a scheme only under these: `e.g.`, `z.B.` and `report.pdf` are no addresses.
_ENDINGS = frozenset(
    [
        *("example", "test", "org", "com", "net", "info", "eu", "gov", "edu", "int", "io", "dev", "app"),
        *("pl", "de", "at", "ch", "uk", "ie", "us", "ca", "au", "nz", "in", "ng", "ke", "br", "fr", "it"),
        *("es", "cz", "sk", "nl", "be", "lu", "se", "no", "dk", "fi", "lt", "lv", "ee", "ua"),
    ]
)


class Masked(NamedTuple):
    """A message without its addresses, and how many it had."""

    text: str
    addresses: int


def masked(message: str) -> Masked:
    """Put `MARK` in place of every address."""
    words = message.split()
    found = [_is_address(word) for word in words]
    text = " ".join(MARK if address else word for word, address in zip(words, found, strict=True))
    return Masked(text, sum(found))


def _is_address(word: str) -> bool:
    bare = word.lstrip(_BEFORE).rstrip(_AFTER).lower()
    if bare.startswith(_SCHEMES):
        return len(bare) > len("https://")
    host = _HOST_END.split(bare, maxsplit=1)[0].rpartition("@")[2] if "." in bare else ""
    labels = host.split(".")
    return (
        "@" not in bare
        and len(labels) > 1
        and labels[-1] in _ENDINGS
        and all(_LABEL.fullmatch(label) for label in labels)
    )
