"""Keys, tokens and secrets of requests: what of a request they are, and how they stay out of what is told."""

import logging
import re
from collections.abc import Mapping
from functools import cache

import httpx2

from models.redaction import without

_NAMES = re.compile(r"key|token|secret|passw|auth|cookie", re.IGNORECASE)


class Keys:
    """The values of those parameters and headers whose names speak of keys, tokens or secrets."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._values = frozenset(value for name, value in given.items() if _NAMES.search(name) and value)

    def scrubbed(self, text: str) -> str:
        """A text without them."""
        return without(text, self._values)


class _WithoutQuery(logging.Filter):
    """httpx2 logs each request with its whole URL, and some keys are sent in the query."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                arg.copy_with(query=None) if isinstance(arg, httpx2.URL) else arg for arg in record.args
            )
        return True


@cache
def keep_queries_out_of_logs() -> None:
    """Have httpx2 log requests without their queries, in this process."""
    logging.getLogger("httpx2").addFilter(_WithoutQuery())
