"""E-mail addresses, and IP addresses.

An e-mail address is found by its form alone, also where `@` is percent-encoded in a link. An IP address must
be public, and four small numbers with dots are a version or a paragraph unless they are said to be one.
"""

import ipaddress
import re

from actors.systems.knowledge.redaction.finding import Recogniser
from models.addresses import is_public

_ENDING = re.compile(r"xn--[a-z0-9-]{1,59}|[^\W\d_]{2,63}", re.IGNORECASE)
# `logo@2x.png` is a picture for fine screens.
_FILES = frozenset(
    ("png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "js", "mjs", "css", "map", "json")
)
_SMALL = 32


def _mail(match: re.Match[str]) -> int | None:
    """The end of its domain: of its last label that can be one. Pages glue numbers and words to addresses."""
    labels = match.group("domain").split(".")
    while labels and not _ENDING.match(labels[-1]):
        labels.pop()
    if len(labels) < 2 or not all(labels):
        return None
    ending = _ENDING.match(labels[-1])
    assert ending is not None
    if ending.group().lower() in _FILES:
        return None
    return match.start("domain") + len(".".join((*labels[:-1], ending.group())))


def _ip4(match: re.Match[str]) -> int | None:
    parts = [int(part) for part in match.group().split(".")]
    if any(part > 255 for part in parts) or max(parts) < _SMALL:
        return None
    return _public(match)


def _public(match: re.Match[str]) -> int | None:
    try:
        address = ipaddress.ip_address(match.group())
    except ValueError:
        return None
    return match.end() if is_public(address) else None


_IP4 = r"(?<![\w.-])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w-]|\.[0-9])"
RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser(
        "email",
        # Each run of signs is looked at once, from its beginning. Leading signs are left where they are.
        # The domain is only looked at: two addresses may be glued together.
        re.compile(
            r"(?<![\w.+'%-])(?:[_.'-]|%(?!40)[0-9A-Fa-f]{2})*+"
            r"(?P<it>(?:[\w.+'-]|%(?!40)[0-9A-Fa-f]{2})++)(?:@|%40)(?=(?P<domain>(?:[^\W_]|[.-])++))"
        ),
        _mail,
        anywhere=True,
        digits=False,
    ),
    Recogniser("ip_address", re.compile(_IP4), _ip4, digits=False),
    Recogniser("ip_address", re.compile(_IP4), _public, stands_alone=False, digits=False),
    Recogniser(
        "ip_address",
        re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{6,39}(?![\w:])"),
        _public,
        anywhere=True,
        digits=False,
    ),
)
