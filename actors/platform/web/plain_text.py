"""Text of outsiders made plain: no tags, no entities, nothing that can't be seen.

For titles, snippets and what a server said. It stays untrusted: whoever shows it to a model fences it,
and whoever shows it in a page escapes it.
"""

import html
import re

from models.text import shortened

_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(?:[a-zA-Z/!?][^<>]*)>")


def plain_text(raw: object, most: int) -> str:
    """One line of at most `most` characters, whole words where there are any; "" for what is no text."""
    if not isinstance(raw, str):
        return ""
    # Bounded before all else: what is looked through must not be a megabyte for each title.
    text = raw[: 20 * most + 1000]
    # Twice, because `&lt;b&gt;` is a tag that somebody wrote as text on its way here.
    for _ in range(2):
        text = html.unescape(_without_tags(text))
    return shortened(_without_tags(text), most)


def _without_tags(text: str) -> str:
    return _TAG.sub(" ", _HIDDEN.sub(" ", text))
