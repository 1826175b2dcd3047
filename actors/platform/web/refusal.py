"""What a server says when it refuses: its words, and when to come back."""

import json


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
