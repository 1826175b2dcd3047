"""Where a page's links lead: absolute addresses, each once, in the order of the page.

Called by `main_text`. Parsed as browsers parse them (the WHATWG URL standard, by the Ada library), relative
to the page's final address and its `<base>`. Nothing is fetched here, nor may it be without the guard.
"""

from typing import Any

import ada_url

MOST_LINKS = 2_000
_MOST_LOOKED_AT = 20_000
_LONGEST = 2_000


def links_of(tree: Any, url: str) -> tuple[str, ...]:
    """The http and https links of a page, without fragments, users and passwords, `MOST_LINKS` at most.

    Args:
        tree: an lxml tree of the page.
        url: where it was read in the end, after all redirects.
    """
    base = _base(tree, url)
    found: dict[str, None] = {}
    for number, element in enumerate(tree.iter("a", "area")):
        if number == _MOST_LOOKED_AT or len(found) == MOST_LINKS:
            break
        written = (element.get("href") or "").strip()
        # A fragment alone leads to the page itself.
        if not written or written.startswith("#") or len(written) > _LONGEST:
            continue
        if (link := _absolute(written, base)) is not None:
            found[link] = None
    return tuple(found)


def _base(tree: Any, url: str) -> str:
    """What relative links are relative to: the first `<base>` that has an address (HTML §4.2.3)."""
    for element in tree.iter("base"):
        if element.get("href") is not None:
            return _absolute(element.get("href").strip()[:_LONGEST], url) or url
    return url


def _absolute(written: str, base: str) -> str | None:
    try:
        parsed = ada_url.URL(written, base)
    except ValueError:
        return None
    if parsed.protocol not in ("http:", "https:") or parsed.username or parsed.password:
        return None
    parsed.hash = ""
    return parsed.href if len(parsed.href) <= _LONGEST else None
