"""Letters of a PDF that may not be what is seen: their names in the font say one thing, its text another.

Called by `pdf_reader`, which loads it by its path: it imports nothing of ours. A font tells by its encoding
which glyph is painted, and by its map to Unicode what is read: where both are known and differ, nobody knows.
"""

import contextlib
import io
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

_DEPTH, _MOST_FONTS, _MOST_MAP, _LARGEST = 4, 500, 200_000, 255
# Where fonts without a number of their own are kept.
_DIRECT = 10**12
_SIMPLE = ("/Type1", "/MMType1", "/TrueType")
# Of an embedded font's letters: if more have another name, its names mean nothing.
_MEANINGLESS, _FEWEST = 0.5, 4
_OWN_SIGNS = ("Symbol", "Dingbats")


class FontDoubts:
    """The fonts of a document as far as they were looked at."""

    def __init__(self) -> None:
        self._known: dict[int, frozenset[str]] = {}

    def of(self, page: Any) -> dict[str, frozenset[str]]:
        """The letters of a page's fonts, by the font's name, whose meaning isn't certain."""
        found: dict[str, frozenset[str]] = {}
        for font in _fonts(page.get("/Resources"), _DEPTH):
            if len(self._known) >= _MOST_FONTS:
                break
            name = str(font.get("/BaseFont", "")).removeprefix("/")
            found[name] = found.get(name, frozenset()) | self._doubts(font)
        return {name: doubts for name, doubts in found.items() if doubts}

    def _doubts(self, font: Any) -> frozenset[str]:
        reference = getattr(getattr(font, "indirect_reference", None), "idnum", None)
        if reference is not None and reference in self._known:
            return self._known[reference]
        try:
            doubts = frozenset(_doubts(font))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # a broken font fails in any way: it contradicts nothing
            doubts = frozenset()
        self._known[len(self._known) + _DIRECT if reference is None else reference] = doubts
        return doubts


def _fonts(resources: Any, depth: int) -> Iterator[Any]:
    yield from _values(resources, "/Font")
    for part in _values(resources, "/XObject") if depth else ():
        if part.get("/Subtype") == "/Form":
            yield from _fonts(part.get("/Resources"), depth - 1)


def _values(resources: Any, kind: str) -> Iterator[Any]:
    from pypdf.generic import DictionaryObject

    resources = resources.get_object() if resources is not None else None
    held = resources.get(kind) if isinstance(resources, DictionaryObject) else None
    held = held.get_object() if held is not None else None
    for one in held.values() if isinstance(held, DictionaryObject) else ():
        if isinstance(whole := one.get_object(), DictionaryObject):
            yield whole


def _doubts(font: Any) -> Iterator[str]:
    if font.get("/Subtype") not in _SIMPLE or "/ToUnicode" not in font:
        return
    descriptor = font.get("/FontDescriptor")
    descriptor = descriptor.get_object() if descriptor is not None else {}
    is_embedded = any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3"))
    painted = _painted(font, is_embedded=is_embedded)
    told = _told(font["/ToUnicode"].get_object().get_data()[:_MOST_MAP])
    both = {code: (painted[code], told[code]) for code in painted.keys() & told.keys()}
    differ = {code for code, (one, other) in both.items() if _differ(one, other)}
    if is_embedded and len(both) >= _FEWEST and len(differ) > _MEANINGLESS * len(both):
        return
    for code in differ:
        yield from told[code]


def _differ(painted: str, told: str) -> bool:
    one, other = (unicodedata.normalize("NFKC", text).casefold() for text in (painted, told))
    return one.isalnum() and unicodedata.category(one[0]) != "Co" and one != other and not told.isspace()


def _painted(font: Any, *, is_embedded: bool) -> Mapping[int, str]:
    """The letter that each code paints, as far as its name tells; by usual names if it is not embedded."""
    from pdfminer.encodingdb import EncodingDB, name2unicode

    encoding = font.get("/Encoding")
    encoding = encoding.get_object() if encoding is not None else "/StandardEncoding"
    names: Any = ()
    if hasattr(encoding, "get"):
        names, encoding = encoding.get("/Differences", ()), encoding.get("/BaseEncoding", "/StandardEncoding")
    is_usual = not is_embedded and not any(own in str(font.get("/BaseFont")) for own in _OWN_SIGNS)
    painted = dict(EncodingDB.get_encoding(str(encoding)[1:])) if is_usual else {}
    code = 0
    for one in names.get_object() if names else ():
        if not isinstance(one, str):
            code = int(one)
            continue
        painted.pop(code, None)
        with contextlib.suppress(KeyError, ValueError):  # a name of no meaning
            painted[code] = name2unicode(one[1:])
        code += 1
    return painted


def _told(data: bytes) -> dict[int, str]:
    from pdfminer.cmapdb import CMapParser, FileUnicodeMap

    class OfOneByte(FileUnicodeMap):
        """A font of single bytes has no others: a range of millions is none of its."""

        def add_cid2unichr(self, cid: int, code: Any) -> None:
            if not 0 <= cid <= _LARGEST:
                raise ValueError(cid)
            super().add_cid2unichr(cid, code)

    read = OfOneByte()
    CMapParser(read, io.BytesIO(data)).run()
    return read.cid2unichr
