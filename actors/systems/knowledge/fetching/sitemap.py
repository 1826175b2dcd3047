"""One sitemap as it was fetched: the addresses of pages in it, or of other sitemaps. Pure; sitemaps.org 0.9.

The walk over sitemaps and the files of batches read by it. A sitemap is outsiders' XML: nothing but `loc` is
taken, a document type is refused (so there are no entities), and it is read in linear time and little memory:
as it is unpacked, and no more of it is held than a piece of markup and the addresses.
"""

import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple
from xml.parsers import expat

from actors.platform.web.unpacking import NotUnpacked, Unpacked, cut_lines, gunzipped

# The protocol's own limits for one file: bytes, unpacked, and addresses.
MOST_BYTES = 50 * 1024**2
MOST_URLS = 50_000

_TOO_MANY = (
    f"it holds over {MOST_URLS:,} addresses, the most that a sitemap may have: the others are left out"
)
_CHUNK, _SLICE = 65_536, 8192
_GZIP = b"\x1f\x8b"
_UTF_8_MARK, _UTF_16_MARKS = b"\xef\xbb\xbf", (b"\xfe\xff", b"\xff\xfe")
# `?a=1&b=2` as many write it, where XML wants `&amp;`.
_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_CDATA, _CDATA_END = b"<![CDATA[", b"]]>"
# What may begin there, and as much of it as may be missing still.
_BEGINS, _LONGEST_MARK = re.compile(rb"[&<]"), 12
_ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}
_LOC_DEPTH = 3
# What no sitemap has more of: elements in each other, elements and names of them, bytes of one tag or
# comment, and characters of an address. The parser holds a record of each open element and each name.
_DEEPEST, _MOST_ELEMENTS, _MOST_NAMES = 100, 3_000_000, 10_000
_LONGEST_PIECE = 1024**2
_LONGEST = 4096


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
    parts = _sliced(body)
    if body.startswith(_GZIP):
        parts = gunzipped(parts)
    stream = io.BufferedReader(Unpacked(parts, most=MOST_BYTES), _CHUNK)
    try:
        head = b""
        while not head and (part := stream.read(_CHUNK)):
            head = part.removeprefix(_UTF_8_MARK).lstrip()
        rest = chain((head,), iter(lambda: stream.read(_CHUNK), b""))
        if head.startswith(_UTF_16_MARKS):
            return _SitemapReading().read(rest)
        return _SitemapReading().read(_mended(rest)) if head.startswith(b"<") else _of_lines(head, rest)
    except NotUnpacked as error:
        raise NotASitemap(f"it can't be unpacked: {error}") from error


def _sliced(body: bytes) -> Iterator[bytes]:
    return (body[at : at + _SLICE] for at in range(0, len(body), _SLICE))


def _of_lines(head: bytes, parts: Iterable[bytes]) -> Sitemap:
    """A sitemap of plain lines, which the protocol has too; it is told by its first."""
    if not head[:8].lower().startswith((b"http://", b"https://")):
        raise NotASitemap("it is neither XML nor a list of addresses")
    found: list[str] = []
    for line in cut_lines(parts, most=MOST_BYTES, longest=_LONGEST):
        if line := line.strip():
            if len(found) == MOST_URLS:
                return Sitemap(urls=tuple(found), broken=_TOO_MANY)
            found.append(line)
    return Sitemap(urls=tuple(found))


class _Enough(Exception):
    """The rest is not looked at."""


class _SitemapReading:
    """One pass over a sitemap's XML. Prefixes stand for namespaces: some files forget to declare theirs."""

    def __init__(self) -> None:
        self._root: str | None = None
        self._prefix = ""
        self._path: list[str] = []
        self._depth = 0
        self._elements = 0
        self._text: list[str] | None = None
        self._letters = 0
        self._found: list[str] = []

    def read(self, parts: Iterable[bytes]) -> Sitemap:
        names: dict[str, str] = {}
        parser = expat.ParserCreate(None, None, names)
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        fed, broken = 0, None
        try:
            for part in parts:
                parser.Parse(part, False)
                fed += len(part)
                if fed - parser.CurrentByteIndex > _LONGEST_PIECE:
                    raise NotASitemap(f"a piece of it is over {_LONGEST_PIECE:,} bytes, as in no sitemap")
                if len(names) > _MOST_NAMES:
                    raise NotASitemap(f"it has over {_MOST_NAMES:,} names of elements, as no sitemap has")
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
        self._depth += 1
        self._elements += 1
        if self._depth > _DEEPEST or self._elements > _MOST_ELEMENTS:
            raise NotASitemap(f"it has over {_DEEPEST} elements in each other, or over {_MOST_ELEMENTS:,}")
        if self._depth > _LOC_DEPTH:
            return
        # Things of other vocabularies have a `loc` too: those of images and news are not the page's.
        self._path[self._depth - 1 :] = [local if prefix == self._prefix else name]
        if self._depth == _LOC_DEPTH and self._path[1:] == [_ENTRIES[self._root], "loc"]:
            if len(self._found) == MOST_URLS:
                raise _Enough
            self._text, self._letters = [], 0

    def _end(self, _: str) -> None:
        if self._depth == _LOC_DEPTH and self._text is not None:
            if address := "".join(self._text).strip():
                self._found.append(address)
            self._text = None
        self._depth -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and self._letters < _LONGEST:
            self._letters += len(text)
            self._text.append(text[:_LONGEST])


def _mended(parts: Iterable[bytes]) -> Iterator[bytes]:
    """With `&` spelled as XML has it, but for where it may stand as it is. What may go on yet is held."""
    held, inside = b"", False
    for part in parts:
        held += part
        at = 0
        mended = []
        while (end := held.find(_CDATA_END if inside else _CDATA, at)) >= 0:
            mended.append(held[at:end] if inside else _BARE.sub(b"&amp;", held[at:end]))
            mended.append(_CDATA_END if inside else _CDATA)
            at = end + len(mended[-1])
            inside = not inside
        till = max(at, len(held) - _LONGEST_MARK)
        if not inside:
            begun = _BEGINS.search(held, till)
            till = len(held) if begun is None else begun.start()
        mended.append(held[at:till] if inside else _BARE.sub(b"&amp;", held[at:till]))
        held = held[till:]
        yield b"".join(mended)
    yield held if inside else _BARE.sub(b"&amp;", held)
