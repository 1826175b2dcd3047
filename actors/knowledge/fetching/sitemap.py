"""One sitemap as it was fetched: the addresses of pages in it, or of other sitemaps. Pure; sitemaps.org 0.9.

The walk over sitemaps and the files of batches read by it. A sitemap is outsiders' XML: nothing but `loc` is
taken, a document type is refused (so there are no entities), and it is read in linear time and little memory.
"""

import gzip
import io
import re
import zlib
from typing import NamedTuple
from xml.parsers import expat

# The protocol's own limits for one file: bytes, unpacked, and addresses.
MOST_BYTES = 50 * 1024**2
MOST_URLS = 50_000

_TOO_MANY = (
    f"it holds over {MOST_URLS:,} addresses, the most that a sitemap may have: the others are left out"
)
_CHUNK = 65_536
_GZIP = b"\x1f\x8b"
_UTF_8_MARK, _UTF_16_MARKS = b"\xef\xbb\xbf", (b"\xfe\xff", b"\xff\xfe")
# `?a=1&b=2` as many write it, where XML wants `&amp;`.
_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_CDATA, _CDATA_END = b"<![CDATA[", b"]]>"
_ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}
_LOC_DEPTH = 3


class NotASitemap(Exception):
    """What was read is no sitemap; the message says what it is instead."""


class Sitemap(NamedTuple):
    """What a sitemap holds: texts that should be addresses, in its order. One of the two is empty.

    `broken` says why more may be missing: it breaks off, or holds more than the protocol allows.
    """

    urls: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    broken: str | None = None


def read_sitemap(body: bytes) -> Sitemap:
    """The addresses in a sitemap: XML or plain lines, packed by gzip or not.

    Raises:
        NotASitemap: it is something else, is over 50 MiB, or can't be unpacked.
    """
    body = _unpacked(body).removeprefix(_UTF_8_MARK).lstrip()
    if not body.startswith((b"<", *_UTF_16_MARKS)):
        return _of_lines(body)
    return _SitemapReading().read(body)


def _unpacked(body: bytes) -> bytes:
    if body.startswith(_GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(body)) as packed:
                body = packed.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise NotASitemap(f"it can't be unpacked: {error}") from error
    if len(body) > MOST_BYTES:
        raise NotASitemap(f"it is over {MOST_BYTES:,} bytes unpacked, the most that a sitemap may have")
    return body


def _of_lines(body: bytes) -> Sitemap:
    """A sitemap of plain lines, which the protocol has too; it is told by its first."""
    if not body[:8].lower().startswith((b"http://", b"https://")):
        raise NotASitemap("it is neither XML nor a list of addresses")
    lines = body.decode(errors="replace").splitlines()
    found = [line.strip() for line in lines if line.strip()]
    return Sitemap(urls=tuple(found[:MOST_URLS]), broken=_TOO_MANY if len(found) > MOST_URLS else None)


class _Enough(Exception):
    """The rest is not looked at."""


class _SitemapReading:
    """One pass over a sitemap's XML. Prefixes stand for namespaces: some files forget to declare theirs."""

    def __init__(self) -> None:
        self._root: str | None = None
        self._prefix = ""
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._found: list[str] = []

    def read(self, body: bytes) -> Sitemap:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        text, broken = body if body.startswith(_UTF_16_MARKS) else _mended(body), None
        try:
            for at in range(0, len(text), _CHUNK):
                parser.Parse(text[at : at + _CHUNK], False)
            parser.Parse(b"", True)
        except _Enough:
            broken = _TOO_MANY
        except (expat.ExpatError, LookupError, ValueError) as error:  # its encoding may be nobody's
            broken = f"it breaks off: {error}"
        if self._root is None:
            raise NotASitemap(broken or "it holds nothing")
        found = tuple(self._found)
        if self._root == "urlset":
            return Sitemap(urls=found, broken=broken)
        return Sitemap(sitemaps=found, broken=broken)

    def _doctype(self, name: str, *_: object) -> None:
        raise NotASitemap(f"it declares a document type ({name[:40]}), which no sitemap does")

    def _start(self, name: str, _: object) -> None:
        prefix, _, local = name.rpartition(":")
        if self._root is None:
            if local not in _ENTRIES:
                raise NotASitemap(f"it holds no urlset and no sitemapindex, but {name[:40]}")
            self._root, self._prefix = local, prefix
        # Things of other vocabularies have a `loc` too: those of images and news are not the page's.
        self._path.append(local if prefix == self._prefix else name)
        if len(self._path) == _LOC_DEPTH and self._path[1:] == [_ENTRIES[self._root], "loc"]:
            if len(self._found) == MOST_URLS:
                raise _Enough
            self._text = []

    def _end(self, _: str) -> None:
        if len(self._path) == _LOC_DEPTH and self._text is not None:
            if address := "".join(self._text).strip():
                self._found.append(address)
            self._text = None
        self._path.pop()

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)


def _mended(body: bytes) -> bytes:
    """With `&` spelled as XML has it, but for where it may stand as it is."""
    first, *others = body.split(_CDATA)
    parts = [_BARE.sub(b"&amp;", first)]
    for part in others:
        inside, end, after = part.partition(_CDATA_END)
        parts += [_CDATA, inside, end, _BARE.sub(b"&amp;", after)]
    return b"".join(parts)
