"""The `Retry-After` header of HTTP (RFC 9110 §10.2.3), as whoever was told to come back later reads it."""

import re
import time
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(header: str | None, *, longest: float, now: float | None = None) -> float | None:
    """The seconds to wait: a number of them, or until a date; None where the header says neither.

    Args:
        longest: no more than this, whatever is asked for.
        now: seconds since the epoch; the clock's by default.
    """
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return min(float(text), longest)
    try:
        at = parsedate_to_datetime(text)
        # `-0000` is UTC, of an unknown place.
        seconds = at.replace(tzinfo=at.tzinfo or UTC).timestamp() - (time.time() if now is None else now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(seconds, 0.0), longest)
