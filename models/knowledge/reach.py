"""How far a page may lead: the places that somebody has approved. Seed 002, FR6.

A workflow gives it to the scraper with each page. An engine asks it before each request that a page causes,
so that nothing is asked for, not even a robots.txt, where nobody has agreed to go.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from models.errors import PageFailed
from models.knowledge.left_out import may_be_one_of, wide_key
from models.knowledge.page_keys import page_key
from models.record import Record

_DEFAULT_PORTS = {"http": 80, "https": 443}


class PageReach(Record):
    """Places that may be asked: hosts, each with its port where that is neither 80 nor 443.

    `left_out_keys` are of pages there that may not be asked for, whatever else their addresses are taken for;
    `approved_keys` of pages that may, however like those they are.
    """

    places: frozenset[str]
    left_out_keys: frozenset[str] = frozenset()
    approved_keys: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, urls: Iterable[str], *, left_out: Iterable[str] = (), approved: Iterable[str] = ()
    ) -> "PageReach":
        """The places of some addresses, in their one form, as those `left_out` and `approved` are."""
        urls = tuple(urls)
        return cls(
            places=frozenset(place_of(url) for url in urls),
            left_out_keys=frozenset(wide_key(url) for url in left_out),
            approved_keys=frozenset(page_key(url) for url in (*urls, *approved)),
        )

    def check(self, url: str) -> None:
        """PageFailed where an address, in its one form, is at none of them, or was left out."""
        if self.was_left_out(url):
            raise PageFailed(f"it leads to {url}, which was left out", fault="other_host")
        if (place := place_of(url)) not in self.places:
            raise PageFailed(f"it leads to {place}, which was not approved", fault="other_host")

    def lets(self, url: str) -> bool:
        """Whether an address may be asked for."""
        return place_of(url) in self.places and not self.was_left_out(url)

    def was_left_out(self, url: str) -> bool:
        """Whether an address is, in whatever words, that of a page that may not be asked for."""
        if not self.left_out_keys or page_key(url) in self.approved_keys:
            return False
        return may_be_one_of(url, self.left_out_keys)

    def admits(self, host: str, port: int) -> bool:
        """Whether a connection may be made."""
        return _place(host, port) in self.places


def place_of(url: str) -> str:
    """Where an address of http or https, in its one form, is asked for."""
    parts = urlsplit(url)
    return _place(parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0))


def _place(host: str, port: int) -> str:
    # One server's two doors: a page that goes on from http to https stays where it is.
    host = host.lower()
    return host if port in _DEFAULT_PORTS.values() else f"{host}:{port}"
