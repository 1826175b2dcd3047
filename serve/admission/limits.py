"""What a request may cost, by its path: the bytes of its body, and what JSON may hold.

`serve.admission.middleware` asks before any route is. Parsing JSON holds up everybody else in the process,
wherever it is done, so what would take long to parse is told by counting marks: milliseconds a megabyte.
"""

import re
from dataclasses import dataclass
from itertools import islice

# An article may have a million characters, which JSON may spell with six bytes each.
LARGE_BODY_BYTES = 8 * 1024 * 1024
# A message of 20,000 characters fits, however it is spelt; an upload of hundreds of URLs as well.
BODY_BYTES = 256 * 1024
# Where each path that takes more begins and ends.
_LARGE = (
    ("/api/tools/articles/", "/write"),
    ("/api/tools/resources/create/", ""),
    ("/v1/chat/completions", ""),
    ("/mcp", ""),
    ("/api/v1/agent-workflows/", "/approve"),  # a page that somebody pastes
)
_OPEN = ("/health", "/metrics", "/.well-known/oauth-protected-resource", "/docs", "/openapi.json")
_STREAMS = ("/api/events",)


@dataclass(frozen=True)
class _Most:
    """At most `count` matches of `mark` in a body; `noun` is what they are marks of."""

    mark: re.Pattern[bytes]
    count: int
    noun: str


# A table of 200,000 cells in 50,000 rows fits, and 2,000 messages of many parts.
_MOST = (
    _Most(re.compile(rb","), 600_000, "values"),
    _Most(re.compile(rb"[\[{]"), 100_000, "lists and objects"),
    # However many spaces JSON allows there (RFC 8259 §2).
    _Most(re.compile(rb'"[ \t\n\r]*:'), 30_000, "members"),
)


def needs_token(path: str) -> bool:
    """Whether a path is for those only who show a token; all are, but a few that tell nothing of anybody."""
    return not any(path == each or path.startswith(f"{each}/") for each in _OPEN)


def is_stream(path: str) -> bool:
    """Whether an answer goes on until its reader leaves."""
    return path in _STREAMS


def most_bytes(path: str) -> int:
    """The largest body that a path takes."""
    large = any(path.startswith(begin) and path.endswith(end) for begin, end in _LARGE)
    return LARGE_BODY_BYTES if large else BODY_BYTES


def too_much(body: bytes) -> str | None:
    """What a body, if it is JSON, has too much of; None where it has not."""
    for most in _MOST:
        if sum(1 for _ in islice(most.mark.finditer(body), most.count + 1)) > most.count:
            return f"body: holds more than {most.count:,} {most.noun}: send less at a time"
    return None


def is_wide(body: bytes) -> bool:
    """Whether it is not UTF-8 but UTF-16 or UTF-32, whose marks are other bytes: JSON in these holds NUL."""
    return b"\0" in body
