"""Secrets, taken out of whatever is said: of errors, of lines of the log, of traces.

Every SignoffError, `models.error_lines`, problem details and the log's formatter go through `redacted`. It
knows the secrets that this process was given (`keep`), however they are spelt where they turn up, over lines
too (`spellings`), and what those look like that nobody gave to us (`shapes`). It takes rather too much than
too little, and before a text is cut, for half a secret looks like nothing.
"""

from collections.abc import Collection, Iterable
from typing import Any

from models.redaction.joints import Joined
from models.redaction.shapes import without_shapes
from models.redaction.spellings import HIDDEN, Spellings, spellings_of, starts_in

__all__ = ["HIDDEN", "keep", "redacted", "redacted_within", "without"]

# A shorter one may be a word like any other. What gives it away is where it stands.
_SHORTEST = 8
# Each secret however it is spelt, the longest first: an URL goes with the password in it. Replaced, never
# changed: other threads read it.
_kept: dict[str, Spellings] = {}


def keep(secret: str) -> None:
    """Remember a secret of this process, so that it is never told."""
    global _kept
    if len(secret := secret.strip()) >= _SHORTEST and secret not in _kept:
        more = {**_kept, secret: Spellings(secret)}
        _kept = {each: more[each] for each in sorted(more, key=len, reverse=True)}


def redacted(text: str) -> str:
    """A text with `***` for each secret in it."""
    return without_shapes(_without(text, _kept.values()))


def redacted_within(value: Any) -> Any:
    """The same of each text in lists and mappings, for what is not one text but is told."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {redacted_within(name): redacted_within(held) for name, held in value.items()}
    if type(value) in (list, tuple):
        return type(value)(redacted_within(held) for held in value)
    return value


def without(text: str, secrets: Iterable[str]) -> str:
    """A text with `***` for each of some secrets, however short, and spelt as it may be."""
    return _without(text, [spellings_of(secret) for secret in sorted(secrets, key=len, reverse=True)])


def _without(text: str, secrets: Collection[Spellings]) -> str:
    lowered = text.lower()
    starts = starts_in(lowered)
    for secret in secrets:
        if secret.may_be_in(lowered, starts):
            text = secret.pattern.sub(HIDDEN, text)
    return _without_joined(text, [secret.joined for secret in secrets if secret.joined is not None])


def _without_joined(text: str, secrets: Collection[Spellings]) -> str:
    """The same for secrets that are written over lines, or with what can't be seen among their letters."""
    joined = Joined(text)
    if joined.text is text:
        return text
    lowered = joined.text.lower()
    starts = starts_in(lowered)
    found = [
        match.span()
        for secret in secrets
        if secret.may_be_in(lowered, starts)
        for match in secret.pattern.finditer(joined.text)
    ]
    return joined.replaced(found, HIDDEN) if found else text
