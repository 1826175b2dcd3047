"""What a request may cost, by its path: the bytes of its body, and what JSON may hold.

`serve.admission` asks before any route is. Parsing JSON holds up everybody else in the process, wherever it
is done, so what would take long to parse is told by counting marks, which takes a millisecond a megabyte.
"""

from dataclasses import dataclass

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
)
_OPEN = ("/health", "/metrics", "/.well-known/oauth-protected-resource", "/docs", "/openapi.json")
_STREAMS = ("/api/events",)


@dataclass(frozen=True)
class _Most:
    """At most `count` of any of `marks` in a body; `noun` is what they are marks of."""

    marks: tuple[bytes, ...]
    count: int
    noun: str


# A table of 200,000 cells in 50,000 rows fits, and 2,000 messages of many parts.
_MOST = (
    _Most((b",",), 600_000, "values"),
    _Most((b"[", b"{"), 100_000, "lists and objects"),
    _Most((b'":',), 30_000, "members"),
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
        if sum(body.count(mark) for mark in most.marks) > most.count:
            return f"body: holds more than {most.count:,} {most.noun}: send less at a time"
    return None
