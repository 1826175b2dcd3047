"""Secrets, taken out of whatever is said: of errors, of lines of the log, of traces.

Every SignoffError, `models.error_lines`, problem details and the log's formatter go through `redacted`. It
knows the secrets that this process was given (`keep`), however they are spelt where they turn up, and what
those look like that nobody gave to us: a password in an URL, `password=…`, a bearer token, a key. It takes
rather too much than too little, and before a text is cut, for half a secret looks like nothing.
"""

import json
import re
import string
import unicodedata
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
# What is in no dictionary: with a digit or a mark in it, or a capital after a small letter.
_ODD = r"""(?=[A-Za-z_-]*(?:[0-9]|[+=~$%&*!^]\w|(?-i:[a-z][A-Z])))[^\s'"<>(){},;\\]{6,}"""
# In quotation marks that are escaped: up to as many backslashes before another, as within are more.
_ESCAPED = r"""(?P<depth>\\{1,8}+)["'](?:[^\\"']|(?!(?P=depth)["'])\\++.?)*+"""
_QUOTED = r"""(?:b?'[^']*+'?|b?"(?:\\.|[^"\\])*+"?)"""
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
            r"(?<![a-z0-9+.-])((?:https?|wss?|(?P<other>(?!https?:|wss?:)[a-z][a-z0-9+.-]{0,30}))://[^\s/:?#'\"]{0,200}:)"
            r"(?(other)|(?!\d{1,5}[/?#]))\S{1,2000}@",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}@",
    ),
    (re.compile(r"(?<![a-z0-9+.-])(https?://)[^\s/@?#'\"]{1,2000}@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    (
        re.compile(
            rf"(?<![\w.-])([\w.-]{{0,40}}(?:{_NAMES})\s*(?:=>?|%(?:25)?3D)\s*){_VALUE}", re.IGNORECASE
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(rf"([?&](?:key|sig|auth|code|pw|pass)=){_VALUE}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(
            rf"""(['"][\w.-]{{0,40}}(?:{_NAMES}|cookie)\\{{0,8}}+['"]\s*:\s*)(?:{_QUOTED}|{_ESCAPED})""",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(
            rf"""(\(\s{{0,4}}b?['"][\w.-]{{0,40}}(?:{_NAMES}|cookie)['"]\s{{0,4}},\s{{0,4}}){_QUOTED}""",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    # Of a name without quotation marks the value decides: prose has colons, too.
    (
        re.compile(
            rf"""(?<![\w.-])([\w.-]{{0,40}}(?:{_NAMES})[ \t]{{0,4}}:[ \t]{{0,4}})"""
            rf"""(?:'[^'\s]{{6,}}'|"[^"\s]{{6,}}"|{_ODD})""",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(
            rf"(?<![\w-])(--[\w-]{{0,40}}(?:{_NAMES})[ \t]{{1,4}})"
            rf"(?![<{{`]|(?-i:-[a-z-]*+(?![^\s=])|[A-Z_]++(?!\w))){_VALUE}",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(rf"(<[\w.:-]{{0,40}}(?:{_NAMES})>)[^<]{{1,2000}}(?=</)", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(
            r"""(?<![\w.+/:@-])((?!mailto:)[\w.+-]{1,64}:)[^\s@'"]{4,200}@(?=[\w.-]{1,200}:\d{2,5}(?!\w))""",
            re.IGNORECASE,
        ),
        rf"\1{HIDDEN}@",
    ),
    # Addresses that are the secret.
    (
        re.compile(
            r"(\bhooks\.slack\.com/\w{1,20}/|\bdiscord(?:app)?\.com/api/webhooks/)[^\s'\"]+", re.IGNORECASE
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
            r"|ya29\.[\w-]{16,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,})"
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
    spelt = dict.fromkeys((secret, unicodedata.normalize("NFC", secret)))
    return re.compile("|".join("".join(map(_ways, each)) for each in spelt))


@lru_cache(maxsize=1024)
def _ways(char: str) -> str:
    """How a character may be written: as it is, taken apart, escaped, or as the bytes of an URL."""
    if char in _PLAIN:
        return char
    code = ord(char)
    encodings = dict.fromkeys(
        [char.encode(errors="replace"), *([char.encode("latin-1")] if code < 256 else [])]
    )
    in_url = "|".join(
        r"%(?:25){0,4}".join(["", *(_hex(f"{byte:02x}") for byte in each)]) for each in encodings
    )
    escapes = [
        *(r"\\{1,8}+".join(f"x{_hex(f'{byte:02x}')}" for byte in each) for each in encodings),
        *(r"\\{1,8}+".join(rf"0{{0,2}}{byte:o}" for byte in each) for each in encodings),
        rf"[uU]\{{?0{{0,6}}{_hex(f'{code:x}')}\}}?",
    ]
    if code >= 0x10000:
        pair = divmod(code - 0x10000, 0x400)
        high, low = _hex(f"{0xD800 + pair[0]:x}"), _hex(f"{0xDC00 + pair[1]:x}")
        escapes.append(rf"u{high}\\{{1,8}}+u{low}")
    named = {ascii(char)[1:-1], json.dumps(char)[1:-1]}
    escapes += [re.escape(each[1:]) for each in named if len(each) == 2 and each[0] == "\\"]
    in_url += f"|%u{_hex(f'{code:04x}')}" if code < 0x10000 else ""
    if char == "\\":
        return rf"(?:\\{{1,8}}(?:{'|'.join(escapes[:-1])})?|{in_url})"
    ways = [r"\\{0,8}+" + re.escape(char), rf"\\{{1,8}}+(?:{'|'.join(escapes)})", in_url]
    apart = unicodedata.normalize("NFD", char)
    ways += ["".join(map(_ways, apart))] if apart != char else []
    ways += ["[+]"] if char == " " else []
    return f"(?:{'|'.join(ways)})"


def _hex(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
