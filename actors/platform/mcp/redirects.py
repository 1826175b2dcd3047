"""Where an answer of HTTP redirects to: its address, its origin, and how it is told. Pure."""

import httpx2


def redirected(asked: httpx2.URL, answer: httpx2.Response) -> httpx2.URL | None:
    """The address that a redirect leads to; None where it names none that is one."""
    try:
        where = asked.join(answer.headers["location"])
    except (KeyError, ValueError, httpx2.InvalidURL):
        return None
    return where if where.scheme in ("http", "https") and where.host else None


def origin(url: httpx2.URL) -> tuple[str, str, int]:
    """Scheme, host and port."""
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


def told(url: httpx2.URL) -> str:
    """An address in words for people: without what may be a secret."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))
