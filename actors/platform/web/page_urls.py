"""Addresses of pages as people and pages write them, made into the one form that is asked for and kept.

Parsed as browsers parse them (the WHATWG URL standard, by the Ada library), so that the guard, the HTTP
client and Chromium speak of the same host. A batch calls it for each row; the engines for each redirect.
"""

import ada_url

from actors.platform.web.url_guard import check_url
from models.errors import AddressRefused, PageFailed
from models.text import cut, word_list

# Ports that browsers open for no page, because other protocols live there (WHATWG Fetch, "port blocking").
BLOCKED_PORTS = frozenset(
    map(
        int,
        word_list("""
        1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111
        113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532
        540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060
        5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
        """),
    )
)


def page_url(text: str, *, base: str | None = None, allow_internal: tuple[str, ...] = ()) -> str:
    """The address in its one form: ASCII, without fragment, user and password.

    Args:
        base: what a relative address is relative to.
        allow_internal: as in `outgoing.allow_internal`.

    Raises:
        PageFailed: `bad_url` where it is none, or not of http or https; `refused_by_guard` where it leads to
            an address that is not public on its face.
    """
    try:
        parsed = ada_url.URL(text, base) if base else ada_url.URL(text)
    except ValueError as error:
        raise PageFailed(f"url: {cut(text, 200)!r} is no address", fault="bad_url") from error
    if parsed.protocol not in ("http:", "https:"):
        told = cut(parsed.protocol, 40)
        raise PageFailed(f"url: {told} it must begin with http:// or https://", fault="bad_url")
    if parsed.username or parsed.password:
        raise PageFailed("url: it holds a user or a password: leave them out", fault="bad_url")
    if parsed.port and int(parsed.port) in BLOCKED_PORTS:
        raise PageFailed(
            f"url: port {parsed.port} is no web server's: no page is asked for there", fault="bad_url"
        )
    parsed.hash = ""
    url = parsed.href
    try:
        return str(check_url(_plain(url), allow_internal))
    except AddressRefused as error:
        guard = "outgoing.allow_internal" in str(error)
        raise PageFailed(str(error), fault="refused_by_guard" if guard else "bad_url") from error


def host_of(url: str) -> str:
    """The host of an address in its one form, without port."""
    return ada_url.URL(url).hostname


def _plain(url: str) -> str:
    """Without what browsers keep as it was written, and the guard refuses."""
    return url.replace("\\", "%5C").replace(" ", "%20")
