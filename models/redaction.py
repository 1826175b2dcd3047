"""Secrets, taken out of whatever is said: of errors, of lines of the log, of traces.

Every SignoffError, `models.error_lines`, problem details and the log's formatter go through `redacted`. It
knows the secrets that this process was given (`keep`), however they are spelt where they turn up, and what
those look like that nobody gave to us: a password in an URL, `password=…`, a bearer token, a key. It takes
rather too much than too little, and before a text is cut, for half a secret looks like nothing.
"""

import json
import re
import string
from collections.abc import Iterable
from functools import lru_cache

HIDDEN = "***"
# A shorter one may be a word like any other. What gives it away is where it stands.
_SHORTEST = 8
_PLAIN = frozenset(string.ascii_letters + string.digits)

_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret|token|(?:api|access|secret|private|account|signing|sealing|scram_\w{1,10})"
    r"[_-]?key|signature|credentials?"
)
# A value as libpq, URLs, shells, Python and JSON write it: in quotation marks, or up to a blank.
_VALUE = r"""(?:b?'(?:\\.|''|[^'\\])*+'?|b?"(?:\\.|""|[^"\\])*+"?|(?:\\.|[^\s\\'"])(?:\\.|[^\s\\])*+)"""
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
            r"(?:-----END [A-Z ]{0,40}KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
        HIDDEN,
    ),
    # Up to the last @ before a blank, as a password that is not encoded may hold / and @ itself. On the web
    # what stands there may be a port.
    (
        re.compile(
            r"(?<![a-z0-9+.-])((?:https?|wss?|(?P<other>(?!https?:|wss?:)[a-z][a-z0-9+.-]{0,30}))://[^\s/@:?#'\"]{0,200}:)"
            r"(?(other)|(?!\d{1,5}[/?#]))\S{1,2000}@",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}@",
    ),
    (re.compile(r"(?<![a-z0-9+.-])(https?://)[^\s/@?#'\"]{1,2000}@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    (re.compile(rf"(?<![\w.-])([\w.-]{{0,40}}(?:{_NAMES})\s*=\s*){_VALUE}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(rf"([?&](?:key|sig|auth|code|pw|pass)=){_VALUE}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(
            rf"""(['"][\w.-]{{0,40}}(?:{_NAMES})['"]\s*:\s*)(?:b?'[^']*+'?|b?"(?:\\.|[^"\\])*+"?)""",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    # Headers that let somebody in, whatever their scheme.
    (
        re.compile(
            r"""(\b(?:proxy-)?authorization['"]?\s{0,4}[:=]\s{0,4}(?-i:b?)['"]?)"""
            r"""(?:(?-i:[A-Z])[\w-]{1,40}\s{1,4})?"""
            r"""(?=[A-Za-z]*(?:[0-9+/=._~-]|(?-i:[a-z][A-Z])))[^\s'"]{4,}""",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(\b(?:set-)?cookie:\s{0,4})[^\r\n]{4,}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"""(\b(?:x-)?api-key['"]?\s*[:,]\s*b?['"]?)[^\s'"]{4,}""", re.IGNORECASE), rf"\1{HIDDEN}"),
    # What is in no dictionary: with a digit or a mark in it, or a capital after a small letter.
    (
        re.compile(
            r"(\b[Bb](?:earer|EARER|asic|ASIC)\s{1,4})(?=[A-Za-z]*(?:[0-9+/=._~-]|[a-z][A-Z]))[A-Za-z0-9+/=._~-]{8,}"
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"), HIDDEN),
    (
        re.compile(
            r"\b(?:(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abeprs]|whsec|hf|npg)[-_][\w+/=-]{16,}"
            r"|AKIA[A-Z0-9]{16}|AIza[\w-]{30,})"
        ),
        HIDDEN,
    ),
)
# Each secret however it is spelt, the longest first: an URL goes with the password in it. Replaced, never
# changed: other threads read it.
_kept: dict[str, re.Pattern[str]] = {}


def keep(secret: str) -> None:
    """Remember a secret of this process, so that it is never told."""
    global _kept
    if len(secret := secret.strip()) >= _SHORTEST and secret not in _kept:
        more = {**_kept, secret: _spellings(secret)}
        _kept = {each: more[each] for each in sorted(more, key=len, reverse=True)}


def redacted(text: str) -> str:
    """A text with `***` for each secret in it."""
    for spellings in _kept.values():
        text = spellings.sub(HIDDEN, text)
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text


def without(text: str, secrets: Iterable[str]) -> str:
    """A text with `***` for each of some secrets, however short, and spelt as it may be."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = _spellings(secret).sub(HIDDEN, text)
    return text


@lru_cache(maxsize=256)
def _spellings(secret: str) -> re.Pattern[str]:
    return re.compile("".join(map(_ways, secret)))


def _ways(char: str) -> str:
    """How a character may be written: as it is, escaped once or twice, or as the bytes of an URL."""
    if char in _PLAIN:
        return char
    if char == "\\":
        return r"(?:\\{1,8}|%5[cC])"
    code = ord(char)
    encoded = char.encode(errors="replace")
    pair = divmod(code - 0x10000, 0x400)
    unicode = f"\\u{code:04x}" if code < 0x10000 else f"\\u{0xD800 + pair[0]:04x}\\u{0xDC00 + pair[1]:04x}"
    escapes = {unicode, ascii(char)[1:-1], repr(encoded)[2:-1], json.dumps(char)[1:-1]} - {char}
    in_url = "".join(f"%{byte:02x}" for byte in encoded)
    ways = [
        r"\\{0,8}+" + re.escape(char),
        f"(?i:{in_url})",
        *(_escaped(each) for each in sorted(escapes, key=len, reverse=True)),
        *(["[+]"] if char == " " else []),
    ]
    return f"(?:{'|'.join(ways)})"


def _escaped(escape: str) -> str:
    return "".join(r"\\{1,8}+" if char == "\\" else re.escape(char) for char in escape)
