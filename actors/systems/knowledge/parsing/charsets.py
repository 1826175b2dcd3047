"""Bytes of a page into text: what its charset is, by its mark, its server, itself, or its bytes.

`main_text` and `page_reading` call it, in the readers of pages. Labels are the WHATWG Encoding Standard's:
`latin1` means windows-1252, and `gb2312` gb18030. Who says what is followed in that order, unless the bytes
plainly say otherwise.
"""

import codecs
import re

import webencodings
from charset_normalizer import from_bytes

from actors.platform.text.text_language import language_of_text

# Encodings of the standard that hold no text of a page, by their names in it.
_FORBIDDEN = ("replacement", "x-user-defined")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
_IN_HEADER = re.compile(r"""(?:;|^)[ \t]*charset[ \t]*=[ \t]*["']?([^\s;,"']+)""", re.IGNORECASE)
# Browsers look at the first 1,024 bytes; pages that say it later are read wrongly by them, and rightly here.
_PRESCAN = 4096
_META = re.compile(r"<meta[\s/]([^<>]{0,1000})", re.IGNORECASE)
_IN_META = re.compile(
    r"""(?:^|[\s"';/])charset\s{0,20}=\s{0,20}["']?\s{0,20}([^\s;"'/>]{1,100})""", re.IGNORECASE
)
_IN_XML = re.compile(r"""\A\s*<\?xml\s[^<>]{0,200}\sencoding\s*=\s*["']([^"'<>]+)""", re.IGNORECASE)
_LANGUAGE = re.compile(r"""<html\s[^<>]{0,1000}?\blang\s*=\s*["']?([a-z]{2})\b""", re.IGNORECASE)
# Characters of gb18030, four bytes, two or one; a first byte without its second stands for itself.
# Possessive, and to the end where there is no 0x80 any more: each byte is looked at once.
_TO_LONE_80 = re.compile(
    rb"((?:[\x00-\x7f\xff]|[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])?)*+)(\x80|\Z)", re.DOTALL
)
_EURO = "€".encode("gb18030")
# For bytes that nobody says anything of: how much of them is looked at, where they are not ASCII.
_SAMPLE, _AROUND = 30_000, 40
_HIGH = re.compile(rb"[\x80-\xff]")
_CONTROLS = re.compile(rb"[\x80-\x9f]")
_MARKUP = re.compile(rb"<[^<>]{0,2000}>")
# Languages that are written in Central European encodings, and encodings that detectors take for each other.
_CENTRAL = frozenset(("pl", "cs", "sk", "hu", "sl", "hr", "ro", "bs"))
_LATIN = frozenset(("cp1250", "cp1252", "cp1254", "cp1257", "iso8859_2"))
_DETECTABLE = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "iso8859_2", "koi8_r"),
    *("gb18030", "big5", "euc_jp", "cp932", "cp949"),
]


def codec_of(label: str) -> str | None:
    """What Python calls the encoding of a label; None where the standard has none, or one it forbids."""
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name in _FORBIDDEN:
        return None
    # As the standard's own decoder has it: gb18030 holds all of gbk.
    return "gb18030" if encoding.name == "gbk" else str(encoding.codec_info.name)


def decoded(body: bytes, content_type: str | None) -> str:
    """The text of a page's bytes, without a byte order mark; U+FFFD stands for what can't be decoded.

    Source: WHATWG HTML §13.2.3 (determining the character encoding), with three departures: an UTF-8 that a
    page declares and keeps to beats its server's label; a declared encoding in which much of what is not
    ASCII can't be decoded is not believed; and what nobody declares is told by its bytes.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    beginning = body[:_PRESCAN].decode("latin-1")
    own = _declared_in(beginning)
    if own == "utf-8" and (text := _strictly(body, "utf-8")) is not None:
        return text
    for said in (_declared_by_server(content_type), own):
        if said is not None and _fits(declared := _decode(body, said)):
            return declared
    if (valid := _strictly(body, "utf-8")) is not None:
        return valid
    return _decode(body, _detected(body, beginning))


def _declared_by_server(content_type: str | None) -> str | None:
    found = _IN_HEADER.search((content_type or "")[:1000])
    return codec_of(found[1]) if found else None


def _declared_in(beginning: str) -> str | None:
    """What the page says of itself. Whoever can read it as ASCII can't be UTF-16, whatever it says."""
    labels = [found[1]] if (found := _IN_XML.match(beginning)) else []
    for meta in _META.finditer(_without_comments(beginning)):
        if found := _IN_META.search(meta[1]):
            labels.append(found[1])
    for label in labels:
        if (codec := codec_of(label)) is not None:
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _without_comments(beginning: str) -> str:
    kept: list[str] = []
    for part in beginning.split("<!--"):
        _, closed, after = part.rpartition("-->") if kept else ("", "", part)
        kept.append(after if closed or not kept else "")
    return "".join(kept)


def _strictly(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None


def _decode(body: bytes, codec: str) -> str:
    if codec == "gb18030":  # the standard's decoder has the euro sign at 0x80, as GBK has it
        body = body if b"\x80" not in body else _with_euro(body)
    return body.decode(codec, "replace")


def _with_euro(body: bytes) -> bytes:
    """The bytes with a lone 0x80 spelled as gb18030 does; as they are, where they decode so."""
    if _strictly(body, "gb18030") is not None:
        return body
    return _TO_LONE_80.sub(lambda found: found[1] + (_EURO if found[2] else b""), body)


def _fits(text: str) -> bool:
    """Whether little of what is not ASCII was lost: a page may be cut off, or hold a foreign byte."""
    lost = text.count("�")
    return not lost or 10 * lost <= len(text.encode(errors="replace")) - len(text)


def _detected(body: bytes, beginning: str) -> str:
    """The encoding of bytes that are no UTF-8 and of which nothing is known."""
    text = _MARKUP.sub(b" ", body[: 20 * _SAMPLE])
    sample = _sample(text)
    best = from_bytes(sample, cp_isolation=_DETECTABLE).best() if sample else None
    if best is None or best.encoding in _LATIN:
        found = _LANGUAGE.search(beginning)
        # Read as the wrong one of them, a text still has most of its letters, and its language.
        language = found[1].lower() if found else language_of_text(text.decode("cp1250", "ignore"))
        return _central(sample, language) if language in _CENTRAL else "cp1252"
    return {"big5": "big5hkscs"}.get(best.encoding, best.encoding)


def _central(sample: bytes, language: str | None) -> str:
    """Which of the two that hold Central European letters: most of these stand in both at the same bytes."""
    if _CONTROLS.search(sample):  # in the one there are letters and quotation marks, in the other nothing
        return "cp1250"
    if language == "pl":  # ą
        return "cp1250" if sample.count(b"\xb9") > sample.count(b"\xb1") else "iso-8859-2"
    return "iso-8859-2"


def _sample(text: bytes) -> bytes:
    """The stretches around what is not ASCII: the rest says nothing, and costs time."""
    parts: list[bytes] = []
    size = end = 0
    for found in _HIGH.finditer(text):
        if found.start() < end:
            continue
        start, end = max(found.start() - _AROUND, end), found.start() + _AROUND
        parts.append(text[start:end])
        size += end - start
        if size > _SAMPLE:
            break
    return b"".join(parts)
