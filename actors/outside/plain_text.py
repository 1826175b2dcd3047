"""Text of outsiders made plain: no tags, no entities, nothing that can't be seen.

For titles, snippets and what a server said. It stays untrusted: whoever shows it to a model fences it,
and whoever shows it in a page escapes it.
"""

import html
import re

_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(?:[a-zA-Z/!?][^<>]*)>")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
# Soft hyphens, bidi marks, tag letters, noncharacters and halves of surrogate pairs. The joiners U+200C and
# U+200D stay: some scripts, and emoji, are written with them.
_SHAPELESS = re.compile(
    r"[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    r"\ud800-\udfff\U000e0000-\U000e01ef]"
)


def plain_text(raw: object, most: int) -> str:
    """One line of at most `most` characters, whole words where there are any; "" for what is no text."""
    if not isinstance(raw, str):
        return ""
    # Bounded before all else: what is looked through must not be a megabyte for each title.
    text = raw[: 20 * most + 1000]
    # Twice, because `&lt;b&gt;` is a tag that somebody wrote as text on its way here.
    for _ in range(2):
        text = html.unescape(_without_tags(text))
    text = " ".join(seen(_without_tags(text)).split())
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > most // 2 else cut) + "…"


def _without_tags(text: str) -> str:
    return _TAG.sub(" ", _HIDDEN.sub(" ", text))


def seen(text: str) -> str:
    """A text without what has no shape; control characters become spaces, line ends and tabs stay."""
    return _SHAPELESS.sub("", _CONTROL.sub(" ", text))
