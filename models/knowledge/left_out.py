"""Which requests may get a page that a person left out: whatever servers most often take for its address.

`reach` asks it, for addresses in their one form. It is wider than `page_keys`, for unclear is not yes:
another case, more parameters, what stands behind `;` or an escaped NUL, and dots at an end lead to the same
page on many servers. It can't be complete: by which other paths a server gives a text, that one alone knows.
"""

import re
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

from models.knowledge.page_keys import page_key
from models.text import word_list

_USUAL_PORTS = (None, 80, 443)
# Nothing is looked for in longer ones, in which marks on letters would be put in order for long (UAX 15).
_LONGEST = 8 * 1024
# Escapes of escapes, as some servers undo them.
_MOST_ESCAPED = 4
# Where servers written in C, or behind others that undo escapes, stop reading.
_ENDS = re.compile(r"[\0?#]")
_BETWEEN_PARAMETERS = re.compile(r"[&;?#]")
# As some servers read them: what JavaScript calls an escape, and a sign of ASCII in two bytes (RFC 3629 §10).
_LONG_ESCAPE = re.compile(r"%u00([0-9a-f]{2})", re.IGNORECASE)
_OVERLONG = re.compile(r"%c([01])%([89ab][0-9a-f])", re.IGNORECASE)
# `id=7a`, of which many programs read 7.
_BEGINS_WITH_NUMBER = re.compile(r"[^=]+=\d+(?=\D)")
_DIGITS = re.compile(r"\d+")
_ENDINGS = frozenset(word_list("html htm xhtml shtml php phtml asp aspx jsp jspx cgi cfm do"))
_INDEX = frozenset(f"index.{ending}" for ending in _ENDINGS)


def wide_key(url: str) -> str:
    """The key of a page that was left out: host, path and the parameters that tell it from others."""
    path, parameters = _read(url)
    return f"{_without_ending(path)}?{'&'.join(sorted(parameters))}"


def may_be_one_of(url: str, wide_keys: frozenset[str]) -> bool:
    """Whether a server may answer an address with one of those pages.

    More parameters than a page has, and in another order, are taken for its own address; so is what is longer
    than servers take.
    """
    if len(url) > _LONGEST:
        return bool(wide_keys)
    path, parameters = _read(url)
    parameters |= frozenset(map(_parameter, _folded(urlsplit(url).path).split(";")[1:]))  # `/page;id=7`
    parameters |= {found[0] for found in map(_BEGINS_WITH_NUMBER.match, parameters) if found}
    for key in wide_keys:
        place, _, named = key.partition("?")
        if parameters.issuperset(named.split("&") if named else ()) and _answers(path, place):
            return True
    return False


def _answers(path: str, place: str) -> bool:
    """Whether a path may be answered by what is at a place: it, or what goes on behind a program there.

    `/page.php/x` is answered by `/page.php`.
    """
    if _without_ending(path) == place:
        return True
    if not path.startswith(place):
        return False
    name, slash, _ = path[len(place) :].partition("/")
    ending = name.removeprefix(".")
    _, is_page, own = place.partition("/")
    is_program = "." in own.rpartition("/")[2] if not name else name != ending and ending in _ENDINGS
    return bool(slash and is_page) and is_program


def _read(url: str) -> tuple[str, frozenset[str]]:
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in _USUAL_PORTS else f":{parts.port}"
    asked, *more = _ENDS.split(_folded(parts.path), maxsplit=1)  # `/page%3Fid=7`
    query = "&".join((parts.query, *more))
    # Google's copies for phones, `www`, index.html and what serves counting are known there.
    path, _, query = page_key(f"https://{host}{port}{_path(asked)}?{query}").partition("?")
    found = map(_parameter, _BETWEEN_PARAMETERS.split(_folded(query)))
    return path, frozenset(one for one in found if one)


def _parameter(text: str) -> str:
    """A parameter as the most lenient of servers reads it; one without a value is its name."""
    name, _, value = (part.partition("\0")[0].strip(" +") for part in text.partition("="))
    digits = _DIGITS.match(value)
    if digits is not None:
        value = (digits[0].lstrip("0") or "0") + value[digits.end() :]
    return (f"{name}={value}" if value else name).replace(" ", "+")


def _path(path: str) -> str:
    """A folded path as the most lenient of servers reads it: without what some of them overlook."""
    kept: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        plain = part.partition(";")[0].partition("::")[0].partition(":$")[0]
        if plain == "..":
            kept = kept[:-1]
        elif (plain := plain.strip().rstrip(". ")) and plain not in _INDEX:  # `/index.php/page` is `/page`
            kept.append(plain.replace(" ", "+"))
    return "/" + "/".join(kept)


def _folded(text: str) -> str:
    """Without escapes and case, in one form of its letters; of what nobody sees, NUL alone stays."""
    for _ in range(_MOST_ESCAPED):
        short = _OVERLONG.sub(_of_two_bytes, _LONG_ESCAPE.sub(r"%\1", text))
        text, before = unquote(short), text
        if text == before:
            break
    return "".join(one for one in normalize("NFKC", text).casefold() if one.isprintable() or one == "\0")


def _of_two_bytes(overlong: re.Match[str]) -> str:
    return f"%{int(overlong[1]) << 6 | int(overlong[2], 16) & 0x3F:02x}"


def _without_ending(path: str) -> str:
    """Without `.html` and the like, which many servers add themselves."""
    host, slash, rest = path.partition("/")
    name, dot, ending = rest.rpartition(".")
    return host + slash + (name if dot and ending in _ENDINGS else rest)
