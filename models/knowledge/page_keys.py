"""Which addresses lead to the same page: one key for all of them, and the ways to write a page's.

Called by discovery, and by `reach` and readings for what was left out, for addresses in their one form
(`actors.platform.web.page_urls`). A key is for comparing, and nothing is fetched by it. What may lead
elsewhere stays apart: paths by their case, and every parameter that is not known to serve only whoever counts
visitors.
"""

import re
from urllib.parse import urlsplit

from models.domains import registrable_domain
from models.text import word_list

# Parameters that say where a visitor came from (utm_* besides).
_TRACKING = frozenset(
    word_list(
        "fbclid gclid gclsrc gbraid wbraid dclid msclkid yclid twclid ttclid li_fat_id igshid igsh "
        "mc_cid mc_eid _ga _gl _hsenc _hsmi hsctatracking mkt_tok oly_anon_id oly_enc_id vero_id wickedid "
        "rb_clickid s_cid cmpid icid ncid ref_src ref_url __twitter_impression "
        "at_medium at_campaign wt_mc wtmc ito"
    )
)
# What has a page made for mobile phones.
_FOR_PHONES = frozenset(
    [("amp", ""), ("amp", "1"), ("amp", "true"), ("outputtype", "amp"), ("amp_js_v", "0.1")]
)
_PHONE_LABELS = frozenset(["www", "m", "mobile", "amp"])
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)\Z")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CACHE = ".cdn.ampproject.org"
_SLASHES = re.compile(r"/{2,}")
_DIGITS = re.compile(r"\d+")
# In a value that serves counting: there may be another parameter in it, for some servers.
_NESTED = re.compile(r"[&;=?#%]")


def page_key(url: str) -> str:
    """The key of an address: that of every other way to write the same page's."""
    parts = urlsplit(url)
    host, path = parts.hostname or "", _unescaped(parts.path)
    host, path = _without_cache(host, path)
    port = f":{parts.port}" if parts.port else ""
    return f"{_plain_host(host)}{port}{_plain_path(path)}{_plain_query(parts.query)}"


def is_plain(url: str) -> bool:
    """Whether an address is a page's own, as far as that shows: no copy for phones, nothing for counting."""
    parts = urlsplit(url)
    for_phones = _PHONE_LABELS.difference(["www"]).intersection((parts.hostname or "").split(".")[:-1])
    plain_path = _plain_path(_unescaped(parts.path)) == parts.path.rstrip("/")
    return plain_path and not for_phones and len(_kept(parts.query)) == len(parts.query.split("&"))


def spellings(url: str) -> tuple[str, ...]:
    """The likeliest ways to write an address, itself first: to look a page up by where they are kept."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port else ""
    plain = _plain_path(_unescaped(parts.path))
    found = [url]
    for scheme in ("https", "http"):
        for prefix in ("", "www."):
            base = f"{scheme}://{prefix}{host}{port}"
            found += [f"{base}{path}{_plain_query(parts.query)}" for path in (plain or "/", f"{plain}/")]
    return tuple(dict.fromkeys(found))


def numbers_in(url: str) -> tuple[str, ...]:
    """The numbers in an address after its host, in their order."""
    return tuple(_DIGITS.findall(url.partition("://")[2].partition("/")[2]))


def _without_cache(host: str, path: str) -> tuple[str, str]:
    """Where a page is that Google keeps a copy of for phones; what is no such copy stays as it is."""
    if host.startswith("www.google.") and path.startswith("/amp/"):
        inner = path.removeprefix("/amp/").removeprefix("s/")
    elif host.endswith(_CACHE) and path.startswith(("/c/", "/v/")):
        inner = path[3:].removeprefix("s/")
    else:
        return host, path
    name, slash, rest = inner.partition("/")
    return (name.lower(), slash + rest) if "." in name else (host, path)


def _plain_host(host: str) -> str:
    """Without `www`, `m`, `mobile` and `amp` before the registered domain."""
    domain = registrable_domain(host)
    if domain == host:
        return host
    before = host[: -len(domain) - 1].split(".")
    return ".".join([*(label for label in before if label not in _PHONE_LABELS), domain])


def _plain_path(path: str) -> str:
    """Without index.html, a copy's `amp`, slashes beside slashes, and those at the end."""
    path = _INDEX.sub("/", _SLASHES.sub("/", path)).rstrip("/")
    if path.startswith("/amp/"):
        path = path.removeprefix("/amp")
    if path.endswith("/amp") or path.endswith(".amp"):
        path = path[:-4]
    elif path.endswith(".amp.html"):
        path = path.removesuffix(".amp.html") + ".html"
    return path.rstrip("/")


def _plain_query(query: str) -> str:
    """The parameters that may matter, sorted, with their question mark."""
    kept = sorted(part for part in _kept(query) if part)
    return "?" + "&".join(kept) if kept else ""


def _kept(query: str) -> list[str]:
    kept = []
    for part in query.split("&"):
        plain = _unescaped(part)
        name, _, value = plain.lower().partition("=")
        counts = (name.startswith("utm_") or name in _TRACKING) and not _NESTED.search(value)
        if not (counts or (name, value) in _FOR_PHONES):
            kept.append(plain)
    return kept


def _unescaped(text: str) -> str:
    """With %-escapes only where they must be, and those in capitals (RFC 3986 §6.2.2)."""

    def plain(escape: re.Match[str]) -> str:
        character = chr(int(escape[1], 16))
        return character if character in _UNRESERVED else escape[0].upper()

    return _ESCAPE.sub(plain, text)
