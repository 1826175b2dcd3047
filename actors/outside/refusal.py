"""What a server says when it refuses: its words, and when to come back."""

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST_WAIT = 31 * 24 * 3600.0


def message_of(said: bytes) -> str:
    """What a server said with an error: of a JSON problem its message, of all else the text."""
    text = said.decode(errors="replace")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail", "error_message"):
        if isinstance(told, dict) and isinstance(told.get(name), str | dict):
            told = told[name]
    # Written anew, because a key may be spelt with escapes.
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


def retry_after(told: str | None) -> float | None:
    """Seconds to wait, of a number of them or of a date (RFC 9110 §10.2.3); None where it says neither."""
    told = (told or "").strip()
    if re.fullmatch(r"[0-9]{1,10}", told):
        return min(float(told), _LONGEST_WAIT)
    try:
        at = parsedate_to_datetime(told)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if at.tzinfo is None:  # `-0000`: UTC, of an unknown place
        at = at.replace(tzinfo=UTC)
    return min(max((at - datetime.now(UTC)).total_seconds(), 0.0), _LONGEST_WAIT)
