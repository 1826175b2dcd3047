"""Untrusted text in Markdown: shown as it stands, never markup, HTML or a link that nobody meant.

Used for answers (`escaped`, `link`) and for drafts (`unlinked`). Addresses differ on purpose: an answer shows
them broken by a space, so that a person can read them; a draft leaves them out, they stand in its footnotes.
"""

import re
from urllib.parse import quote, urlsplit

from models.text import SHORT, one_line, shortened

_MARKUP_IN_ANSWERS = re.compile(r"([\\`*_\[\]|~])")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~&$])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#|[A-Za-z][A-Za-z0-9]*;)")
# What GitHub's dialect would make a link by itself.
_SCHEME_END = re.compile(r"(?i)(?<=\w):(?=//|\\)|(?<=mailto):|(?<=xmpp):")
_HOST_START = re.compile(r"(?i)(?<=www)\.")
_MAIL = re.compile(r"(?<=\S)@(?=\S)")
_SELF_LINKING = re.compile(r"[a-z][a-z0-9+.-]{0,31}://+|(?<![^\W_])www\.|\bmailto:|\bxmpp:", re.IGNORECASE)
# What makes a line a heading, a list, a quotation or a rule.
_BLOCK = re.compile(r"\A([-#+=>])")
_ORDERED = re.compile(r"\A([0-9]{1,9})([.)])(?=\s|\Z)")


def escaped(text: str, most: int = SHORT) -> str:
    """One line of untrusted text that Markdown shows as it stands: no part of it becomes a link or HTML."""
    line = opening(_MARKUP_IN_ANSWERS.sub(r"\\\1", shortened(text, most)))
    line = _ENTITY.sub("& ", _TAG.sub("< ", line))
    line = _SCHEME_END.sub(": ", line)
    return _MAIL.sub(" @", _HOST_START.sub(". ", line))


def unlinked(text: str) -> str:
    """Text on one line that Markdown shows as it is, but for addresses: nothing of those links."""
    line = _SELF_LINKING.sub("", one_line(text))
    # What was left out may have stood between the halves of another; a space keeps those apart.
    line = _MAIL.sub(" @", _SELF_LINKING.sub(" ", line))
    return _MARKUP.sub(r"\\\1", line)


def opening(text: str) -> str:
    """An escaped text that begins a block, so that it is a paragraph whatever it begins with."""
    return _ORDERED.sub(r"\1\\\2", text) if _ORDERED.match(text) else _BLOCK.sub(r"\\\1", text)


def web_address(url: str | None) -> str | None:
    """The URL as a link's target, quoted; None where it is not a plain http(s) URL with a host."""
    if url is None:
        return None
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not host or "@" in parts.netloc:
        return None
    try:
        quoted = quote(url.strip(), safe="/:?#@!$&'*+,;=%~._-[]")
    except UnicodeEncodeError:  # half of a character
        return None
    return quoted.replace("[", "%5B").replace("]", "%5D")


def link(title: str, url: str | None) -> str:
    """`[title](url)` with the title escaped; only the title where the URL can't be linked to."""
    target = web_address(url)
    shown = escaped(title) or "…"
    return shown if target is None else f"[{shown}]({target})"
