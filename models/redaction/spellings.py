"""How a secret that we know may be written: in other letter case, escaped, or encoded.

Character by character (`_ways`) as libpq, URLs, shells, SQL, Python, JSON and HTML write what is no letter or
digit; and as a whole (`_encodings`) in base64, wherever it begins within, and as its bytes' or characters'
numbers. `may_be_in` is cheap, and asked first.
"""

import base64
import html.entities
import json
import re
import string
import unicodedata
from collections.abc import Set
from functools import cached_property, lru_cache

from models.redaction.joints import unbroken

HIDDEN = "***"
_PLAIN = frozenset(string.ascii_letters + string.digits)
_PLAIN_RUN = re.compile(r"[A-Za-z0-9]+")
# Encoded, a shorter one may be a part of anything.
_SHORTEST_ENCODED = _START = 8
# Of base64: its last letter belongs to what follows, too.
_ENDS = "(?:[A-Za-z0-9+/_-]?={1,2})?"
_NAMED = {value: name.rstrip(";") for name, value in html.entities.html5.items() if len(value) == 1}
# How quotation marks are written within others of their kind: by SQL and CSV, and by shells.
_DOUBLED = {"'": ("''", "'\"'\"'", "'\\''"), '"': ('""',)}


class Spellings:
    """One secret; `joined` is the same for a text without breaks, None where nothing is left of it."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._composed = unicodedata.normalize("NFC", secret)
        self._encodings = _encodings(secret)
        self._starts = frozenset(each[:_START] for each in self._encodings)
        # What stands there in all spellings but the encodings.
        self._sure = max(_PLAIN_RUN.findall(self._composed), key=len, default="").lower()
        whole = unbroken(secret)
        self.joined: Spellings | None = self if whole == secret else spellings_of(whole) if whole else None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds it in any spelling; made where it is first needed."""
        composed = self._composed
        # Letters that become several in the other case: no pattern sees that by itself.
        spelt = (self._secret, composed, composed.upper(), composed.lower(), composed.casefold())
        ways = dict.fromkeys("".join(map(_ways, each)) for each in dict.fromkeys(spelt))
        encoded = [re.escape(each) + _ENDS for each in self._encodings]
        return re.compile("|".join([*ways, *encoded]), re.IGNORECASE)

    def may_be_in(self, lowered: str, starts: Set[str]) -> bool:
        """Whether it is worth a look: in a text in small letters, of which these are the `starts_in` it."""
        return self._sure in lowered or not self._starts.isdisjoint(starts)


def starts_in(lowered: str) -> Set[str]:
    """What may be the start of an encoding, wherever it begins: looked for once, not once for each secret."""
    return {lowered[at : at + _START] for at in range(len(lowered) - _START + 1)}


@lru_cache(maxsize=256)
def spellings_of(secret: str) -> Spellings:
    """Those of a secret, kept for the next time."""
    return Spellings(secret)


def _encodings(secret: str) -> tuple[str, ...]:
    """A secret as a whole, encoded; in small letters."""
    found: list[str] = []
    for content in dict.fromkeys((secret.encode(errors="replace"), secret.encode("latin-1", "replace"))):
        if len(content) < _SHORTEST_ENCODED:
            continue
        for before in range(3):  # bytes of what stands before it
            whole = base64.b64encode(bytes(before) + content).decode()
            sure = whole[-(-before * 8 // 6) : (before + len(content)) * 8 // 6].lower()
            found += [sure, sure.translate(str.maketrans("+/", "-_"))]
        pairs = [f"{byte:02x}" for byte in content]
        found += [between.join(pairs) for between in ("", " ", ":", "-", "%", "%25", "\\x", "\\\\x", "=")]
        found += [", ".join(map(str, content)), ",".join(map(str, content))]
        found += ["\\".join(f"{byte:03o}" for byte in content)]
    if len(secret) >= _SHORTEST_ENCODED:
        found += ["".join(f"&#{form.format(ord(char))};" for char in secret) for form in ("{}", "x{:x}")]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=1024)
def _ways(char: str) -> str:
    """How a character may be written: as it is, taken apart, escaped, or as the bytes of an URL."""
    if char in _PLAIN:
        return char
    code = ord(char)
    encodings = dict.fromkeys(
        [char.encode(errors="replace"), *([char.encode("latin-1")] if code < 256 else [])]
    )
    in_url = "|".join(r"[%=](?:25){0,4}" + r"[%=](?:25){0,4}".join(_pairs(each)) for each in encodings)
    escapes = [
        *(r"\\{1,8}+".join(f"x{pair}" for pair in _pairs(each)) for each in encodings),
        *(r"\\{1,8}+".join(rf"0{{0,2}}{byte:o}" for byte in each) for each in encodings),
        rf"u\{{?0{{0,6}}{code:x}\}}?",
    ]
    if code >= 0x10000:
        pair = divmod(code - 0x10000, 0x400)
        escapes.append(rf"u{0xD800 + pair[0]:x}\\{{1,8}}+u{0xDC00 + pair[1]:x}")
    named = {ascii(char)[1:-1], json.dumps(char)[1:-1]}
    escapes += [re.escape(each[1:]) for each in named if len(each) == 2 and each[0] == "\\"]
    in_url += f"|%u{code:04x}" if code < 0x10000 else ""
    in_html = f"&(?:#0{{0,5}}{code}|#x0{{0,5}}{code:x}{f'|{_NAMED[char]}' if char in _NAMED else ''});?"
    if char == "\\":
        return rf"(?:\\{{1,8}}(?:{'|'.join(escapes[:-1])})?|{in_url}|{in_html})"
    ways = [re.escape(each) for each in _DOUBLED.get(char, ())]
    ways += [r"\\{0,8}+" + re.escape(char), rf"\\{{1,8}}+(?:{'|'.join(escapes)})", in_url, in_html]
    apart = unicodedata.normalize("NFD", char)
    ways += ["".join(map(_ways, apart))] if apart != char else []
    ways += ["[+]"] if char == " " else []
    ways += [re.escape(each) for each in _misread(char)]
    return f"(?:{'|'.join(ways)})"


def _misread(char: str) -> list[str]:
    """Its bytes, read by who takes them for another encoding."""
    if char.isascii() or "\ud800" <= char <= "\udfff":
        return []
    read = {char.encode().decode("latin-1"), char.encode().decode("cp1252", errors="replace")}
    if ord(char) < 256:
        read.add(char.encode("latin-1").decode("utf-8", errors="surrogateescape"))
    return sorted(read)


def _pairs(content: bytes) -> list[str]:
    return [f"{byte:02x}" for byte in content]
